"""
Computes the answers of the page's tabs for the biLM itself: layers of a sentence, senses of a word,
and how likely words are.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy
import torch
from allennlp.data.tokenizers import Token
from torch.nn.functional import normalize

from elmo_tasks.analysis.neighbors.occurrences import Occurrence, principal_plane, similar_words
from elmo_tasks.analysis.tables import layer_name
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.predictors.inputs import check_texts, sentence_input
from elmo_tasks.predictors.text_predictor import Task

# The most tokens of a sentence in the tabs "Layers" and "Words".
_MAX_LAYER_TOKENS = 100
_MAX_WORD_TOKENS = 50

# The numbers of likelier words and of similar words in an answer.
_LIKELIER = 5
_NUM_SIMILAR = 8

# The most occurrences to compare. The matrix of cosines grows with the square of this number.
_MAX_OCCURRENCES = 100

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
    "Says how likely each word is, given the words before it, and given the words after it.",
    (
        {"sentence": "The boat left the bank."},
        {"sentence": "The keys to the cabinet is on the table."},
    ),
    drawing="words",
)

_PLAYS = """
The children play in the garden after school.
We play cards every Sunday evening.
They play football behind the church.
She can play the violin and the harp.
Our dogs play with an old shoe.
I play chess with my uncle.
He will play for the team in May.
Do you play any games at work?
The play opened in London in March.
Her first play is about three sisters.
The critics praised the play and its cast.
We saw a play by a young writer.
The second act of the play is too long.
He wrote the play in only six weeks.
Nobody left the theatre before the play ended.
The school puts on a play each winter.
"""

SENSES = Task(
    "senses",
    "Senses",
    "Shows each occurrence of a word as a dot, near other occurrences with the same sense to the "
    "biLM. "
    "Write a sentence on each line.",
    ({"word": "play", "text": _PLAYS.strip()},),
    drawing="senses",
)

# Cuts raw text into tokens.
Tokenize = Callable[[str], list[Token]]


def layer_cosines(
    sentence_layers: SentenceLayers, tokenize: Tokenize, inputs: Any
) -> dict[str, Any]:
    """
    Computes the cosines between the words of a sentence of at most 100 tokens (see
    `sentence_input`), in each layer. Returns `tokens`, `layers` (their names) and `cosines` (shape
    (layers, tokens, tokens)).
    """
    words = _words_of(inputs, _MAX_LAYER_TOKENS, tokenize)
    (layers,) = sentence_layers.of_tokens([words])
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
    Computes how likely the words of a sentence of at most 50 tokens are (see `sentence_input`).
    Returns `tokens` and, for each token: `known`, whether it is a word of the softmax; `forward`
    and `backward`, its bits (-log2 of its probability) in each direction; and `likely`, the five
    most probable words at its position by `forward`, `backward` and `both`, with their
    probabilities.
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


def senses(sentence_layers: SentenceLayers, tokenize: Tokenize, inputs: Any) -> dict[str, Any]:
    """
    Compares the occurrences of a word in each layer of a biLM. Upper and lower case count as equal.
    The input is `{"word": "play", "text": "raw text, a sentence a line"}`. Raises `ValueError` for
    another input, and if the text lacks the word.

    # Returns

    - `num_occurrences`: the number of all occurrences;
    - `occurrences`: the first 100, each with the `words` of its line and its `position`;
    - `layers`: each has a `name`, the `points` of the occurrences in the plane of their first
      two principal components, and the matrix of their `cosines`;
    - `similar`: pairs of another word of the text and its cosine with `word` in layer 0.
    """
    check_texts(inputs, ("word", "text"))
    word, text = inputs["word"].strip(), inputs["text"]
    sentences = [[token.ensure_text() for token in tokenize(line)] for line in text.splitlines()]
    occurrences = [
        Occurrence(words, position)
        for words in sentences
        for position, candidate in enumerate(words)
        if candidate.casefold() == word.casefold()
    ]
    if not occurrences:
        raise ValueError(f"the text must have the word {word!r:.80}, as a token of its own")
    first_occurrences = occurrences[:_MAX_OCCURRENCES]
    # Shape: (layers, occurrences, dim)
    vectors = _vectors(sentence_layers, first_occurrences)
    # A word has a letter, but not only letters: `isalpha` is false for the vowel signs of Hindi.
    words = {
        candidate.lower()
        for sentence_words in sentences
        for candidate in sentence_words
        if any(map(str.isalpha, candidate))
    }
    other_words = sorted(words - {word.lower()})
    similar = similar_words(sentence_layers.bilm, word, other_words, _NUM_SIMILAR)
    return {
        "num_occurrences": len(occurrences),
        "occurrences": [
            {"words": occurrence.words, "position": occurrence.position}
            for occurrence in first_occurrences
        ],
        "layers": [
            {
                "name": layer_name(index),
                "points": rounded(principal_plane(layer)),
                "cosines": rounded(layer @ layer.T),
            }
            for index, layer in enumerate(vectors)
        ],
        "similar": [[candidate, round(cosine, 4)] for candidate, cosine in similar],
    }


def _vectors(sentence_layers: SentenceLayers, occurrences: list[Occurrence]) -> torch.Tensor:
    # A line is computed once, however often it has the word.
    lines = {id(occurrence.words): occurrence.words for occurrence in occurrences}
    layers_of = dict(zip(lines, sentence_layers.of_tokens(lines.values())))
    vectors = [
        layers_of[id(occurrence.words)][:, occurrence.position].clone()
        for occurrence in occurrences
    ]
    return normalize(torch.stack(vectors, dim=1), dim=-1)


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
