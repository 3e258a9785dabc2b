from functools import cache

from spacy.language import Language
from spacy.tokens import Span

from elmo_tasks.readers.spacy_tokenizer import load_pipeline


def split_sentences(text: str, language: str = "en") -> list[Span]:
    """
    Cuts raw text into sentences, at the punctuation that ends them, by spaCy's `sentencizer`.

    # Parameters

    text : `str`
    language : `str`, optional (default = `'en'`)
        spaCy's code of the language, whose rules cut the text into tokens.

    # Returns

    `list[Span]`
        The sentences that have a token other than white space.
    """
    sentences = _sentencizer(language)(text).sents
    return [sentence for sentence in sentences if sentence.text.strip()]


def tokenized_sentences(text: str) -> list[str]:
    """Returns the sentences of an English text, each as its tokens with a blank between them."""
    return [
        " ".join(token.text for token in sentence if not token.is_space)
        for sentence in split_sentences(text)
    ]


@cache
def _sentencizer(language: str) -> Language:
    pipeline = load_pipeline(language)
    pipeline.add_pipe("sentencizer")
    # The parts of a pipeline bound the memory that they need. The sentencizer needs hardly any.
    pipeline.max_length = 10**8
    return pipeline
