from collections import Counter

import pytest

from elmo_tasks.commands.own_data.oddities import (
    alike_labels,
    equal_texts,
    odd_labels,
    odd_texts,
)
from elmo_tasks.common.records import Record
from elmo_tasks.readers.classify import ClassifyReader


def test_odd_labels_are_said() -> None:
    values = ["Food", "Food", "food ", "food", "-1", "-1", "NA", "travel", "travel"]

    assert list(odd_labels(Counter(map(str.strip, values)), values)) == [
        "Labels that occur once, perhaps by a slip: 'NA'.",
        "Labels that may stand for no label: '-1' (2), 'NA' (1). They are learnt like any label; "
        "empty labels are left out.",
        "Labels that differ only by case, blanks or characters that look the same, perhaps by a "
        "slip: 'Food' (2) and 'food' (2).",
        "Labels with blanks around them, which are not part of the label: 1.",
    ]


@pytest.mark.parametrize("name", ["food;tea", "food,tea", "food|tea", "['food', 'tea']"])
def test_labels_that_may_be_several_are_said(name: str) -> None:
    line = f"Labels that may be several in one, such as {name!r}: --separator cuts them"

    assert list(odd_labels(Counter({name: 2, "tea": 2}), []))[0].startswith(line)
    assert not list(odd_labels(Counter({name: 2, "tea": 2, "food": 3}), []))
    assert not list(odd_labels(Counter({"4,5": 2, "3,5": 2}), []))


def test_labels_that_look_the_same_are_said() -> None:
    names = ["sch\u00f6n", "scho\u0308n", "O", "O\u00a0", "bad", "bad\u200b", "worse"]

    (line,) = alike_labels(Counter(names))

    for first, second in zip(names[:6:2], names[1:6:2]):
        assert f"{first!r} (1) and {second!r} (1)" in line
    assert "worse" not in line


def test_equal_texts_with_other_labels_are_said() -> None:
    values = [("Fine.", "a"), ("Dull.", "b"), ("Fine.", "a"), ("Fine.", "b"), ("Dull.", "a")]
    rows = [
        Record("a", number, {"text": text, "label": label})
        for number, (text, label) in enumerate(values, start=2)
    ]

    assert list(equal_texts(rows, ClassifyReader())) == [
        "Texts that an earlier row has with another label: 2, the first in line 5."
    ]
    assert not list(equal_texts(rows[:3], ClassifyReader()))


def test_odd_texts_are_said() -> None:
    texts = ["'One.'", "'Two<br />lines.'", "'Three\nlines\nhere.'", "Plain &amp; fine."]
    rows = [Record("a", number, {"text": text}) for number, text in enumerate(texts, start=2)]

    assert list(odd_texts(rows, ["text"])) == [
        "Texts that run over several lines: 1; the longest runs over 3 lines, from line 4.",
        "Texts with HTML such as <br />, which is read as words: 2, the first in line 3.",
        "Texts in quotes, which are read as words: 3, the first in line 2.",
    ]


def test_texts_without_a_letter_are_said() -> None:
    texts = ["Fine.", "12", "...", "\u200b", "\u826f\u3044"]
    rows = [Record("a", number, {"text": text}) for number, text in enumerate(texts, start=2)]

    assert list(odd_texts(rows, ["text"])) == [
        "Texts without a letter, such as numbers: 3, the first in line 3."
    ]


def test_garbled_letters_are_said() -> None:
    texts = ["caf\u00e9", "caf\ufffd", "caf\u00c3\u00a9", "It\u00e2\u20ac\u2122s"]
    rows = [Record("a", number, {"text": text}) for number, text in enumerate(texts, start=2)]

    (line,) = odd_texts(rows, ["text"])

    assert line.startswith("Texts with characters that were lost or read in a wrong encoding")
    assert line.endswith(": 3, the first in line 3.")


def test_what_is_usual_is_not_said() -> None:
    row = Record("a", 2, {"text": 'He said "no" to a < b.'})

    assert not list(odd_texts([row], ["text"]))
    assert not list(odd_labels(Counter({"a": 2, "b": 3}), ["a", "b"]))
