import pytest

from elmo_tasks.readers.text_sentences import TextSentences

TEXT = "The soup was cold.\n\nWhy?  It had stood there for an hour."
SENTENCES = ["The soup was cold .", "Why ?", "It had stood there for an hour ."]


def joined(sentences: list[list]) -> list[str]:
    return [" ".join(token.text for token in sentence) for sentence in sentences]


def test_raw_text_and_its_words_are_cut_into_the_same_sentences() -> None:
    cut = TextSentences()

    assert joined(cut.of_text(TEXT)) == SENTENCES
    assert joined(cut.of_words(" ".join(SENTENCES).split())) == SENTENCES


def test_a_long_sentence_is_cut_into_pieces() -> None:
    pieces = joined(TextSentences(max_sentence_tokens=3).of_text("One two three four five. Six."))

    assert pieces == ["One two three", "four five .", "Six ."]


@pytest.mark.parametrize(
    ("max_tokens", "expected"),
    [(1, ["The"]), (5, SENTENCES[:1]), (6, [SENTENCES[0], "Why"]), (99, SENTENCES)],
)
def test_only_the_first_tokens_are_read(max_tokens: int, expected: list[str]) -> None:
    assert joined(TextSentences(max_tokens=max_tokens).of_text(TEXT)) == expected


def test_a_text_without_words_has_no_sentence() -> None:
    assert TextSentences().of_text(" \n ") == [] == TextSentences().of_words([])
