import random
import re
from pathlib import Path

import pytest

from elmo_tasks.readers.entities import Entity
from elmo_tasks.readers.srl_file import Predicate, read_srl
from scripts import everyday_roles
from scripts.everyday_roles import Patterns, Sentence, conjugate, draw, read_patterns, rows

WORDS = {"person": ["we"], "whom": ["her"], "thing": ["apron"], "when": ["today"]}
SOLD = "+ sell sold sold: [0 <person>] [2 <whom>] [1 an <thing>]\n"


def drawn(*lines: str) -> tuple[str, list[str]]:
    """Returns a sentence of the last line, and each of its predicates with its roles."""
    patterns = read_patterns(SOLD + "\n".join(lines))
    sentence = draw(patterns.sentences[-1], patterns._replace(words=WORDS), random.Random(1))
    return " ".join(sentence.words), marked(sentence)


def marked(sentence: Sentence) -> list[str]:
    return [
        " ".join(f"[{role} {' '.join(sentence.words[i : j + 1])}]" for role, i, j in spans)
        for spans in sentence.predicates.values()
    ]


def test_a_frame_gives_the_verb_and_its_roles() -> None:
    text, predicates = drawn("> {a.S} {a.past} {a.O} [a.TMP <when>].")

    assert text == "We sold her an apron today ."
    assert predicates == ["[ARG0 We] [V sold] [ARG2 her] [ARG1 an apron] [ARGM-TMP today]"]


def test_auxiliaries_agree_with_the_subject_and_are_predicates_without_a_role() -> None:
    text, predicates = drawn("> {a.S} has {a.part} {a.O} and is going to {b.base} {b.O-1}.")

    assert text == "We have sold her an apron and is going to sell her ."
    assert predicates[:3] == ["[V have]", "[ARG0 We] [V sold] [ARG2 her] [ARG1 an apron]", "[V is]"]
    assert predicates[3:] == ["[V going]", "[V sell] [ARG2 her]"]


def test_the_passive_changes_the_case_of_pronouns() -> None:
    text, predicates = drawn("> {a.2} was {a.part} {a.O-2} [a.S by {a.agent}].")

    assert text == "She was sold an apron by us ."
    assert predicates[1] == "[ARG2 She] [V sold] [ARG1 an apron] [ARG0 by us]"


def test_a_role_may_have_another_predicate_in_it() -> None:
    text, predicates = drawn(
        "> [b.V Thank] [b.1 [a.1 the <thing>] [a.R1 that] {a.S} {a.past} {a.O-1}]!"
    )

    assert text == "Thank the apron that we sold her !"
    assert predicates == [
        "[V Thank] [ARG1 the apron that we sold her]",
        "[ARG1 the apron] [R-ARG1 that] [ARG0 we] [V sold] [ARG2 her]",
    ]


def test_a_sentence_takes_only_frames_with_its_roles() -> None:
    lines = ["+ rain: [1 <thing>]", "+ go went: [0 <person>] [1 to Oslo]"]

    assert {drawn(*lines, "> [a.1 What] did {a.S} {a.base}?")[0] for _ in range(9)} == {
        "What did we sell ?"
    }


@pytest.mark.parametrize(
    "verb, forms",
    [
        ("carry", "carry carried carried carries carrying"),
        ("wash", "wash washed washed washes washing"),
        ("play", "play played played plays playing"),
        ("wake_up woke_up woken_up", "wake_up woke_up woken_up wakes_up waking_up"),
        ("cut cut cut cutting", "cut cut cut cuts cutting"),
    ],
)
def test_verbs_are_conjugated(verb: str, forms: str) -> None:
    assert " ".join(form.replace(" ", "_") for form in conjugate(*verb.split()).values()) == forms


def test_every_pattern_becomes_a_sentence_that_the_reader_reads(tmp_path: Path) -> None:
    patterns = read_patterns(everyday_roles.PATTERNS.read_text(encoding="utf-8"))
    assert len(patterns.frames) > 100 and len(patterns.sentences) > 100
    chance = random.Random(1)

    sentences = [draw(pattern, patterns, chance) for pattern in patterns.sentences]
    for frame in patterns.frames:
        alone = Patterns(patterns.words, [frame], [])
        sentences.append(draw("{a.S} {a.past} {a.O}.", alone, chance))
    lines = [line for sentence in sentences for line in rows(sentence)]
    (tmp_path / "a.conll").write_text("\n".join(lines) + "\n")

    read = list(read_srl(tmp_path / "a.conll"))
    for sentence, found in zip(sentences, read, strict=True):
        assert found.words == sentence.words
        assert not re.search(r"[][{}<>|]", " ".join(found.words))
        expected = [
            Predicate(position, [Entity(role, start, end + 1) for role, start, end in spans])
            for position, spans in sentence.predicates.items()
        ]
        assert found.predicates == expected
