from spacy.tokens import Span

from elmo_tasks.readers.spacy_pipeline import blank_pipeline


def split_sentences(text: str, language: str = "en") -> list[Span]:
    """
    Cuts raw text into sentences at their final punctuation, with spaCy's `sentencizer`.

    # Parameters

    language (default `'en'`): spaCy's code of the language. Its rules cut the text into tokens.

    # Returns

    The sentences. Sentences of white space alone are left out.
    """
    sentences = blank_pipeline(language, with_sentences=True)(text).sents
    return [sentence for sentence in sentences if sentence.text.strip()]


def tokenized_sentences(text: str, language: str = "en") -> list[str]:
    """
    Returns the sentences of raw text. Each is a string of its tokens with a blank between them.
    """
    return [
        " ".join(token.text for token in sentence if not token.is_space)
        for sentence in split_sentences(text, language)
    ]
