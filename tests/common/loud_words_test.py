import unicodedata

import pytest

from elmo_tasks.common.loud_words import plain_word


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
