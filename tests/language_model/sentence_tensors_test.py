import torch
from allennlp.data import Batch, Instance, Token, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.language_model.sentence_tensors import SentenceTensors
from elmo_tasks.readers.indexers import WordIdIndexer

WORDS = ["a", "b", "<S>", "</S>", "naïve", "x" * 60, "@@PADDING@@", "@@UNKNOWN@@", "new"]
VOCAB = Vocabulary(tokens_to_add={"tokens": WORDS[:-1]})

words = st.sampled_from(WORDS) | st.text(st.characters(codec="utf-8"), min_size=1, max_size=60)


def indexed(sentences: list[list[str]]) -> dict[str, dict[str, torch.Tensor]]:
    """Returns the tensors that the indexers of a reader make."""
    indexers = {"elmo": ELMoTokenCharactersIndexer(), "tokens": WordIdIndexer()}
    fields = [TextField([Token(word) for word in words], indexers) for words in sentences]
    batch = Batch([Instance({"tokens": field}) for field in fields])
    batch.index_instances(VOCAB)
    return batch.as_tensor_dict()["tokens"]


@given(st.lists(st.lists(st.lists(words, min_size=1), min_size=1, max_size=4), min_size=1))
def test_tensors_are_those_of_a_readers_indexers(batches: list[list[list[str]]]) -> None:
    tensors = SentenceTensors(VOCAB)

    for sentences in batches:
        torch.testing.assert_close(tensors(sentences), indexed(sentences), rtol=0, atol=0)


def test_windows_have_the_characters_of_what_is_read_and_the_ids_of_what_is_predicted() -> None:
    batch = [[("<S>", "a"), ("a", "new"), ("naïve", "</S>")], [("</S>", "b")], []]

    tensors = SentenceTensors(VOCAB).windows(batch)

    read = [["<S>", "a", "naïve"], ["</S>"], []]
    predicted = [["a", "new", "</S>"], ["b"], []]
    assert tensors.keys() == {"elmo", "targets"}
    torch.testing.assert_close(tensors["elmo"], indexed(read)["elmo"], rtol=0, atol=0)
    torch.testing.assert_close(tensors["targets"], indexed(predicted)["tokens"], rtol=0, atol=0)
