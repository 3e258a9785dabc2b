from functools import cache

import spacy
from spacy.language import Language

from elmo_tasks.common.errors import ConfigurationError


@cache
def blank_pipeline(language: str, with_sentences: bool = False) -> Language:
    """
    Returns spaCy's rules for a language, which come with spaCy.

    # Parameters

    language : `str`
        spaCy's code of the language. Raises `ConfigurationError` if spaCy has no rules for it.
    with_sentences : `bool`, optional (default = `False`)
        Whether the pipeline also cuts a text into sentences, by spaCy's `sentencizer`.
    """
    try:
        pipeline = spacy.blank(language)
    except ImportError as error:
        raise ConfigurationError(
            f"spaCy cannot tokenize language {language!r}: expected a code such as en or de "
            f"({error})"
        ) from error
    if with_sentences:
        pipeline.add_pipe("sentencizer")
        # spaCy bounds the length of a text by the memory that trained parts of a pipeline need.
        pipeline.max_length = 10**8
    return pipeline
