import math
from typing import Any

from elmo_tasks.scoring.language_model import LanguageModel
from elmo_tasks.serve.layer_cosines import words_of

_MAX_TOKENS = 50
_LIKELIER = 5


def word_bits(model: LanguageModel, inputs: Any, language: str = "en") -> dict[str, Any]:
    """
    Says how likely the words of a sentence are, and which words would be likeliest in their places.

    # Parameters

    inputs: `{"sentence": "raw text"}`, which spaCy's rules cut into at most 50 tokens.
    language (default `'en'`): spaCy's code of the language.

    # Returns

    `tokens`, `known` (whether each token is a word of the softmax), `forward` and `backward` (the
    bits of each token), and `likely`: for each token, the five most probable words in its place
    with their probabilities, for `forward`, `backward` and `both`.

    # Raises

    `ValueError`: The input has another form, no token, or too many tokens.
    """
    words = words_of(inputs, _MAX_TOKENS, language)
    [score] = model.score([words])
    forward, backward = (
        [round(-each / math.log(2), 4) for each in log_probs.tolist()]
        for log_probs in (score.forward, score.backward)
    )
    num_likely = min(_LIKELIER, len(model.softmax.words))
    likely = [model.fill(words, index, num_likely) for index in range(len(words))]
    return {
        "tokens": words,
        "known": score.known,
        "forward": forward,
        "backward": backward,
        "likely": likely,
    }
