import pickle

import torch
from allennlp.data import Batch, Instance, Token, TokenIndexer, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer

from elmo_tasks.readers.char_ids_indexer import CharIdsIndexer

SENTENCES = [["It", "was", "good"], ["<S>", "¡", "x" * 60, "", "so", "</S>"], ["good"]]


def char_ids(indexer: TokenIndexer) -> torch.Tensor:
    fields = [TextField([Token(word) for word in words], {"elmo": indexer}) for words in SENTENCES]
    batch = Batch([Instance({"tokens": field}) for field in fields])
    batch.index_instances(Vocabulary())
    return batch.as_tensor_dict()["tokens"]["elmo"]["elmo_tokens"]


def test_char_ids_of_a_batch_are_those_of_allennlps_indexer() -> None:
    assert torch.equal(char_ids(CharIdsIndexer()), char_ids(ELMoTokenCharactersIndexer()))


def test_char_ids_stay_right_when_the_words_that_are_kept_are_forgotten(monkeypatch) -> None:
    monkeypatch.setattr("elmo_tasks.readers.char_ids_indexer._MAX_WORDS", 1)

    assert torch.equal(char_ids(CharIdsIndexer()), char_ids(ELMoTokenCharactersIndexer()))


def test_empty_text_has_padding_only() -> None:
    indexer = TokenIndexer.by_name("elmo_char_ids")()

    tensors = indexer.as_padded_tensor_dict(indexer.get_empty_token_list(), {"elmo_tokens": 2})

    assert torch.equal(tensors["elmo_tokens"], torch.zeros(2, 50, dtype=torch.long))


def test_an_indexer_that_read_text_is_equal_to_a_new_one_and_is_sent_without_the_words() -> None:
    indexer = CharIdsIndexer()
    unused = len(pickle.dumps(indexer))
    char_ids(indexer)

    assert indexer == CharIdsIndexer()
    assert len(pickle.dumps(indexer)) == unused
