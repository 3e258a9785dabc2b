from typing import Any

import torch
from torch.nn.functional import normalize

from elmo_tasks.analysis.neighbors.occurrences import Occurrence, principal_plane, similar_words
from elmo_tasks.analysis.tables import layer_name
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.predictors.inputs import check_texts
from elmo_tasks.predictors.text_predictor import Task
from elmo_tasks.serve.tools import Tokenize, rounded

# The most occurrences to compare. The matrix of cosines grows with the square of this number.
_MAX_OCCURRENCES = 100
_NUM_SIMILAR = 8

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
_BANKS = """
The bank lends money to small firms.
She opened an account at the bank.
The bank raised its rates in June.
He works for a bank in the city.
The bank closed two hundred branches.
They sat on the bank of the river.
The boat drifted towards the left bank.
Willows grow along the bank of the stream.
We walked down the bank to the water.
The river broke its bank after the rain.
"""

SENSES = Task(
    "senses",
    "Senses",
    "Shows each occurrence of a word as a dot, near those that the biLM reads in the same sense. "
    "Write a sentence on each line.",
    ({"word": "play", "text": _PLAYS.strip()}, {"word": "bank", "text": _BANKS.strip()}),
    drawing="senses",
)


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
    found = [
        Occurrence(words, position)
        for words in sentences
        for position, other in enumerate(words)
        if other.casefold() == word.casefold()
    ]
    if not found:
        raise ValueError(f"the text must have the word {word!r:.80}, as a token of its own")
    shown = found[:_MAX_OCCURRENCES]
    # Shape: (layers, occurrences, dim)
    vectors = _vectors(sentence_layers, shown)
    # Vowel signs, as in Hindi, are no letters to `isalpha`.
    words = {other.lower() for each in sentences for other in each if any(map(str.isalpha, other))}
    others = sorted(words - {word.lower()})
    similar = similar_words(sentence_layers.bilm, word, others, _NUM_SIMILAR)
    return {
        "num_occurrences": len(found),
        "occurrences": [{"words": each.words, "position": each.position} for each in shown],
        "layers": [
            {
                "name": layer_name(index),
                "points": rounded(principal_plane(layer)),
                "cosines": rounded(layer @ layer.T),
            }
            for index, layer in enumerate(vectors)
        ],
        "similar": [[other, round(cosine, 4)] for other, cosine in similar],
    }


def _vectors(sentence_layers: SentenceLayers, occurrences: list[Occurrence]) -> torch.Tensor:
    # A line is computed once, however often it has the word.
    lines = {id(each.words): each.words for each in occurrences}
    computed = dict(zip(lines, sentence_layers(lines.values())))
    vectors = [computed[id(each.words)][:, each.position].clone() for each in occurrences]
    return normalize(torch.stack(vectors, dim=1), dim=-1)
