from functools import cache

import spacy
from allennlp.data.tokenizers import Token, Tokenizer
from spacy.language import Language

from elmo_tasks.common.errors import ConfigurationError


@Tokenizer.register("elmo_spacy")
class ElmoSpacyTokenizer(Tokenizer):
    """
    Cuts raw text into words by spaCy's rules for a language. AllenNLP's `spacy` needs a trained
    pipeline, which it downloads or reads from a path; rules need neither, and an archive stores
    the code of the language only.

    Registered as a `Tokenizer` with name "elmo_spacy".

    # Parameters

    language : `str`, optional (default = `'en'`)
        Code of a language of spaCy. Raises `ConfigurationError` where spaCy has no rules for it.
    """

    def __init__(self, language: str = "en") -> None:
        # Kept by its code alone, so that a data loader sends no pipeline to its workers.
        self.language = language
        _pipeline(language)

    def tokenize(self, text: str) -> list[Token]:
        """
        # Parameters

        text : `str`

        # Returns

        `list[Token]`
            Those that are not white space, with `idx` and `idx_end`, the characters of `text`
            that each covers.
        """
        return [
            Token(token.text, idx=token.idx, idx_end=token.idx + len(token))
            for token in _pipeline(self.language).tokenizer(text)
            if not token.is_space
        ]


@cache
def _pipeline(language: str) -> Language:
    try:
        return spacy.blank(language)
    except ImportError as error:
        raise ConfigurationError(
            f"spaCy cannot tokenize language {language!r}; a code such as en or de is expected "
            f"({error})"
        ) from error
