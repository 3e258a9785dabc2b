from allennlp.data import Instance, Token, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_tasks.readers.text_reader import PassageField


class CountingIndexer(SingleIdTokenIndexer):
    times = 0

    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary):
        self.times += 1
        return super().tokens_to_indices(tokens, vocabulary)


def test_text_of_many_instances_is_indexed_once_for_each_vocabulary() -> None:
    indexer, field = CountingIndexer(), PassageField([Token("the"), Token("owl")])
    field.token_indexers = {"tokens": indexer}

    for vocab in (Vocabulary(), Vocabulary.from_instances([Instance({"passage": field})])):
        for instance in [Instance({"passage": field}) for _ in range(5)]:
            instance.index_fields(vocab)

    assert indexer.times == 2
    ids = field.as_tensor(field.get_padding_lengths())["tokens"]["tokens"]
    assert [vocab.get_token_from_index(index) for index in ids.tolist()] == ["the", "owl"]
