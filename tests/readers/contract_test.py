"""What the readers of all tasks promise."""

import copy
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader, Instance
from allennlp.data.dataset_readers import WorkerInfo

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.fraction import FractionReader
from tests.helpers.configs import TASKS, tiny
from tests.helpers.promises import RefusedSetting, of_every_reader

# IMDB has the reader of `classify`; the others are no tasks.
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


FRACTION = {"type": "elmo_fraction", "reader": {"type": "elmo_conll"}}
# What the readers of the tasks refuse, and then those of no task.
REFUSED_SETTINGS: list[RefusedSetting] = [
    *of_every_reader("REFUSED_SETTINGS"),
    ({"type": "elmo_sentences", "max_tokens": 0}, "max_tokens must be"),
    *[({**FRACTION, "fraction": each}, "above 0 and at most 1, not") for each in (0, -0.5, 1.01)],
]


@pytest.mark.parametrize(("params", "message"), REFUSED_SETTINGS)
def test_settings_that_cannot_be_are_refused(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        DatasetReader.from_params(Params(copy.deepcopy(params)))


@pytest.mark.parametrize(("name", "arguments", "message"), of_every_reader("WITHOUT_WORDS"))
def test_a_text_without_a_word_is_refused(
    name: str, arguments: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        DatasetReader.by_name(name)().text_to_instance(*arguments)


@pytest.mark.parametrize(("reader", "content", "words"), of_every_reader("REFUSED"))
def test_what_cannot_be_read_is_refused_with_its_file_and_place(
    reader: str | dict[str, Any],
    content: str | bytes | Mapping[str, object],
    words: str,
    tmp_path: Path,
) -> None:
    params = {"type": reader} if isinstance(reader, str) else dict(reader)
    suffix = "jsonl" if params["type"] == "elmo_classify" or isinstance(content, Mapping) else "txt"
    path = tmp_path / f"in.{suffix}"
    if isinstance(content, Mapping):
        content = json.dumps(content)
    path.write_bytes(content.encode() if isinstance(content, str) else content)

    with pytest.raises(ValueError) as refused:
        list(DatasetReader.from_params(Params(params)).read(path))

    message = str(refused.value)
    assert re.match(words, message.removeprefix(str(path))), message
