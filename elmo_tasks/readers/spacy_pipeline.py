import re
from functools import cache

import spacy
from spacy.attrs import ORTH
from spacy.language import Language
from spacy.tokenizer import Tokenizer
from spacy.tokens import Span
from spacy.util import compile_suffix_regex

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.loud_words import is_in_capitals

# spaCy keeps about 500 bytes for each distinct token that a pipeline has seen.
_MAX_STRINGS = 200_000


def blank_pipeline(
    language: str, with_sentences: bool = False, in_capitals: bool = False
) -> Language:
    """
    Returns spaCy's blank pipeline for a language, given by its code. `with_sentences` adds the
    `sentencizer`; `in_capitals` adds rules for text in capitals. Raises `ConfigurationError` if
    spaCy has no rules for the language.

    Calls with the same arguments share a pipeline. After 200,000 distinct tokens, a new pipeline
    takes its place, because spaCy keeps every token in memory. Documents of the old pipeline stay
    valid.
    """
    pipeline = _pipeline(language, with_sentences, in_capitals)
    if len(pipeline.vocab.strings) > _MAX_STRINGS:
        _pipeline.cache_clear()
        pipeline = _pipeline(language, with_sentences, in_capitals)
    return pipeline


@cache
def _pipeline(language: str, with_sentences: bool, in_capitals: bool) -> Language:
    try:
        # Otherwise spaCy would import any of its modules that has this name, such as en.examples.
        if not re.fullmatch("[a-z]{2,3}", language):
            raise ImportError("a code has two or three letters")
        pipeline = spacy.blank(language)
    except ImportError as error:
        raise ConfigurationError(
            f"spaCy cannot tokenize language {language!r:.80}: expected a code such as en or de "
            f"({error})"
        ) from error
    if in_capitals:
        _cut_capitals(pipeline)
    if with_sentences:
        pipeline.add_pipe("sentencizer")
        # spaCy's limit for the length of a text is meant for trained parts, which are missing here.
        pipeline.max_length = 10**8
    return pipeline


def _cut_capitals(pipeline: Language) -> None:
    """Lets a pipeline cut DON'T and JOHN'S. as it cuts don't and john's."""
    tokenizer = pipeline.tokenizer
    if not isinstance(tokenizer, Tokenizer):
        return  # That of Chinese or Thai has no such rules.
    for word, parts in list(tokenizer.rules.items()):
        if re.search("['\u2019]", word) and word.upper() not in tokenizer.rules:
            tokenizer.add_special_case(word.upper(), [{ORTH: part[ORTH].upper()} for part in parts])
    suffixes = [*pipeline.Defaults.suffixes, r"(?<=['\u2019][A-Z])\."]
    tokenizer.suffix_search = compile_suffix_regex(suffixes).search


def pipeline_for(text: str, language: str, with_sentences: bool = False) -> Language:
    """Returns the blank pipeline that cuts a text (see `blank_pipeline`)."""
    return blank_pipeline(language, with_sentences, is_in_capitals(text.split()))


def split_sentences(text: str, language: str = "en") -> list[Span]:
    """
    Cuts raw text into sentences at their final punctuation, with spaCy's `sentencizer`. Sentences
    of white space alone are left out.
    """
    sentences = pipeline_for(text, language, with_sentences=True)(text).sents
    return [sentence for sentence in sentences if sentence.text.strip()]


def tokenized_sentences(text: str, language: str = "en") -> list[str]:
    """Returns the sentences of raw text, each as its tokens with a blank between them."""
    return [
        " ".join(token.text for token in sentence if not token.is_space)
        for sentence in split_sentences(text, language)
    ]
