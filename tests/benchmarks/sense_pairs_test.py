from types import SimpleNamespace
from typing import cast

import torch

from benchmarks.sense_pairs import Triple, read_triples, separated
from elmo_tasks import ElmoEncoder


def encoder(*vectors: list[float]) -> ElmoEncoder:
    """Gives the only word of each sentence three layers, all of which are the sentence's vector."""
    layers = [torch.tensor([vector]).repeat(3, 1, 1) for vector in vectors]
    return cast(ElmoEncoder, SimpleNamespace(layers=lambda sentences: iter(layers)))


def test_each_triple_has_its_word_in_sentences_of_three_to_ten_words() -> None:
    triples = read_triples()

    assert len(triples) == len({triple.word for triple in triples}) == 20
    for word, sentences in triples:
        assert all(3 <= len(sentence) <= 10 and word in sentence for sentence in sentences)


def test_a_triple_is_separated_if_the_same_meaning_is_nearer_than_both_others() -> None:
    triple = Triple("bank", (["bank"], ["bank"], ["bank"]))
    money, credit, river = [1.0, 0.0], [1.0, 0.1], [0.0, 1.0]

    assert separated(encoder(money, credit, river), triple).tolist() == [True] * 3
    assert separated(encoder(money, river, credit), triple).tolist() == [False] * 3
    assert separated(encoder(river, money, credit), triple).tolist() == [False] * 3
