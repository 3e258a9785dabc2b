import unicodedata

import pytest

from elmo_tasks.common.loud_words import is_in_capitals, plain_word


@pytest.mark.parametrize(
    ("written", "plain"),
    [
        ("sooo", "so"),
        ("SOOOO", "so"),
        ("Haaappyyy", "Happy"),
        ("loooove", "love"),
        ("WHAAAT", "what"),
        ("GREAT", "great"),
        ("ÄRGER", "ärger"),
        ("reeeé", "reé"),
        ("good", "good"),
        ("USA", "USA"),
        ("iPhone", "iPhone"),
        ("COVID19", "COVID19"),
        ("VIII", "VIII"),
        ("xxxiii", "xxxiii"),
        ("www", "www"),
        ("AAAA", "AAAA"),
        ("1000", "1000"),
    ],
)
def test_loud_words_are_written_plainly_in_both_forms_of_a_text(written: str, plain: str) -> None:
    for form in ("NFC", "NFD"):
        word = plain_word(unicodedata.normalize(form, written))

        assert word == unicodedata.normalize(form, plain)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("WE WON THE CUP IN 2019 !", True),
        ("ÄPFEL SIND GRÜN", True),
        ("IBM USA", False),
        ("2019 - 3 ! ?", False),
        ("我 们 赢 了", False),
        ("WE WON THE CUP, Ada", False),
        ("", False),
    ],
)
def test_a_text_of_three_words_in_capitals_is_loud(text: str, expected: bool) -> None:
    assert is_in_capitals(text.split()) is expected
