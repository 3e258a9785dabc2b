"""
Writes short sentences with semantic roles in the columns of CoNLL-2012, from the patterns of
`everyday_roles.txt`, such as "Did Ada lend you her bike?" The model `srl` of the package was in the
end trained on such sentences, too, since the English Web Treebank has few of them.

    python -m scripts.everyday_roles my/roles.gold_conll --number 2000
"""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from scripts.everyday_stories import arguments, read_words

PATTERNS = Path(__file__).with_suffix(".txt")

# Words that are predicates without a role, unless a pattern gives them roles.
AUXILIARIES = set("be am is are was were been being have has had do does did".split())
OBJECTS = {"I": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
SUBJECTS = {of: who for who, of in OBJECTS.items()}
PLURAL_FORMS = {"is": "are", "was": "were", "has": "have"}
# Lists of words in the plural.
PLURALS = {"people", "things", "foods", "wildlings"}
_PLURAL = re.compile(r"(we|you|they|two|three|many|these|the police)\b|.* and |.*\w[^s]s$")
_PREPOSITION = re.compile(r"(to|about|for|of|on|at|in|with|around)\b")
# A text with bars, perhaps behind the opening bracket of a role.
_CHOICE = re.compile(r"(\[\w\.\S+ )?([^][{} ][^][{}]*\|[^][{}]*[^][{} ])")
# A verb that agrees with the subject before it or else behind it.
_AGREEING = re.compile(r"(?:{(\w\.[S12])} )?\b([Ii]s|[Ww]as|[Hh]as)\b(?= {(\w\.[S12])})?")
# The beginning or the end of a role, or a token.
_PIECE = re.compile(r"\[(\w)\.(\S+) |(\])|(Mrs?\.|n't|'s|\w+|\S)")

# A role, the index of its first token, and that of its last one.
Span = tuple[str, int, int]


class Frame(NamedTuple):
    """The forms of a verb, and its roles with their words. The first role is the subject."""

    forms: dict[str, str]
    roles: dict[str, str]

    @property
    def subject(self) -> str:
        return next(iter(self.roles))

    def has_object(self, role: str) -> bool:
        """Returns whether the verb has a subject ARG0 and this role without a preposition."""
        words = self.roles.get(role, "to")
        return role != self.subject == "0" and not _PREPOSITION.match(words)


class Phrase(NamedTuple):
    text: str
    is_plural: bool

    def as_subject(self) -> "Phrase":
        text = SUBJECTS.get(self.text, self.text)
        return Phrase(text, self.is_plural or text in ("we", "they"))

    def agree(self, verb: str) -> str:
        """Returns the form of is, was or has for this subject."""
        form = PLURAL_FORMS[verb.lower()] if self.is_plural else verb.lower()
        if self.text == "I":
            form = {"is": "am", "has": "have"}.get(form, form)
        return form if verb.islower() else form.capitalize()


class Patterns(NamedTuple):
    """The lines of the file of patterns."""

    words: dict[str, list[str]]
    frames: list[Frame]
    sentences: list[str]


class Sentence(NamedTuple):
    """Words, and the roles of each predicate by the index of its token."""

    words: list[str]
    predicates: dict[int, list[Span]]


def read_patterns(text: str) -> Patterns:
    patterns = Patterns(read_words(), [], [])
    for line in text.splitlines():
        kind, _, rest = line.partition(" ")
        if kind.startswith("@"):
            patterns.words[kind[1:]] = rest.split("|")
        elif kind == "+":
            verb, roles = rest.split(": ")
            of_role = dict(re.findall(r"\[(\w+) ([^\]]+)\]", roles))
            patterns.frames.append(Frame(conjugate(*verb.split()), of_role))
        elif kind in (">", "="):
            patterns.sentences.append(rest)
    return patterns


def conjugate(base: str, past: str = "", part: str = "", ing: str = "") -> dict[str, str]:
    """Returns the forms of a verb. Its particle follows an underline character."""
    verb, *particle = base.split("_")
    stem = re.sub("e$", "", verb)
    past = past or re.sub("([^aeiou])y$", r"\1i", stem) + "ed"
    third = re.sub("([^aeiou])y$", r"\1ie", re.sub("(s|x|ch|sh|o)$", r"\1e", verb)) + "s"
    forms = {"base": verb, "past": past, "part": part or past, "third": third}
    forms["ing"] = ing or stem + "ing"
    return {name: " ".join([form.split("_")[0], *particle]) for name, form in forms.items()}


def draw_phrase(pattern: str, words: dict[str, list[str]], chance: random.Random) -> Phrase:
    """Draws one of the parts between bars, and a word for each name in it."""
    text, is_plural = chance.choice(pattern.split("|")), False
    while name := re.search(r"<(\w+)>", text):
        is_plural = name[1] in PLURALS and name.end() == len(text)
        text = text[: name.start()] + chance.choice(words[name[1]]) + text[name.end() :]
    return Phrase(text, is_plural or bool(_PLURAL.match(text)))


def fits(frame: Frame, name: str, sentence: str) -> bool:
    """Returns whether a frame can be the frame `name` of the pattern of a sentence."""
    objects = re.findall(rf"[{{[]{name}\.(?:O-)?([12])", sentence)
    if not all(map(frame.has_object, objects)):
        return False
    if f"{{{name}.2}}" in sentence and list(frame.roles)[1] != "2":
        return False
    # The subject is a person if the pattern names it, or if it is also that of another verb.
    has_own = re.search(rf"{{{name}\.(S|agent)}}", sentence)
    is_shared = re.search(r"\[b\.[0S] {a\.S}\]", sentence)
    return "<person>" in frame.roles[frame.subject] or bool(has_own and not is_shared)


def draw(sentence: str, patterns: Patterns, chance: random.Random) -> Sentence:
    """Draws frames and words for the pattern of a sentence."""

    def draw_part(match: re.Match[str]) -> str:
        return (match[1] or "") + chance.choice(match[2].split("|"))

    def agree(match: re.Match[str]) -> str:
        phrase = phrases.get(match[1] or match[3])
        subject = f"{{{match[1]}}} " if match[1] else ""
        return subject + (phrase.agree(match[2]) if phrase else match[2])

    sentence = _CHOICE.sub(draw_part, sentence)
    values: dict[str, str] = {}
    phrases: dict[str, Phrase] = {}
    subjects: dict[str, str] = {}
    for name in sorted(set(re.findall(r"{(\w)\.", sentence))):
        frame = chance.choice([frame for frame in patterns.frames if fits(frame, name, sentence)])
        subjects[name] = frame.subject
        drawn = {
            role: draw_phrase(text, patterns.words, chance) for role, text in frame.roles.items()
        }
        values |= _values(name, frame, drawn)
        phrases |= {f"{name}.{role}": phrase.as_subject() for role, phrase in drawn.items()}
        phrases[f"{name}.S"] = drawn[frame.subject]
    sentence = _AGREEING.sub(agree, sentence)
    sentence = re.sub(r"{(\w\.[\w-]+)}", lambda match: values[match[1]], sentence)
    sentence = draw_phrase(sentence, patterns.words, chance).text
    return parse(re.sub(r"\b([Aa]) (?=[aeio]|um)", r"\1n ", sentence), subjects)


def _values(name: str, frame: Frame, drawn: dict[str, Phrase]) -> dict[str, str]:
    """Returns what the names in braces stand for, with roles in brackets."""
    subject, *others = drawn
    marked = {role: f"[{name}.{role} {phrase.text}]" for role, phrase in drawn.items()}
    values = {"S": marked[subject], "O": " ".join(marked[role] for role in others)}
    values["agent"] = OBJECTS.get(drawn[subject].text, drawn[subject].text)
    for role in others:
        values[role] = f"[{name}.{role} {drawn[role].as_subject().text}]"
        values[f"O-{role}"] = " ".join(marked[other] for other in others if other != role)
    present = "third" if drawn[subject].agree("has") == "has" else "base"
    for form, verb in {**frame.forms, "present": frame.forms[present]}.items():
        values[form] = f"[{name}.V {verb}]"
    return {f"{name}.{key}": value for key, value in values.items()}


def parse(marked: str, subjects: dict[str, str]) -> Sentence:
    """Reads words with roles in brackets. `subjects` has the role of each frame's subject."""
    words: list[str] = []
    spans: dict[str, list[Span]] = {}
    opened: list[tuple[str, str, int]] = []
    for name, role, closes, word in _PIECE.findall(marked):
        if closes:
            name, role, start = opened.pop()
            spans.setdefault(name, []).append((role, start, len(words) - 1))
        elif word:
            words.append(word)
        else:
            opened.append((name, _full_name(role, subjects.get(name, "")), len(words)))
    words[0] = words[0][0].upper() + words[0][1:]
    predicates = {
        index: [("V", index, index)]
        for index, word in enumerate(words)
        if word.lower() in AUXILIARIES or words[index : index + 2] == ["going", "to"]
    }
    for roles in spans.values():
        (position,) = (start for role, start, _ in roles if role == "V")
        predicates[position] = sorted(roles, key=lambda span: span[1])
    return Sentence(words, dict(sorted(predicates.items())))


def _full_name(role: str, subject: str) -> str:
    number = re.sub("S$", subject, role)
    if number[-1].isdigit():
        return f"{'R-' * (len(number) > 1)}ARG{number[-1]}"
    return role if role == "V" else f"ARGM-{role}"


def rows(sentence: Sentence) -> Iterator[str]:
    """Yields the lines of a sentence in the columns of CoNLL-2012."""
    for index, word in enumerate(sentence.words):
        roles = []
        for spans in sentence.predicates.values():
            opening = "".join(f"({role}" for role, start, _ in spans if start == index)
            roles.append(f"{opening}*" + ")" * sum(end == index for _, _, end in spans))
        predicate = word.lower() if index in sentence.predicates else "-"
        head = f"everyday 0 {index} {word} - - - {predicate} - - *".split()
        yield "\t".join([*head, *roles, "-"])
    yield ""


def main() -> None:
    args = arguments(__doc__, "sentences", 2000)
    patterns = read_patterns(PATTERNS.read_text(encoding="utf-8"))
    chance = random.Random(args.seed)
    lines: list[str] = []
    for _ in range(args.number):
        lines += rows(draw(chance.choice(patterns.sentences), patterns, chance))
    args.output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
