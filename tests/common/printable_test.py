import pytest

from elmo_tasks.common.printable import printable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Łódź\t漢字 👩‍🚀 \xa0.", "Łódź\t漢字 👩‍🚀 \xa0."),
        ("\x1b[2J", r"\x1b[2J"),
        ("\x9b2J\x7f\r\n", r"\x9b2J\x7f\r\n"),
        ("\u202eevil\u2066\u2028", r"\u202eevil\u2066\u2028"),
    ],
)
def test_control_characters_are_escaped_and_other_characters_stay(text: str, expected: str) -> None:
    assert printable(text) == expected
