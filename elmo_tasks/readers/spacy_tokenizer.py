from functools import cache

import spacy
from allennlp.data.tokenizers import Token, Tokenizer
from spacy.language import Language

from elmo_tasks.common.errors import ConfigurationError


@Tokenizer.register("elmo_spacy")
class ElmoSpacyTokenizer(Tokenizer):
    """
    Cuts raw text into words by spaCy's rules for a language. The rules come with spaCy, whereas
    AllenNLP's `spacy` downloads a trained pipeline or reads one from a path. An archive stores only
    the code of the language.

    Registered as a `Tokenizer` with name "elmo_spacy".

    # Parameters

    language : `str`, optional (default = `'en'`)
        spaCy's code of the language. Raises `ConfigurationError` if spaCy has no rules for it.
    """

    def __init__(self, language: str = "en") -> None:
        # Only the language code is kept, so that a data loader sends no pipeline to its workers.
        self.language = language
        _pipeline(language)

    def tokenize(self, text: str) -> list[Token]:
        """
        Returns the tokens that are not white space. A token covers `text[idx:idx_end]`.
        """
        return [
            Token(token.text, idx=token.idx, idx_end=token.idx + len(token))
            for token in _pipeline(self.language).tokenizer(text)
            if not token.is_space
        ]


def load_pipeline(language: str) -> Language:
    """
    Returns a new pipeline with spaCy's rules for a language. Raises `ConfigurationError` if spaCy
    has no rules for it.
    """
    try:
        return spacy.blank(language)
    except ImportError as error:
        raise ConfigurationError(
            f"spaCy cannot tokenize language {language!r}: expected a code such as en or de "
            f"({error})"
        ) from error


_pipeline = cache(load_pipeline)
