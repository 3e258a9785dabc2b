from copy import deepcopy

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.modules import TokenEmbedder

SETTINGS = {
    "embedding": {"embedding_dim": 3, "num_embeddings": 9},
    "encoder": {"type": "cnn", "embedding_dim": 3, "num_filters": 4, "ngram_filter_sizes": [2]},
}


@pytest.mark.parametrize("dropout", [0, 0.5])
def test_output_and_gradients_are_those_of_allennlps(dropout: float) -> None:
    theirs, ours = (
        TokenEmbedder.from_params(
            Params(deepcopy({"type": name, "dropout": dropout, **SETTINGS})), vocab=Vocabulary()
        )
        for name in ("character_encoding", "elmo_character_encoding")
    )
    ours.load_state_dict(theirs.state_dict())
    words = torch.tensor([[1, 2, 3], [4, 5, 0], [1, 2, 3], [0, 0, 0], [8, 7, 0], [4, 5, 0]])
    weights = torch.rand(2, 3, 4)
    results = []

    for embedder in (theirs, ours):
        torch.manual_seed(0)
        vectors = embedder(words.view(2, 3, 3))
        (vectors * weights).sum().backward()
        results.append([vectors, *(parameter.grad for parameter in embedder.parameters())])

    for expected, result in zip(*results, strict=True):
        torch.testing.assert_close(result, expected)
