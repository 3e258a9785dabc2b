from types import SimpleNamespace
from typing import cast

import torch

from benchmarks.sense_pairs import Triple, separated
from elmo_tasks import ElmoEncoder


def encoder(*vectors: list[float]) -> ElmoEncoder:
    """Gives the only word of each sentence three layers, all of which are the sentence's vector."""
    layers = [torch.tensor([vector]).repeat(3, 1, 1) for vector in vectors]
    return cast(ElmoEncoder, SimpleNamespace(layers=lambda sentences: iter(layers)))


def test_a_triple_is_separated_if_the_same_meaning_is_nearer_than_both_others() -> None:
    triple = Triple("bank", (["bank"], ["bank"], ["bank"]))
    money, credit, river = [1.0, 0.0], [1.0, 0.1], [0.0, 1.0]

    assert separated(encoder(money, credit, river), triple).tolist() == [True] * 3
    assert separated(encoder(money, river, credit), triple).tolist() == [False] * 3
    assert separated(encoder(river, money, credit), triple).tolist() == [False] * 3
