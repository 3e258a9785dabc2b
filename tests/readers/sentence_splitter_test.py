from elmo_tasks.readers.sentence_splitter import split_sentences, tokenized_sentences
from elmo_tasks.readers.spacy_tokenizer import ElmoSpacyTokenizer

TEXT = " It isn't bad.  Is it?  Yes!  No end"


def test_sentences_end_at_punctuation() -> None:
    sentences = [sentence.text.strip() for sentence in split_sentences(TEXT)]

    assert sentences == ["It isn't bad.", "Is it?", "Yes!", "No end"]


def test_tokens_are_those_of_the_tokenizer() -> None:
    words = [token.text for token in ElmoSpacyTokenizer().tokenize(TEXT)]

    assert " ".join(tokenized_sentences(TEXT)).split() == words
    assert tokenized_sentences("It's raw.") == ["It 's raw ."]


def test_blank_text_has_no_sentence() -> None:
    assert tokenized_sentences("") == tokenized_sentences(" \t ") == []


def test_the_tokenizer_keeps_its_own_pipeline() -> None:
    tokenized_sentences(TEXT)

    assert [token.text for token in ElmoSpacyTokenizer().tokenize("a b")] == ["a", "b"]
