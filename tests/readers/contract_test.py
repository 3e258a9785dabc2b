"""What the readers of all tasks promise."""

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader, Instance
from allennlp.data.dataset_readers import WorkerInfo

from elmo_tasks.readers.fraction import FractionReader
from tests.helpers.configs import SHIPPED, tiny

# IMDB has the reader of `classify`; the others are no tasks.
TASKS = [name for name in SHIPPED if name not in ("bilm", "imdb", "probe")]
every_task = pytest.mark.parametrize("task", TASKS)


def made(task: str) -> tuple[DatasetReader, str]:
    """Returns the reader of a task's config, and the path of the fixture."""
    config = tiny(task, "baseline")
    return DatasetReader.from_params(Params(config["dataset_reader"])), config["train_data_path"]


def described(instances: Iterable[Instance]) -> list[str]:
    """Returns all that the instances have, in an order that does not depend on theirs."""
    fields = [instance.human_readable_dict() for instance in instances]
    return sorted(json.dumps(each, default=str, sort_keys=True) for each in fields)


@every_task
@pytest.mark.parametrize("num_workers", [2, 12])
def test_workers_share_the_instances_out(task: str, num_workers: int) -> None:
    instances = []
    for worker in range(num_workers):
        reader, path = made(task)
        reader._set_worker_info(WorkerInfo(num_workers, worker))
        instances += list(reader.read(path))

    reader, path = made(task)
    assert described(instances) == described(reader.read(path)) != []


@every_task
def test_a_fraction_of_the_instances_can_be_read(task: str) -> None:
    reader, path = made(task)
    everything = described(reader.read(path))

    read = described(FractionReader(reader, 0.5).read(path))

    assert 0 < len(read) < len(everything)
    assert set(read) <= set(everything)


@every_task
def test_a_missing_file_is_refused(task: str) -> None:
    reader, path = made(task)
    missing = path.replace("fixtures/", "fixtures/no_")

    with pytest.raises(FileNotFoundError, match=missing):
        list(reader.read(missing))


@pytest.mark.parametrize(
    ("task", "content"),
    [
        ("ner", b"Oslo NNP B-NP I-LOC\nMalm\xe9 NNP B-NP I-LOC\n"),
        (
            "snli",
            b'{"sentence1": "a", "sentence2": "b", "gold_label": "neutral"}\n{"x": "caf\xe9"}',
        ),
        ("sst", b"(3 good)\n(3 caf\xe9)\n"),
    ],
)
def test_a_line_that_is_not_utf_8_is_refused_with_its_file_and_number(
    task: str, content: bytes, tmp_path: Path
) -> None:
    (tmp_path / "data.txt").write_bytes(content)

    with pytest.raises(ValueError, match="data.txt:2: not UTF-8: .*0xe9"):
        list(made(task)[0].read(tmp_path / "data.txt"))
