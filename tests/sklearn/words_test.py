import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.sklearn import ElmoFeatures
from elmo_tasks.sklearn.words import plain_words_of, words_of
from tests.helpers.reference_bilm import FIXTURE

# Sentences in several scripts, with a blank between any two tokens.
WRITTEN = {
    "accents": "Le café d ' Ångström , naïve ?",
    "vowels of Hindi": "यह हिन्दी में लिखा है ।",
    "vowels of Bengali": "বাংলা ভাষা",
    "vowels of Tamil": "தமிழ் மொழி",
    "vowels of Arabic": "الكِتَابُ جَدِيدٌ ؟",
    "a joiner of Persian": "من می\u200cخواهم",
    "points of Hebrew": "שָׁלוֹם עֲלֵיכֶם !",
    "vowels of Thai": "ภาษาไทยง่าย",
    "vowels of Burmese": "မြန်မာ",
    "syllables of Korean": "한국어 단어",
    "accents of Vietnamese": "Tiếng Việt",
    "accents of Cyrillic": "за́мок и замо́к , й ё",
    "a soft hyphen": "a co\u00adoperative bank",
    "emoji": "fine 👍🏽 👩\u200d👩\u200d👧 🇫🇷 🇩🇪 ❤\ufe0f !",
    "signs with accents": "a ≠ b ≮ c",
    "clitics": "is n't it 's we ’ll DO N’T",
}

# Letters, marks, joiners, apostrophes, digits, white space and emoji, for random sentences.
PIECES = st.sampled_from(
    [*"ants'’.,13 é\t", "e", "\u0301", "\u0323", "\u0338", "=", "ि", "क", "한"]
)
TEXTS = st.lists(PIECES | st.sampled_from(["\u200d", "\u200c", "🇫", "👩", "\u0600", "\u001c"]))


@pytest.mark.parametrize("name", WRITTEN)
def test_words_keep_the_marks_of_their_letters_in_every_script(name: str) -> None:
    composed = unicodedata.normalize("NFC", WRITTEN[name])

    for sentence in (composed, unicodedata.normalize("NFD", composed)):
        # Without the blanks before clitics and marks, as people write.
        written = re.sub(r" (n't|'s|’ll|[!,?।])", r"\1", sentence)
        assert words_of(written) == sentence.split()


@given(st.text() | TEXTS.map("".join))
def test_nothing_is_lost_and_both_forms_of_a_text_have_as_many_words(text: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)

    words = words_of(composed)

    assert "".join(words) == "".join(composed.split())
    assert [unicodedata.normalize("NFD", word) for word in words] == words_of(decomposed)


@given(st.text() | TEXTS.map("".join) | st.text("aAeEoOsS éÉ", max_size=20))
def test_plain_words_are_the_words_and_plain_already(text: str) -> None:
    words = words_of(text)

    plain = plain_words_of(text)

    assert len(plain) == len(words) and all(plain)
    assert plain_words_of(" ".join(plain)) == words_of(" ".join(plain))
    for word, changed in zip(words, plain):
        is_loud = re.search(r"(?i)([a-z])\1\1", word) or sum(map(str.isupper, word)) >= 4
        assert word == changed or is_loud


def test_features_of_loud_text_are_those_of_plain_words() -> None:
    features = ElmoFeatures(str(FIXTURE))

    loud, plain = features.transform(["It is SOOO DULL !", ["It", "is", "so", "dull", "!"]])

    assert (loud == plain).all()


def test_features_read_a_word_of_letters_and_accents_as_one() -> None:
    decomposed = unicodedata.normalize("NFD", "Le café fermé")
    features = ElmoFeatures(str(FIXTURE))

    text, words = features.transform([decomposed, decomposed.split()])

    assert (text == words).all()
