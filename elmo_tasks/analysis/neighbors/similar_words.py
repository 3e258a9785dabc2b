from collections.abc import Sequence

import torch
from torch.nn.functional import normalize

from elmo_tasks.bilm import BiLm
from elmo_tasks.bilm.characters import batch_char_ids


def similar_words(
    bilm: BiLm, word: str, words: Sequence[str], num_words: int
) -> list[tuple[str, float]]:
    """
    Returns the words that are nearest to `word` in layer 0, x^LM, with their cosines. In this layer
    a word has the same vector in all contexts.

    # Parameters

    words: The words to compare; `word` itself is left out.
    num_words: The number of words to return.
    """
    others = [other for other in words if other != word]
    char_ids = batch_char_ids([[word, *others]])[0]
    with torch.no_grad():
        x = normalize(bilm.token_layer(char_ids.to(bilm.like.device)).cpu())
    cosines, rows = (x[1:] @ x[0]).topk(min(num_words, len(others)))
    return [(others[row], cosine) for row, cosine in zip(rows.tolist(), cosines.tolist())]
