"""
Writes short documents with coreference in the columns of CoNLL-2012, from the patterns of
`everyday_stories.txt`, such as "Ada lost her key on the bus. Bo found it and gave it back to her."
The model `coref` of the package was in the end trained on such documents, too, since the data of
OntoNotes' kind hardly have them.

    python scripts/everyday_stories.py my/stories.conll --number 2000
"""

import argparse
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.common.outputs import check_outputs
from elmo_tasks.readers.spacy_pipeline import split_sentences
from elmo_tasks.readers.tokenizers import tokens_of

PATTERNS = Path(__file__).with_suffix(".txt")
WORDS = Path(__file__).with_name("everyday_words.txt")

# "he" as it is for a woman, a man and a thing.
PRONOUNS = {
    "he": {"f": "she", "n": "it"},
    "him": {"f": "her", "n": "it"},
    "his": {"f": "her", "n": "its"},
    "himself": {"f": "herself", "n": "itself"},
}
# Who needs no first mention: I, we, you, and the first of two persons.
PRESENT = "iwyP"
PERSON = (
    ["<woman>", "<man>"] * 8
    + ["<woman> <surname>", "<man> <surname>"] * 3
    + ["Mrs. <surname>", "Mr. <surname>", "Ms. <surname>", "Dr. <surname>", "the <role>"] * 2
    + ["the <role>", "a <role>", "my.i <kin_woman>", "my.i <kin_man>", "our.w <role>"]
)
FORMS = {
    "person": PERSON,
    "other person": PERSON,
    "group": ["the <people>"] * 4 + ["two <people>", "some <people>", "my.i <people>"],
    "two persons": ["<woman> and <man>", "<man> and <woman>", "<man> and his.P <kin_woman>"]
    + ["<woman> and his.P <kin_man>", "my.i parents", "our.w friends"],
    "company": ["<company>"],
    "you": ["you"],
}
GENDERS = {"woman": "f", "kin_woman": "f", "Mrs.": "f", "Ms.": "f"}
GENDERS |= {"man": "m", "kin_man": "m", "Mr.": "m"}
NOUNS = {
    "company": ["the company", "the firm", "the group"],
    "team": ["the team", "the club", "the side"],
    "city": ["the city", "the town"],
    "country": ["the country"],
    "island": ["the island"],
}
_PIECE = re.compile(
    r"\{(?P<entity>\w)(?:=(?P<text>[^{}]*)|\.(?P<noun>\w+))?\}"
    r"|(?P<pronoun>\b[A-Za-z]+)\.(?P<of>[A-Za-z])\b|<(?P<words>\w+)>"
)


class Scenario(NamedTuple):
    """Lines of the file of patterns that tell of the same entities."""

    forms: dict[str, list[str]]
    first: list[str]
    later: list[str]
    whole: list[str]


class Story:
    """A document in the making: its text, and the spans of characters of each entity."""

    def __init__(
        self, words: dict[str, list[str]], forms: dict[str, list[str]], chance: random.Random
    ) -> None:
        self.text = ""
        self.mentions: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._words, self._forms, self._chance = words, forms, chance
        self._genders: dict[str, str] = {}
        self._again: dict[str, str] = {}

    def add(self, pattern: str) -> None:
        """Adds what a pattern says, each of its sentences with a capital if it begins with one."""
        for piece in re.split(r"(?:(?<=[.?!] )|(?<=[.?!]\" ))(?=[{A-Z\"])", f"{pattern} "):
            start = len(self.text)
            self._expand(piece)
            if piece[0] in "{<":
                self.text = self.text[:start] + self.text[start].upper() + self.text[start + 1 :]

    def knows(self, pattern: str) -> bool:
        """Returns whether the text or the pattern mentions all entities before their pronouns."""
        mentioned = {*self._again, *PRESENT}
        for piece in _PIECE.finditer(pattern):
            later = piece["of"] or (piece["noun"] and piece["entity"])
            if later and later not in mentioned:
                return False
            mentioned.add(piece["entity"])
        return True

    def _expand(self, pattern: str) -> str:
        """Adds a pattern, and returns the last word that was drawn for it."""
        last, end = "", 0
        for piece in _PIECE.finditer(pattern):
            self.text += pattern[end : piece.start()]
            end = piece.end()
            if piece["words"]:
                last = self._draw(piece["words"])
                if last[0] in "aeiou" and re.search(r"\b[Aa] $", self.text):
                    self.text = f"{self.text[:-1]}n "
                self.text += last
            elif piece["of"]:
                self._mention(piece["of"], self._pronoun(piece["pronoun"], piece["of"]))
            elif piece["noun"] in NOUNS:
                self._mention(piece["entity"], self._chance.choice(NOUNS[piece["noun"]]))
            elif piece["entity"] in self._again:
                self._mention(piece["entity"], self._again[piece["entity"]])
            else:
                self._introduce(piece["entity"], piece["text"])
        self.text += pattern[end:]
        return last

    def _draw(self, name: str) -> str:
        word = self._chance.choice(self._words[name.lower()])
        return word if name.islower() else word[0].upper() + word[1:]

    def _mention(self, entity: str, text: str) -> None:
        self.mentions[entity].append((len(self.text), len(self.text) + len(text)))
        self.text += text

    def _pronoun(self, word: str, entity: str) -> str:
        forms = PRONOUNS.get(word.lower())
        if not forms:
            return word
        form = forms.get(self._gender(entity), word.lower())
        return form if word.islower() else form.capitalize()

    def _gender(self, entity: str) -> str:
        if entity not in self._genders:
            self._genders[entity] = self._chance.choice("mfn" if entity in "ab" else "mf")
        return self._genders[entity]

    def _introduce(self, entity: str, form: str | None) -> None:
        name = (self._forms.get(entity) or [""])[0]
        form = form or self._chance.choice(self._possible(FORMS.get(name) or self._forms[entity]))
        if name == "other person" and "p" in self._genders:
            self._genders.setdefault(entity, "m" if self._genders["p"] == "f" else "f")
        if name in ("person", "other person") and entity in self._genders:
            form = self._of_gender(entity, form)
        for part, gender in GENDERS.items():
            if re.search(rf"<{part}>|^{re.escape(part)}(?= )", form):
                self._genders.setdefault(entity, gender)
                break
        if name in ("person", "other person"):
            self._gender(entity)
        start = len(self.text)
        if name == "two persons" and ".P" in form:
            one, other = form.split(" and ")
            self._introduce("P", one)
            last = self._expand(f" and {other}")
        else:
            last = self._expand(form)
        self.mentions[entity].append((start, len(self.text)))
        text = self.text[start:]
        if form.endswith("> <surname>"):
            text = self._chance.choice([text, *text.split()])
        definite = re.match(r"(the|a|an|some|two|three|his|her|its|new|these)\b", text, re.I)
        self._again[entity] = f"the {last}" if definite and last else text

    def _possible(self, forms: list[str]) -> list[str]:
        return [form for form in forms if self.knows(form)]

    def _of_gender(self, entity: str, form: str) -> str:
        """Changes the form of a person to that of the gender which the entity has already."""
        pairs = [
            ("<woman>", "<man>"),
            ("<kin_woman>", "<kin_man>"),
            ("Mrs.", "Mr."),
            ("Ms.", "Mr."),
        ]
        for woman, man in pairs:
            old, new = (woman, man) if self._genders[entity] == "m" else (man, woman)
            form = form.replace(old, new)
        return form


def read_words(path: Path = WORDS) -> dict[str, list[str]]:
    """Returns the lists of words of a file by their names."""
    lines = path.read_text(encoding="utf-8").splitlines()
    named = (line[1:].split(" ", 1) for line in lines if line.startswith("@"))
    return {name: words.split("|") for name, words in named}


def read_blocks(
    text: str, kinds: str
) -> Iterator[tuple[dict[str, list[str]], dict[str, list[str]]]]:
    """
    Yields the scenarios of a file of patterns, which an empty line separates: the forms of each
    entity, and the lines of each kind. The first character of a line is its kind or its entity.
    """
    for block in text.split("\n\n"):
        forms: dict[str, list[str]] = {}
        lines: dict[str, list[str]] = {kind: [] for kind in kinds}
        for line in block.splitlines():
            kind, _, rest = line.partition(" ")
            if kind in lines:
                lines[kind].append(rest)
            elif kind != "#":
                forms[kind] = rest.split(" | ")
        if any(lines.values()):
            yield forms, lines


def read_scenarios(text: str) -> list[Scenario]:
    """Returns the scenarios of a file of patterns."""
    return [
        Scenario(forms, lines[">"], lines["+"], lines["="])
        for forms, lines in read_blocks(text, ">+=")
    ]


def tell(scenario: Scenario, words: dict[str, list[str]], chance: random.Random) -> Story:
    """Draws a document of a scenario: a whole one, or up to three lines."""
    story = Story(words, scenario.forms, chance)
    if chance.random() < len(scenario.whole) / (len(scenario.whole) + 2 * len(scenario.first)):
        story.add(chance.choice(scenario.whole))
        return story
    story.add(chance.choice([line for line in scenario.first if story.knows(line)]))
    later = [*scenario.later]
    for _ in range(chance.choice([1, 1, 2])):
        lines = [line for line in later if story.knows(line)]
        later.remove(line := chance.choice(lines))
        story.add(line)
    return story


def document(story: Story, name: str) -> Iterator[str]:
    """Yields the lines of a document in the columns of CoNLL-2012."""
    yield f"#begin document ({name}); part 000"
    starts: dict[int, list[str]] = defaultdict(list)
    ends: dict[int, list[str]] = defaultdict(list)
    sentences = list(map(tokens_of, split_sentences(story.text)))
    tokens = list(chain.from_iterable(sentences))
    firsts = {token.idx: index for index, token in enumerate(tokens)}
    lasts = {token.idx + len(token.text): index for index, token in enumerate(tokens)}
    clusters = [spans for spans in story.mentions.values() if len(spans) > 1]
    for number, spans in enumerate(clusters):
        for start, end in sorted(spans):
            first, last = firsts[start], lasts[end]
            if first == last:
                starts[first].append(f"({number})")
            else:
                starts[first].insert(0, f"({number}")
                ends[last].append(f"{number})")
    index = 0
    for sentence in sentences:
        for number, token in enumerate(sentence):
            brackets = "|".join(starts[index] + ends[index]) or "-"
            yield "\t".join([name, "0", str(number), token.text, *"-------", "*", brackets])
            index += 1
        yield ""
    yield "#end document"


def arguments(description: str | None, unit: str, number: int) -> argparse.Namespace:
    """
    Returns the arguments of a script that writes so many of a unit: `output`, `number`, `seed`.
    Raises `ConfigurationError` if the output exists.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("output", type=Path)
    parser.add_argument("--number", type=int, default=number, help=f"{unit} (default: {number})")
    parser.add_argument("--seed", type=int, default=1, help="default: 1")
    parser.add_argument("--force", action="store_true", help="replace an output that exists")
    args = parser.parse_args()
    check_outputs([args.output], [], args.force)
    return args


def main() -> None:
    args = arguments(__doc__, "documents", 2000)
    words, scenarios = read_words(), read_scenarios(PATTERNS.read_text(encoding="utf-8"))
    chance = random.Random(args.seed)
    sizes = [sum(map(len, scenario[1:])) for scenario in scenarios]
    lines: list[str] = []
    for number in range(args.number):
        scenario = chance.choices(scenarios, sizes)[0]
        lines += document(tell(scenario, words, chance), f"everyday/{number}")
    args.output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
