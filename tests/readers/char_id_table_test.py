import pytest
import torch
from allennlp.data import Batch, Instance, Token, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer, SingleIdTokenIndexer
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.readers.char_id_table import CharIdTable

WORDS = ["a", "b", "<S>", "</S>", "naïve", "x" * 60, "@@UNKNOWN@@", "new"]
VOCAB = Vocabulary(tokens_to_add={"tokens": WORDS[:-1]})


def indexed(sentences: list[list[str]]) -> dict[str, dict[str, torch.Tensor]]:
    """As AllenNLP's own indexers have it."""
    indexers = {"elmo": ELMoTokenCharactersIndexer(), "tokens": SingleIdTokenIndexer()}
    fields = [TextField([Token(word) for word in words], indexers) for words in sentences]
    batch = Batch([Instance({"tokens": field}) for field in fields])
    batch.index_instances(VOCAB)
    return batch.as_tensor_dict()["tokens"]


words = st.sampled_from(WORDS) | st.text(st.characters(codec="utf-8"), min_size=1, max_size=60)


@given(st.lists(st.lists(st.lists(words, min_size=1), min_size=1, max_size=4), min_size=1))
def test_tensors_are_those_of_allennlps_indexers(batches: list[list[list[str]]]) -> None:
    table = CharIdTable(VOCAB)

    for sentences in batches:
        torch.testing.assert_close(table.tensors(sentences), indexed(sentences), rtol=0, atol=0)


@pytest.mark.parametrize("max_words", [10, 100_000])
def test_a_table_that_grows_or_starts_anew_gives_the_same(max_words: int) -> None:
    table = CharIdTable(VOCAB, max_words=max_words)

    # More words than the table has places for at first.
    for start in range(0, 3000, 500):
        sentences = [[f"w{number}" for number in range(start, start + 500)], ["a", "b"]]
        torch.testing.assert_close(table.tensors(sentences), indexed(sentences), rtol=0, atol=0)
        torch.testing.assert_close(table.tensors([["a"]]), indexed([["a"]]), rtol=0, atol=0)
