"""
Writes sentences with names in the columns of CoNLL-2003, from the patterns of `everyday_names.txt`,
such as "Dear Mrs. Berg, the train from York is late." The model `ner` of the package was in the end
trained on such sentences, too: mail, chat, news, sport, reviews, travel and work.

    python -m scripts.everyday_names my/names.conll --number 2500
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.readers.entities import Entity
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer
from scripts.everyday_stories import arguments, read_words

PATTERNS = Path(__file__).with_suffix(".txt")
_CHOICE = re.compile(r"<([^<>]*)>")
_ENTITY = re.compile(r"\[([A-Z]+) ([^]]*)\]")
# "a" before a vowel, also before that of an entity: "a [MISC Italian] chef".
_A = re.compile(r"\b(a)(?= (?:\[[A-Z]+ )?(?!eu|uni|un\b|us|uk|one)[aeiou])", re.IGNORECASE)


class Sentence(NamedTuple):
    """A text with its entities; `start` and `end` of an entity count characters."""

    text: str
    entities: list[Entity]


def read_patterns() -> list[str]:
    """Returns the patterns of sentences."""
    lines = PATTERNS.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and line[0] not in "#@"]


def write_out(pattern: str, words: dict[str, list[str]], chance: random.Random) -> Sentence:
    """Draws a sentence of a pattern."""

    def draw(match: re.Match[str]) -> str:
        return chance.choice(words.get(match[1]) or match[1].split("|"))

    is_lower = pattern.startswith("~ ")
    pattern = pattern.removeprefix("~ ")
    while _CHOICE.search(pattern):
        pattern = _CHOICE.sub(draw, pattern)
    pattern = _A.sub(r"\1n", pattern)
    text, entities, end = "", [], 0
    for match in _ENTITY.finditer(pattern):
        text += pattern[end : match.start()]
        entities.append(Entity(match[1], len(text), len(text) + len(match[2])))
        text += match[2]
        end = match.end()
    text += pattern[end:]
    return Sentence(text.lower() if is_lower else text[0].upper() + text[1:], entities)


def columns(sentence: Sentence, tokenizer: ElmoSpacyTokenizer) -> Iterator[str]:
    """Yields a line for each token, with its tag in IOB1, as CoNLL-2003 has it."""
    before = None
    for token in tokenizer.tokenize(sentence.text):
        inside = [each for each in sentence.entities if each.start <= token.idx < each.end]
        entity = inside[0] if inside else None
        begins = entity and before and entity != before and entity.type == before.type
        tag = f"{'B' if begins else 'I'}-{entity.type}" if entity else "O"
        yield f"{token.text} - - {tag}"
        before = entity
    yield ""


def main() -> None:
    args = arguments(__doc__, "sentences", 2500)
    words, patterns = read_words() | read_words(PATTERNS), read_patterns()
    chance, tokenizer = random.Random(args.seed), ElmoSpacyTokenizer()
    lines: list[str] = []
    for _ in range(args.number):
        lines += columns(write_out(chance.choice(patterns), words, chance), tokenizer)
    args.output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
