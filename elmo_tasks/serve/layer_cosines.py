from typing import Any

import torch
from torch.nn.functional import normalize

from elmo_tasks.analysis.tables import layer_name
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer

_MAX_TOKENS = 100


def layer_cosines(
    sentence_layers: SentenceLayers, inputs: Any, language: str = "en"
) -> dict[str, Any]:
    """
    Computes the cosines between the words of a sentence in each layer of a biLM.

    # Parameters

    inputs: `{"sentence": "raw text"}`, which spaCy's rules cut into at most 100 tokens.
    language (default `'en'`): spaCy's code of the language.

    # Returns

    `tokens`, `layers` (their names) and `cosines` (nested lists of shape (layers, tokens, tokens)).

    # Raises

    `ValueError`: The input has another form, no token, or too many tokens.
    """
    words = words_of(inputs, _MAX_TOKENS, language)
    (layers,) = sentence_layers([words])
    # Shape: (layers, tokens, tokens)
    units = normalize(layers, dim=-1)
    cosines = units @ units.transpose(1, 2)
    return {
        "tokens": words,
        "layers": [layer_name(index) for index in range(len(layers))],
        "cosines": rounded(cosines),
    }


def words_of(inputs: Any, max_tokens: int, language: str) -> list[str]:
    """
    Returns the tokens of `{"sentence": "raw text"}`. Raises `ValueError` if the input has another
    form, no token, or too many tokens.
    """
    match inputs:
        case {"sentence": str(text)} if len(inputs) == 1:
            words = [token.text for token in ElmoSpacyTokenizer(language).tokenize(text)]
        case _:
            raise ValueError(f'expected {{"sentence": "raw text"}}, but got {inputs!r:.200}')
    if not 1 <= len(words) <= max_tokens:
        raise ValueError(f"the sentence must have 1 to {max_tokens} tokens, not {len(words)}")
    return words


def rounded(values: torch.Tensor) -> list:
    """Returns the values as nested lists, rounded to the digits that a page shows."""
    return torch.round(values.double(), decimals=4).tolist()
