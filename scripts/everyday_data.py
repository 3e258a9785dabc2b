"""
Makes training data more like what people write: the models `ner`, `srl`, `coref` and `snli` of the
package were in the end trained on such data.

    python scripts/everyday_data.py recase data/conll2003/eng.train my/eng.train --word 0
    python scripts/everyday_data.py negate data/snli/snli_1.0_train.jsonl my/snli.jsonl

recase: writes a tenth of the sentences of a file in columns in capitals or in lower case.
negate: adds pairs to a file of SNLI whose hypothesis is negated ("is not sleeping") or has an
    antonym ("is awake"). The negation of a contradiction is entailed, and the other way round.
"""

import argparse
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

ANTONYMS = """sleeping/awake standing/sitting outside/inside outdoors/indoors young/old happy/sad
smiling/frowning big/small large/small empty/full wet/dry dirty/clean open/closed hot/cold day/night
summer/winter tall/short crowded/deserted winning/losing loud/quiet fast/slow new/old
up/down alive/dead"""
NEGATED = {"entailment": "contradiction", "contradiction": "entailment", "neutral": "neutral"}
# At most so many pairs of each label are negated, so many hypotheses are paired with their own
# negation, and so many with an antonym.
MOST_NEGATED, MOST_ALONE, MOST_ANTONYMS = 500, 300, 250
_BE = re.compile(r"\b(is|are|was|were) (?!not\b|no\b|n't)")
_HAS_NEGATION = re.compile(r"\b(no|not|never|nobody|nothing|none)\b|n't", re.IGNORECASE)

Pair = tuple[str, str, str]


def recase(text: str, chance: random.Random, word: int) -> str:
    """Changes the words, which are in the column `word`, of a tenth of the sentences."""
    lines: list[str] = []
    sentence: list[str] = []
    for line in text.split("\n"):
        if line.strip() and not line.startswith(("#", "-DOCSTART-")):
            sentence.append(line)
            continue
        lines += [*_recased(sentence, chance, word), line]
        sentence = []
    return "\n".join([*lines, *_recased(sentence, chance, word)])


def _recased(sentence: list[str], chance: random.Random, word: int) -> Iterator[str]:
    drawn = chance.random() if sentence else 1.0
    change = str.upper if drawn < 0.05 else str.lower if drawn < 0.1 else str
    for line in sentence:
        separator = "\t" if "\t" in line else " "
        values = line.split(separator)
        values[word] = change(values[word])
        yield separator.join(values)


def negate(text: str, chance: random.Random) -> str:
    """Adds pairs to those of a file, in a random order."""
    rows = map(json.loads, text.splitlines())
    pairs = [(row["sentence1"], row["sentence2"], row["gold_label"]) for row in rows]
    chance.shuffle(pairs)
    pairs += [*_negated_pairs(pairs), *_pairs_alone(pairs, chance), *_antonym_pairs(pairs, chance)]
    chance.shuffle(pairs)
    names = ("sentence1", "sentence2", "gold_label")
    return "".join(json.dumps(dict(zip(names, pair))) + "\n" for pair in pairs)


def _negated(sentence: str) -> str | None:
    """Returns a sentence with its only form of "be" negated, or `None` if that is not clear."""
    if len(_BE.findall(sentence)) != 1 or _HAS_NEGATION.search(sentence):
        return None
    return None if sentence.lower().startswith("there") else _BE.sub(r"\1 not ", sentence)


def _negated_pairs(pairs: list[Pair]) -> Iterator[Pair]:
    num_left = dict.fromkeys(NEGATED, MOST_NEGATED)
    for premise, hypothesis, label in pairs:
        negated = _negated(hypothesis)
        if negated is not None and num_left.get(label, 0):
            num_left[label] -= 1
            yield premise, negated, NEGATED[label]


def _pairs_alone(pairs: list[Pair], chance: random.Random) -> Iterator[Pair]:
    sentences = [
        (sentence, negated)
        for _, sentence, _ in pairs
        if (negated := _negated(sentence)) is not None
    ]
    for sentence, negated in sentences[:MOST_ALONE]:
        different = [(sentence, negated, "contradiction"), (negated, sentence, "contradiction")]
        same = [(negated, negated, "entailment"), (sentence, sentence, "entailment")]
        yield from chance.sample(different + same, 2)


def _antonym_pairs(pairs: list[Pair], chance: random.Random) -> Iterator[Pair]:
    of_word: dict[str, str] = {}
    for pair in ANTONYMS.split():
        first, second = pair.split("/")
        of_word = {first: second, second: first} | of_word
    be = re.compile(rf"\b(is|are) ({'|'.join(of_word)})\b")
    sentences = [sentence for _, sentence, _ in pairs if len(be.findall(sentence)) == 1]
    for sentence in sentences[:MOST_ANTONYMS]:
        other = be.sub(lambda match: f"{match[1]} {of_word[match[2]]}", sentence)
        yield sentence, other, "contradiction"
        negated = _negated(other)
        if negated is not None:
            yield sentence, negated, "entailment"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("change", choices=("recase", "negate"))
    parser.add_argument("file", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--word", type=int, default=3, help="the column of the words (default: 3)")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    args = parser.parse_args()
    text, chance = args.file.read_text(encoding="utf-8"), random.Random(args.seed)
    is_recased = args.change == "recase"
    changed = recase(text, chance, args.word) if is_recased else negate(text, chance)
    args.output.write_text(changed, encoding="utf-8")


if __name__ == "__main__":
    main()
