import weakref

import pytest
import spacy

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers import spacy_pipeline
from elmo_tasks.readers.spacy_pipeline import blank_pipeline, tokenized_sentences
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer
from tests.helpers.languages import CUT_THAI, TEXTS


def test_a_pipeline_is_shared_until_it_has_seen_too_many_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tokenizer = ElmoSpacyTokenizer()
    text = " ".join(f"word{k}" for k in range(2000))
    tokens = tokenizer.tokenize(text)
    first = weakref.ref(blank_pipeline("en"))
    assert tokenizer.tokenize(text) == tokens and blank_pipeline("en") is first()

    monkeypatch.setattr(spacy_pipeline, "_MAX_STRINGS", 2000)

    assert tokenizer.tokenize(text) == tokens
    assert first() is None
    assert len(blank_pipeline("en").vocab.strings) < 2000


@pytest.mark.parametrize("language", ["en.examples", "../en", "", "EN", "en_core_web_sm", "en\n"])
def test_what_is_no_code_of_a_language_is_not_imported(
    language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spacy.blank", lambda _: pytest.fail("imported"))

    with pytest.raises(ConfigurationError):
        blank_pipeline(language)


TEXT = " It isn't bad.  Is it?  Yes!  No end"


def test_tokens_are_those_of_the_tokenizer() -> None:
    words = [token.text for token in ElmoSpacyTokenizer().tokenize(TEXT)]

    assert " ".join(tokenized_sentences(TEXT)).split() == words
    assert tokenized_sentences("It's raw.  Is it?") == ["It 's raw .", "Is it ?"]
    assert tokenized_sentences("") == tokenized_sentences(" \t ") == []
    # The tokenizer has a pipeline of its own.
    assert [token.text for token in ElmoSpacyTokenizer().tokenize("a. b")] == ["a.", "b"]


@pytest.mark.parametrize("language", TEXTS)
def test_raw_text_is_cut_into_the_tokens_of_its_language(language: str) -> None:
    text, sentences = TEXTS[language]

    assert tokenized_sentences(text, language) == sentences


def test_a_language_that_needs_a_package_says_which_one() -> None:
    with pytest.raises(ConfigurationError, match="'th'.*PyThaiNLP"):
        tokenized_sentences("".join(CUT_THAI.split()), "th")


@pytest.mark.parametrize("apostrophe", ["'", "\u2019"])
def test_a_text_in_capitals_is_cut_as_in_lower_case(apostrophe: str) -> None:
    text = "we don't and won't. i'm sure it's john's. she'd go".replace("'", apostrophe)

    quiet, loud = (
        [token.text for token in ElmoSpacyTokenizer().tokenize(line)]
        for line in (text, text.upper())
    )

    assert loud == [word.upper() for word in quiet]
    assert " ".join(tokenized_sentences(text.upper())) == " ".join(loud)


def test_a_text_with_small_letters_is_cut_by_spacys_own_rules(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = "We WON'T. It's JOHN'S. No"
    expected = [token.text for token in spacy.blank("en")(text)]
    monkeypatch.setattr(spacy_pipeline, "_cut_capitals", None)

    assert [token.text for token in ElmoSpacyTokenizer().tokenize(text)] == expected


def test_a_language_without_rules_for_words_keeps_its_tokenizer() -> None:
    tokens = ElmoSpacyTokenizer("zh").tokenize("DON'T DO IT")

    assert [token.text for token in tokens] == [*"DON'T", *"DO", *"IT"]
