"""The tabs of the biLM itself: how words are alike in each layer, and how likely they are."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy
import torch
from allennlp.data.tokenizers import Token
from torch.nn.functional import normalize

from elmo_tasks.analysis.tables import layer_name
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.predictors.inputs import sentence_input
from elmo_tasks.predictors.text_predictor import Task

_MAX_LAYER_TOKENS = 100
_MAX_WORD_TOKENS = 50
_LIKELIER = 5

LAYERS = Task(
    "layers",
    "Layers",
    "Shows which words of a sentence are alike in each layer of the biLM: the cosines of their "
    "vectors.",
    (
        {"sentence": "The players play a play in the old theatre."},
        {"sentence": "The bank on the left bank of the river lends money."},
    ),
    drawing="layers",
)

WORDS = Task(
    "words",
    "Words",
    "Says how likely each word is after the words before it, and before the words after it.",
    (
        {"sentence": "The boat left the bank."},
        {"sentence": "The keys to the cabinet is on the table."},
    ),
    drawing="words",
)

# Cuts raw text into tokens.
Tokenize = Callable[[str], list[Token]]


class Tool(NamedTuple):
    """A tab of the biLM, and the function that answers an input of it."""

    task: Task
    answer: Callable[[Any], dict[str, Any]]


def layer_cosines(
    sentence_layers: SentenceLayers, tokenize: Tokenize, inputs: Any
) -> dict[str, Any]:
    """
    Computes the cosines between the words of a sentence (see `sentence_input`), of at most 100
    tokens, in each layer. Returns `tokens`, `layers` (their names) and `cosines` (shape (layers,
    tokens, tokens)).
    """
    words = _words_of(inputs, _MAX_LAYER_TOKENS, tokenize)
    (layers,) = sentence_layers([words])
    # Shape: (layers, tokens, tokens)
    units = normalize(layers, dim=-1)
    cosines = units @ units.transpose(1, 2)
    return {
        "tokens": words,
        "layers": [layer_name(index) for index in range(len(layers))],
        "cosines": rounded(cosines),
    }


def word_bits(model: LanguageModel, tokenize: Tokenize, inputs: Any) -> dict[str, Any]:
    """
    Returns the `tokens` of a sentence (see `sentence_input`) of at most 50 tokens, `known` (whether
    each is a word of the softmax), `forward` and `backward` (the bits of each), and `likely`: the
    five most probable words in the place of each with their probabilities, for `forward`,
    `backward` and `both`.
    """
    words = _words_of(inputs, _MAX_WORD_TOKENS, tokenize)
    [score] = model.score([words])
    num_likely = min(_LIKELIER, len(model.softmax.words) - 1)
    return {
        "tokens": words,
        "known": score.known,
        "forward": _bits(score.forward),
        "backward": _bits(score.backward),
        "likely": [model.fill(words, index, num_likely) for index in range(len(words))],
    }


def _bits(log_probs: numpy.ndarray) -> list[float]:
    return rounded(torch.as_tensor(log_probs).double() / -math.log(2))


def rounded(values: torch.Tensor) -> list:
    """Returns the values as nested lists, rounded to the digits that a page shows."""
    return torch.round(values.double(), decimals=4).tolist()


def _words_of(inputs: Any, max_tokens: int, tokenize: Tokenize) -> list[str]:
    words = [token.ensure_text() for token in sentence_input(inputs, tokenize).tokens]
    if len(words) > max_tokens:
        raise ValueError(f"the sentence must have at most {max_tokens} tokens, not {len(words)}")
    return words
