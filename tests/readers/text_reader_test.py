from pathlib import Path

import pytest
from allennlp.data import DatasetReader, Instance, Token, Vocabulary
from allennlp.data.dataset_readers import WorkerInfo
from allennlp.data.token_indexers import SingleIdTokenIndexer

from elmo_tasks.readers.snli import SnliReader
from elmo_tasks.readers.sst import SstReader
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


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (SstReader("2-class"), "(2 (2 It) (2 is))"),
        (SstReader(min_phrase_tokens=3), "(2 (2 It) (2 is))"),
        (SnliReader(), '{"sentence1": "a", "sentence2": "b", "gold_label": "-"}'),
    ],
)
def test_file_of_which_nothing_is_left_is_refused(
    reader: DatasetReader, text: str, tmp_path: Path
) -> None:
    path = tmp_path / "data.txt"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(ValueError, match="data.txt: nothing to learn or to score is left"):
        list(reader.read(path))

    reader._set_worker_info(WorkerInfo(2, 0))
    assert not list(reader.read(path))
