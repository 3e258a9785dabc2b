from collections import Counter

from elmo_tasks.commands.own_data.oddities import odd_labels, odd_texts
from elmo_tasks.common.records import Record


def test_odd_labels_are_said() -> None:
    values = ["Food", "Food", "food ", "food", "-1", "-1", "NA", "travel", "travel"]

    assert list(odd_labels(Counter(map(str.strip, values)), values)) == [
        "Labels that occur once, perhaps by a slip: 'NA'.",
        "Labels that may stand for no label: '-1' (2), 'NA' (1). They are learnt like any label; "
        "empty labels are left out.",
        "Labels that differ only by case or blanks, perhaps by a slip: 'Food' (2) and 'food' (2).",
        "Labels with blanks around them, which are not part of the label: 1.",
    ]


def test_odd_texts_are_said() -> None:
    texts = ["'One.'", "'Two<br />lines.'", "'Three\nlines\nhere.'", "Plain &amp; fine."]
    rows = [Record("a", number, {"text": text}) for number, text in enumerate(texts, start=2)]

    assert list(odd_texts(rows, ["text"])) == [
        "Texts that run over several lines: 1; the longest runs over 3 lines, from line 4.",
        "Texts with HTML such as <br />, which is read as words: 2, the first in line 3.",
        "Texts in quotes, which are read as words: 3, the first in line 2.",
    ]


def test_what_is_usual_is_not_said() -> None:
    row = Record("a", 2, {"text": 'He said "no" to a < b.'})

    assert not list(odd_texts([row], ["text"]))
    assert not list(odd_labels(Counter({"a": 2, "b": 3}), ["a", "b"]))
