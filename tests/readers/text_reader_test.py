from allennlp.data import Instance, Token, Vocabulary
from allennlp.data.token_indexers import SingleIdTokenIndexer, TokenIndexer

from elmo_tasks.readers.text_reader import PassageField


class CountingIndexer(SingleIdTokenIndexer):
    times = 0

    def tokens_to_indices(self, tokens: list[Token], vocabulary: Vocabulary):
        self.times += 1
        return super().tokens_to_indices(tokens, vocabulary)


def shared(indexer: TokenIndexer) -> PassageField:
    field = PassageField([Token("the"), Token("owl")])
    field.token_indexers = {"tokens": indexer}
    return field


def test_text_of_many_instances_is_indexed_once() -> None:
    indexer = CountingIndexer()
    field = shared(indexer)
    instances = [Instance({"passage": field}) for _ in range(5)]
    vocab = Vocabulary.from_instances(instances)

    for instance in instances:
        instance.index_fields(vocab)

    assert indexer.times == 1


def test_another_vocabulary_indexes_it_anew() -> None:
    field = shared(SingleIdTokenIndexer())
    instance = Instance({"passage": field})
    field.index(Vocabulary())
    vocab = Vocabulary.from_instances([instance])

    field.index(vocab)

    ids = field.as_tensor(field.get_padding_lengths())["tokens"]["tokens"]
    assert [vocab.get_token_from_index(index) for index in ids.tolist()] == ["the", "owl"]
