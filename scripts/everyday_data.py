"""
Makes training data more like what people write: the models `ner`, `srl`, `coref` and `snli` of the
package were in the end trained on such data.

    python -m scripts.everyday_data recase data/conll2003/eng.train my/eng.train --word 0
    python -m scripts.everyday_data rename data/conll2003/eng.train my/eng.train
    python -m scripts.everyday_data shorten my/train.conll my/shorter.conll
    python -m scripts.everyday_data negate data/snli/snli_1.0_train.jsonl my/snli.jsonl

recase: writes a tenth of the sentences of a file in columns in capitals or in lower case (or
    what `--share` says).
rename: changes names in a file of CoNLL-2003. A twentieth of the sentences begin with a greeting
    ("Dear Tom,"), some organizations become an acronym, and some places have the name of a team
    that is called like its town, if the word before is "in", "from" or the like.
shorten: adds to the documents of a file in the columns of CoNLL-2012 pieces of one to five
    sentences: of the pieces that mention something twice a tenth, or what `--share` says.
negate: adds pairs to a file of SNLI whose hypothesis is negated ("is not sleeping") or has an
    antonym ("is awake"). The negation of a contradiction is entailed, and the other way round.
"""

import json
import random
import re
from collections.abc import Iterator
from functools import partial

from scripts.changed_file import Change, make_parser, write_changed

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

GREETINGS = "Dear Hi Hello Hey Thanks Sorry Welcome".split()
_BEFORE_PLACES = {"in", "from", "near", "to", "through", "of"}
_OPENED = re.compile(r"\((\d+)")

Pair = tuple[str, str, str]
# The columns of each token of a sentence.
Rows = list[list[str]]


def recase(text: str, chance: random.Random, word: int, share: float = 0.1) -> str:
    """Changes the words, which are in the column `word`, of a part of the sentences."""
    lines: list[str] = []
    sentence: list[str] = []
    for line in text.split("\n"):
        if line.strip() and not line.startswith(("#", "-DOCSTART-")):
            sentence.append(line)
            continue
        lines += [*_recase(sentence, chance, word, share), line]
        sentence = []
    return "\n".join([*lines, *_recase(sentence, chance, word, share)])


def _recase(sentence: list[str], chance: random.Random, word: int, share: float) -> Iterator[str]:
    draw = chance.random() if sentence else 1.0
    change = str.upper if draw < share / 2 else str.lower if draw < share else str
    for line in sentence:
        separator = "\t" if "\t" in line else " "
        values = line.split(separator)
        values[word] = change(values[word])
        yield separator.join(values)


def rename(text: str, chance: random.Random) -> str:
    """Changes names in the sentences of a file of CoNLL-2003."""
    sentences = [
        [line.split(" ") for line in block.split("\n")] for block in text.strip().split("\n\n")
    ]
    people, of_type = _names(sentences)
    towns = sorted(of_type["LOC"] & of_type["ORG"])
    lines: list[str] = []
    for rows in sentences:
        rows = _with_places(_with_acronyms(rows, chance), towns, chance)
        if people and rows[0][0] != "-DOCSTART-" and chance.random() < 0.05:
            rows = [*_greeting(people, chance), *rows]
        lines += [*map(" ".join, rows), ""]
    return "\n".join([*lines, ""])


def _entities(rows: Rows) -> Iterator[tuple[int, int, str]]:
    """Yields the first row, the row after the last, and the type of each entity, in IOB1."""
    start = 0
    for index, tag in enumerate([row[-1] for row in rows] + ["O"]):
        before = rows[index - 1][-1] if index else "O"
        if before != "O" and (tag[0] != "I" or tag[1:] != before[1:]):
            yield start, index, before[2:]
        if tag != "O" and (tag[0] == "B" or tag[1:] != before[1:]):
            start = index


def _names(sentences: list[Rows]) -> tuple[list[str], dict[str, set[str]]]:
    """Returns the first names of people, and the names of one word of each type."""
    people: list[str] = []
    of_type: dict[str, set[str]] = {"PER": set(), "LOC": set(), "ORG": set(), "MISC": set()}
    for rows in sentences:
        for start, stop, kind in _entities(rows):
            name = rows[start][0]
            if kind == "PER" and stop - start == 2 and name[1:].islower():
                people.append(name)
            if stop - start == 1 and name[1:].islower():
                of_type[kind].add(name)
    return people, of_type


def _greeting(people: list[str], chance: random.Random) -> Rows:
    name, end = chance.choice(people), chance.choice([",", ",", "!"])
    return [
        [chance.choice(GREETINGS), "NNP", "I-NP", "O"],
        [name, "NNP", "I-NP", "I-PER"],
        [end, ",", "O", "O"],
    ]


def _with_acronyms(rows: Rows, chance: random.Random) -> Rows:
    """Writes a third of the organizations of three to five words as their first letters."""
    for start, stop, kind in reversed([*_entities(rows)]):
        letters = "".join(row[0][0] for row in rows[start:stop] if row[0][0].isupper())
        is_long = kind == "ORG" and 3 <= stop - start <= 5 and len(letters) > 2
        if is_long and chance.random() < 1 / 3:
            rows = [*rows[:start], [letters, *rows[start][1:]], *rows[stop:]]
    return rows


def _with_places(rows: Rows, towns: list[str], chance: random.Random) -> Rows:
    """Gives a tenth of the places the name of a town that is also the name of a team."""
    rows = [*rows]
    for start, stop, kind in _entities(rows):
        is_place = kind == "LOC" and stop - start == 1 and start > 0 and towns
        if is_place and rows[start - 1][0] in _BEFORE_PLACES and chance.random() < 0.1:
            rows[start] = [chance.choice(towns), *rows[start][1:]]
    return rows


def shorten(text: str, chance: random.Random, share: float) -> str:
    """Adds pieces of one to five sentences after each document: a part of them, at random."""
    documents: list[str] = []
    for document in re.findall(r"#begin document.*?\n#end document", text, re.DOTALL):
        documents.append(document)
        head, *body = document.split("\n")
        sentences = "\n".join(body[:-1]).strip().split("\n\n")
        while sentences:
            size = chance.randint(1, 5)
            piece, sentences = "\n\n".join(sentences[:size]), sentences[size:]
            clusters = _OPENED.findall(piece)
            if len(clusters) > len(set(clusters)) and chance.random() < share:
                documents.append(f"{head}\n{piece}\n\n#end document")
    return "".join(f"{document}\n" for document in documents)


def negate(text: str, chance: random.Random) -> str:
    """Adds pairs to those of a file, in a random order."""
    rows = map(json.loads, text.splitlines())
    pairs = [(row["sentence1"], row["sentence2"], row["gold_label"]) for row in rows]
    chance.shuffle(pairs)
    pairs += [*_negated_pairs(pairs), *_pairs_alone(pairs, chance), *_antonym_pairs(pairs, chance)]
    chance.shuffle(pairs)
    names = ("sentence1", "sentence2", "gold_label")
    return "".join(json.dumps(dict(zip(names, pair))) + "\n" for pair in pairs)


def _negate(sentence: str) -> str | None:
    """Returns a sentence with its only form of "be" negated, or `None` if that is not clear."""
    if len(_BE.findall(sentence)) != 1 or _HAS_NEGATION.search(sentence):
        return None
    return None if sentence.lower().startswith("there") else _BE.sub(r"\1 not ", sentence)


def _negated_pairs(pairs: list[Pair]) -> Iterator[Pair]:
    num_left = dict.fromkeys(NEGATED, MOST_NEGATED)
    for premise, hypothesis, label in pairs:
        negated = _negate(hypothesis)
        if negated is not None and num_left.get(label, 0):
            num_left[label] -= 1
            yield premise, negated, NEGATED[label]


def _pairs_alone(pairs: list[Pair], chance: random.Random) -> Iterator[Pair]:
    sentences = [
        (sentence, negated)
        for _, sentence, _ in pairs
        if (negated := _negate(sentence)) is not None
    ]
    for sentence, negated in sentences[:MOST_ALONE]:
        different = [(sentence, negated, "contradiction"), (negated, sentence, "contradiction")]
        equal_pairs = [(negated, negated, "entailment"), (sentence, sentence, "entailment")]
        yield from chance.sample(different + equal_pairs, 2)


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
        negated = _negate(other)
        if negated is not None:
            yield sentence, negated, "entailment"


def main() -> None:
    parser = make_parser(__doc__, ("recase", "rename", "shorten", "negate"))
    parser.add_argument("--word", type=int, default=3, help="the column of the words (default: 3)")
    parser.add_argument(
        "--share", type=float, default=0.1, help="see recase and shorten (default: 0.1)"
    )
    args = parser.parse_args()
    changes: dict[str, Change] = {
        "recase": partial(recase, word=args.word, share=args.share),
        "rename": rename,
        "shorten": partial(shorten, share=args.share),
        "negate": negate,
    }
    write_changed(args, changes[args.change])


if __name__ == "__main__":
    main()
