"""
Adds pairs to a file of SNLI whose texts differ only in an order, a number or a negation: the model
`snli` of the package was in the end trained on such pairs.

    python -m scripts.everyday_pairs data/snli/snli_1.0_train.jsonl my/snli.jsonl

The pairs are made by rule of short hypotheses of the file, such as "A man is washing a dog."
"""

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from scripts.changed_file import make_parser, write_changed

# How many examples of each kind are made. An example is one to three pairs.
NUM_EXAMPLES = 300
NUMBERS = "two three four five six seven eight nine ten".split()
NAMES = """Alex Carla David Diana Eric Fatima George Helen Ivan Jane Karim Laura Martin Nora Oscar
Paula Rita Simon Tina Victor""".split()
COMPARED = """taller/shorter older/younger bigger/smaller faster/slower heavier/lighter
richer/poorer stronger/weaker louder/quieter happier/sadder warmer/colder cheaper/dearer
higher/lower wider/narrower earlier/later nearer/farther""".split()
# Who is loved need not love: the order of these says nothing about the other order.
ONE_SIDED = "loves likes hates trusts misses admires envies knows".split()
# A noun that so many hypotheses begin with can do what another noun does.
MIN_SUBJECTS = 3
TOO_FEW = "has too few hypotheses such as 'A man is washing a dog.' to make pairs of them"

_CLAUSE = re.compile(r"(?:A|An|The) (\w+) is (\w+ing)((?: [\w']+){0,4})\.?")
_OBJECT = re.compile(r" (?:a|an|the) (\w+)")
_NUMBER = re.compile(rf"\b({'|'.join(NUMBERS)})\b", re.IGNORECASE)

Pair = tuple[str, str, str]
E, N, C = "entailment", "neutral", "contradiction"


class Clause(NamedTuple):
    """
    "The `noun` is `doing` `rest`", with the verb's other forms, if they are regular.

    # Parameters

    rest: What follows the verb, with a blank in front, or an empty string.
    """

    noun: str
    doing: str
    rest: str
    base: str | None
    past: str | None


def add_pairs(text: str, chance: random.Random) -> str:
    """
    Adds pairs to those of a file, in a random order. Raises `ValueError` if the file has too few
    hypotheses to make pairs of.
    """
    rows = [json.loads(line) for line in text.splitlines()]
    pairs = [(row["sentence1"], row["sentence2"], row["gold_label"]) for row in rows]
    hypotheses = sorted({pair[1] for pair in pairs})
    clauses = [*_clauses(hypotheses)]
    num_nouns = len({clause.noun for clause in clauses})
    num_pasts = sum(clause.past is not None for clause in clauses)
    if num_nouns < 2 or num_pasts < 2 or not _clauses_to_swap(clauses):
        raise ValueError(TOO_FEW)
    pairs += [*_numbers(hypotheses, chance)]
    kinds: list[Callable[[Sequence[Clause], random.Random], Iterator[Pair]]]
    kinds = [_compare, _swap, _before, _nobody, _past, _another_action]
    for kind in kinds:
        for _ in range(NUM_EXAMPLES):
            pairs += kind(clauses, chance)
    chance.shuffle(pairs)
    names = ("sentence1", "sentence2", "gold_label")
    return "".join(json.dumps(dict(zip(names, pair))) + "\n" for pair in pairs)


def _clauses(hypotheses: Sequence[str]) -> Iterator[Clause]:
    words = Counter(re.findall(r"[a-z]+", " ".join(hypotheses).lower()))
    for match in filter(None, map(_CLAUSE.fullmatch, hypotheses)):
        noun, doing, rest = match.groups()
        yield Clause(noun, doing, rest, *_regular(doing, words))


def _regular(doing: str, words: Counter[str]) -> tuple[str | None, str | None]:
    """Returns the base and the past of a verb, if the file has both."""
    stem = doing[:-3]
    for base, past in ((stem, f"{stem}ed"), (f"{stem}e", f"{stem}ed"), (stem[:-1], f"{stem}ed")):
        if words[base] and words[past]:
            return base, past
    return None, None


def _numbers(hypotheses: Sequence[str], chance: random.Random) -> Iterator[Pair]:
    numbered = [sentence for sentence in hypotheses if len(_NUMBER.findall(sentence)) == 1]
    for sentence in chance.sample(numbered, min(len(numbered), 2 * NUM_EXAMPLES)):
        number = _NUMBER.findall(sentence)[0]
        other = chance.choice([word for word in NUMBERS if word != number.lower()])
        for word, label in chance.sample([(other, C), (other, C), ("some", E), (number, E)], 2):
            word = word.capitalize() if number[0].isupper() else word
            yield sentence, _NUMBER.sub(word, sentence), label


def _two_subjects(clauses: Sequence[Clause], chance: random.Random) -> tuple[str, str]:
    """Returns two people or things: by name, or by two nouns."""
    if chance.random() < 0.5:
        first, second = chance.sample(NAMES, 2)
        return first, second
    first, second = chance.sample(sorted({clause.noun for clause in clauses}), 2)
    return f"The {first}", f"The {second}"


def _compare(clauses: Sequence[Clause], chance: random.Random) -> Iterator[Pair]:
    a, b = _two_subjects(clauses, chance)
    words = chance.choice(COMPARED).split("/")
    more, less = words if chance.random() < 0.5 else words[::-1]
    premise = _sentence(a, f"is {more} than", b)
    yield premise, _sentence(b, f"is {more} than", a), C
    yield premise, _sentence(b, f"is {less} than", a), E
    yield chance.choice([(premise, _sentence(a, f"is {less} than", b), C), (premise, premise, E)])


def _swap(clauses: Sequence[Clause], chance: random.Random) -> Iterator[Pair]:
    a, b = _two_subjects(clauses, chance)
    if chance.random() < 0.25:
        verb = chance.choice(ONE_SIDED)
        yield _sentence(a, verb, b), _sentence(b, verb, a), N
        return
    clause, object_ = chance.choice(_clauses_to_swap(clauses))
    if a.startswith("The "):
        a, b = f"The {clause.noun}", f"The {object_}"
    premise = _sentence(a, f"is {clause.doing}", b)
    yield premise, _sentence(b, f"is {clause.doing}", a), C
    if clause.past is None:
        yield premise, premise, E
        return
    yield premise, _sentence(b, f"is being {clause.past} by", a), E
    did, was = _sentence(a, clause.past, b), _sentence(b, f"was {clause.past} by", a)
    wrong = _sentence(a, f"was {clause.past} by", b)
    yield chance.choice([(did, was, E), (was, did, E), (did, wrong, C), (wrong, did, C)])


def _clauses_to_swap(clauses: Sequence[Clause]) -> list[tuple[Clause, str]]:
    """Returns the clauses whose object can do what another noun does, and the objects."""
    subjects = Counter(clause.noun for clause in clauses)
    return [
        (clause, object_match[1])
        for clause in clauses
        if (object_match := _OBJECT.fullmatch(clause.rest))
        and min(subjects[clause.noun], subjects[object_match[1]]) >= MIN_SUBJECTS
        and clause.noun != object_match[1]
    ]


def _before(clauses: Sequence[Clause], chance: random.Random) -> Iterator[Pair]:
    first, second = chance.sample([clause for clause in clauses if clause.past], 2)
    a, b = _two_subjects(clauses, chance)
    one, two = f"{a} {first.past}{first.rest}", f"{b} {second.past}{second.rest}"
    if chance.random() < 0.3:
        two = chance.choice(["lunch", "dinner", "the film", "midnight", "the meeting", "noon"])
        words = chance.sample(["before", "after"], 2)
        yield _sentence(one, words[0], two), _sentence(one, words[1], two), C
        yield _sentence(one, words[0], two), _sentence(one, words[0], two), E
        return
    premise = _sentence(one, "before", two)
    yield from chance.sample(
        [
            (premise, _sentence(one, "after", two), C),
            (premise, _sentence(two, "before", one), C),
            (premise, _sentence(two, "after", one), E),
            (_sentence(two, "after", one), premise, E),
            (_sentence(one, "after", two), premise, C),
            (premise, premise, E),
        ],
        3,
    )


def _nobody(clauses: Sequence[Clause], chance: random.Random) -> Iterator[Pair]:
    clause = chance.choice(clauses)
    nobody, no_one = chance.sample(["Nobody", "No one"], 2)
    is_doing = f"is {clause.doing}{clause.rest}."
    someone = chance.choice([f"The {clause.noun}", chance.choice(NAMES), "Someone", "A person"])
    yield from chance.sample(
        [
            (f"{nobody} {is_doing}", f"{someone} {is_doing}", C),
            (f"{someone} {is_doing}", f"{nobody} {is_doing}", C),
            (f"{nobody} {is_doing}", f"{no_one} {is_doing}", E),
            (f"There is {nobody.lower()} {is_doing[3:]}", f"{no_one} {is_doing}", E),
            (f"{nobody} {is_doing}", f"There is {no_one.lower()} {is_doing[3:]}", E),
            (f"Everyone {is_doing}", f"{nobody} {is_doing}", C),
            (f"Everyone {is_doing}", f"Someone {is_doing}", E),
            (f"Someone {is_doing}", f"Everyone {is_doing}", N),
            (f"Some people are {is_doing[3:]}", f"All the people are {is_doing[3:]}", N),
            (f"All the people are {is_doing[3:]}", f"Some people are {is_doing[3:]}", E),
        ],
        3,
    )


def _past(clauses: Sequence[Clause], chance: random.Random) -> Iterator[Pair]:
    clause = chance.choice([clause for clause in clauses if clause.past])
    subject = chance.choice([f"The {clause.noun}", chance.choice(NAMES), "He", "She", "They", "I"])
    did = f"{subject} {clause.past}{clause.rest}."
    did_not, didnt = (f"{subject} {no} {clause.base}{clause.rest}." for no in ("did not", "didn't"))
    can, cannot, cant = (
        f"{subject} {word} {clause.base}{clause.rest}." for word in ("can", "cannot", "can't")
    )
    never = f"{subject} never {clause.past}{clause.rest}."
    yield from chance.sample(
        [
            (did, didnt, C),
            (didnt, did, C),
            (did_not, did, C),
            (did, did_not, C),
            (didnt, did_not, E),
            (did_not, didnt, E),
            (never, didnt, E),
            (never, did, C),
            (did, never, C),
            (can, cant, C),
            (cannot, can, C),
            (cant, cannot, E),
            (did, did, E),
        ],
        3,
    )


def _another_action(clauses: Sequence[Clause], chance: random.Random) -> Iterator[Pair]:
    """Who does not do one thing may do another."""
    first, second = chance.sample(clauses, 2)
    subject = chance.choice([f"The {first.noun}", chance.choice(NAMES)])
    is_not, isnt = (f"{subject} {no} {first.doing}{first.rest}." for no in ("is not", "isn't"))
    yield chance.choice([is_not, isnt]), f"{subject} is {second.doing}{second.rest}.", N
    yield chance.choice([(is_not, isnt, E), (isnt, is_not, E)])
    yield isnt, f"{subject} is {first.doing}{first.rest}.", C


def _sentence(first: str, verb: str, second: str) -> str:
    """Returns a sentence of three parts, with "the" in lower case within it."""
    inner = second[0].lower() + second[1:] if second.startswith("The ") else second
    return f"{first} {verb} {inner}."


def main() -> None:
    write_changed(make_parser(__doc__).parse_args(), add_pairs)


if __name__ == "__main__":
    main()
