import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader
from allennlp.data.dataset_readers.dataset_reader import DistributedInfo, WorkerInfo

from elmo_tasks.analysis.neighbors.occurrences import search
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.sentences import SentencesReader, _read_whole
from elmo_tasks.readers.squad import SquadReader
from elmo_tasks.readers.sst import SstReader
from tests.helpers.configs import ROOT, tiny
from tests.helpers.reading import words, write_file

FIXTURE = ROOT / "fixtures" / "corpus" / "train.txt"
SNLI_FIELDS = ("sentence1", "sentence2")
LINES = [line.split() for line in FIXTURE.read_text(encoding="utf-8").splitlines()]


def read(path: Path | str, **arguments: Any) -> list[list[str]]:
    return list(SentencesReader(**arguments).sentences(str(path)))


def test_a_sentence_is_a_line(caplog: pytest.LogCaptureFixture) -> None:
    assert len(LINES) > 80
    assert read(FIXTURE) == LINES
    assert "lines" not in caplog.text


@pytest.mark.parametrize("name", ["text.jsonl", "text.CSV.gz", "text.conllu"])
def test_rows_and_columns_are_no_sentences(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text('{"text": "Rain fell ."}\n')
    pattern = str(tmp_path / "text.*")
    reader = SentencesReader()

    for read in (
        reader.check,
        lambda path: list(reader.read(path)),
        lambda path: search(path, "Rain", 1),
    ):
        with pytest.raises(ConfigurationError, match=f"{name} is a file of the kind .* on a line"):
            read(pattern)


def test_boundaries_written_by_hand_are_said_once_for_each_file(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_file(tmp_path / "1.txt", "a boat\n<S> a bank </S>\n<S> a boat </S>\n")
    write_file(tmp_path / "2.txt", "a boat </S>\n")
    write_file(tmp_path / "3.txt", "a boat </s> a</S>\n")
    reader = SentencesReader()

    first = list(reader.sentences(str(tmp_path / "*.txt")))
    again = list(reader.sentences(str(tmp_path / "*.txt")))

    assert first == again and first[1] == ["<S>", "a", "bank", "</S>"]
    lines = [message for message in caplog.messages if "<S> or </S>" in message]
    assert len(lines) == 2
    assert lines[0].startswith(f"{tmp_path / '1.txt'}: 4 words are ")
    assert "sentence 2" in lines[0] and "remove them" in lines[0]
    assert lines[1].startswith(f"{tmp_path / '2.txt'}: 1 words are")


def test_boundaries_in_the_text_of_a_task_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_file(tmp_path / "trees.txt", "(2 (2 <S>) (2 boat))")

    list(SentencesReader(reader=SstReader()).sentences(str(path)))

    assert f"{path}: 1 words" in caplog.text


def test_files_are_read_in_the_order_that_is_asked_for(tmp_path: Path) -> None:
    write_file(tmp_path / "1.txt.gz", gzip.compress(b"one\n"))
    write_file(tmp_path / "2.txt", "two\n")
    pattern = str(tmp_path / "*.txt*")

    assert read(pattern) == [["one"], ["two"]]
    assert list(SentencesReader().sentences(pattern, [1, 0])) == [["two"], ["one"]]
    # With max_instances every epoch has the same lines, which the vocabulary has counted.
    assert list(SentencesReader(max_instances=1).sentences(pattern, [1, 0])) == [["one"]]


def test_empty_lines_are_left_out_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write_file(tmp_path / "text", "a b\n\n  \t\nc\n\n")

    assert read(path) == [["a", "b"], ["c"]]
    assert f"{path}: 3 empty lines left out, 0 lines of more than 256" in caplog.text


def test_of_a_line_of_10_000_tokens_nothing_is_lost(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    line = [f"w{number}" for number in range(10_000)]
    path = write_file(tmp_path / "text", f"a b\n{' '.join(line)}\nc\n")

    first, *pieces, last = read(path, max_tokens=300)

    assert (first, last) == (["a", "b"], ["c"])
    assert [len(piece) for piece in pieces] == 33 * [300] + [100]
    assert [word for piece in pieces for word in piece] == line
    assert "1 lines of more than 300 tokens cut" in caplog.text


@pytest.mark.parametrize("max_instances", [None, 50])
def test_shards_of_ranks_and_workers_are_a_partition(
    max_instances: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards, instances = [], []
    for rank in range(3):
        monkeypatch.setattr("allennlp.common.util.is_distributed", lambda: True)
        monkeypatch.setattr("torch.distributed.get_rank", lambda rank=rank: rank)
        monkeypatch.setattr("torch.distributed.get_world_size", lambda: 3)
        for worker in range(2):
            reader = SentencesReader(max_instances=max_instances)
            reader._set_worker_info(WorkerInfo(2, worker))
            shards += list(reader.sentences(str(FIXTURE)))
        # AllenNLP's limit is for each process, and ours for all of them.
        reader = SentencesReader(max_instances=max_instances)
        reader._set_distributed_info(DistributedInfo(3, rank))
        instances += [words(each)[1:-1] for each in reader.read(str(FIXTURE))]

    assert sorted(shards) == sorted(instances) == sorted(LINES[:max_instances])


def test_each_text_of_a_pair_is_read_once_as_its_tokens() -> None:
    path = ROOT / "fixtures" / "snli.jsonl"
    pairs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    labelled = [pair for pair in pairs if pair["gold_label"] != "-"]

    params = Params(tiny("snli", "paper")["dataset_reader"])
    found = ["".join(words) for words in read(path, reader=DatasetReader.from_params(params))]

    # The tokens of a text are its characters, cut at more places.
    texts = {pair[name].replace(" ", "") for pair in labelled for name in SNLI_FIELDS}
    assert len(found) == len(texts) and set(found) == texts


def test_of_questions_and_passages_the_passages_alone_are_read() -> None:
    path, task = str(ROOT / "fixtures" / "squad.json"), SquadReader()
    passages = [" ".join(map(str, each["passage"].tokens)) for each in task.read(path)]

    found = list(map(" ".join, SentencesReader(10_000, reader=task).sentences(path)))

    assert found == list(dict.fromkeys(passages)) and 1 < len(found) < len(passages)


def test_a_file_of_a_task_that_was_written_again_is_read_again(tmp_path: Path) -> None:
    trees = ["(2 (2 one) (2 boat))", "(2 (2 two) (2 boats))"]
    path = tmp_path / "trees.txt"
    reader = SentencesReader(reader=SstReader())

    found: list[list[str]] = []
    for tree in trees:
        path.write_text(tree)
        reader.check(str(path))
        found += reader.sentences(str(path))

    assert found == [["one", "boat"], ["two", "boats"]]


def test_several_reads_of_a_task_may_take_turns() -> None:
    path = str(ROOT / "fixtures" / "sst.txt")
    reader = SstReader()
    reader._set_distributed_info(DistributedInfo(2, 1))
    first = _read_whole(reader, path)

    begin = [next(first)]
    inner = list(_read_whole(reader, path))

    assert len(begin) + len(list(first)) == len(inner) == 10
    assert reader.get_distributed_info() == DistributedInfo(2, 1)
