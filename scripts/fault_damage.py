"""
Damages files of each kind by chance, and says how elmo_tasks answers: clearly, rightly, or badly.

`scripts/faults.py` prints the rows of `damage_table`. Every answer is computed in a process of its
own, so that a crash is an answer as well.
"""

import copy
import json
import multiprocessing
import os
import random
import re
import resource
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
from allennlp.data import DatasetReader
from allennlp.data.data_loaders import SimpleDataLoader

import elmo_tasks.plugin  # noqa: F401  registers the readers
from elmo_tasks.analysis.check import check
from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.bilm import make_bilm
from elmo_tasks.commands.command import message_of
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.elmo.store import LayerStore
from elmo_tasks.training.checkpointer import ElmoCheckpointer
from elmo_tasks.training.trainer import ElmoTrainer

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures"
BILM = FIXTURES / "bilm"

# An answer may take this many seconds and megabytes more than the undamaged file.
MOST_SECONDS = 60
MOST_MEGABYTES = 300

# The most characters of a message on a line of data, which may quote a part of the line.
MOST_CHARACTERS = 500

SENTENCES = [line.split() for line in ("The old dog sleeps .", "A film .", "It plays every note .")]


class Row(NamedTuple):
    """How damaged files of one kind were answered."""

    kind: str
    tried: int
    # Refused with one line that says what is wrong.
    clear: int
    # Read all the same: the damage was repaired, is not in what is read, or left a valid file.
    right: int
    # What happened with each of the others.
    bad: list[str]


class Kind(NamedTuple):
    """A kind of file."""

    # Writes a whole file to a folder, with what it needs, and returns its path.
    make: Callable[[Path], Path]
    # Reads the file as a command does, and returns what was read.
    read: Callable[[Path], Any]
    # Changes the content of the file and leaves its format whole.
    change: Callable[[Path, random.Random], None] | None = None
    # Whether the format has checksums, so that what is read must be that of the whole file.
    must_equal: bool = False
    # Whether an error must begin with the file and the line, and be short.
    has_lines: bool = False


def damage_table(seed: int, files_per_kind: int, kinds: list[str] | None = None) -> list[Row]:
    """Damages so many files of each kind, by default of all, and returns how they were answered."""
    return [
        _row(name, KINDS[name], random.Random(f"{seed} {name}"), files_per_kind)
        for name in kinds or KINDS
    ]


def _row(name: str, kind: Kind, chance: random.Random, num_files: int) -> Row:
    answers, bad = Counter[str](), []
    with tempfile.TemporaryDirectory() as folder:
        path = kind.make(Path(folder))
        whole = path.read_bytes()
        expected = kind.read(path)
        for _ in range(num_files):
            path.write_bytes(whole)
            change = damage(path, kind, chance)
            compared = expected if kind.must_equal else None
            answer = _in_child(partial(_answer, kind, path, compared))
            answers[answer] += 1
            if answer not in ("clear", "right"):
                bad.append(f"{change}: {answer}")
    return Row(name, num_files, answers["clear"], answers["right"], bad)


def _answer(kind: Kind, path: Path, expected: Any) -> str:
    """Reads a damaged file. Returns `clear`, `right`, or what went wrong."""
    try:
        content = kind.read(path)
    except (Exception, SystemExit) as error:
        is_clear = _is_clear(error) and (not kind.has_lines or is_located(error, path))
        message = " ".join(str(error).split())
        return "clear" if is_clear else f"{type(error).__name__}: {message:.200}"
    return "right" if expected is None or _equal(content, expected) else "read wrongly"


def _is_clear(error: BaseException) -> bool:
    """Returns whether a command ends with one line of ours for this error."""
    if isinstance(error, SystemExit):
        return isinstance(error.code, str)
    of_input = isinstance(error, json.JSONDecodeError | UnicodeDecodeError)
    if isinstance(error, ValueError) and not (of_input or _raised_here(error)):
        # A command shows the words of a library, which may be about anything.
        return False
    return message_of(error) is not None


def _raised_here(error: BaseException) -> bool:
    """Returns whether an error was raised by a line of elmo_tasks."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    raising = "" if trace is None else trace.tb_frame.f_globals.get("__name__", "")
    return raising.startswith("elmo_tasks.")


def is_located(error: BaseException, path: Path) -> bool:
    """
    Returns whether the message is one short line that begins with a file and a line in it, or the
    place in the JSON of SQuAD.
    """
    message = str(error)
    position = re.match(rf"{re.escape(str(path))}:([1-9]\d*| data\S*| the file): ", message)
    return (
        position is not None and len(message.splitlines()) == 1 and len(message) <= MOST_CHARACTERS
    )


def _equal(content: Any, expected: Any) -> bool:
    if isinstance(expected, torch.Tensor):
        return isinstance(content, torch.Tensor) and torch.equal(content, expected)
    if isinstance(expected, dict):
        return content.keys() == expected.keys() and all(
            _equal(content[key], value) for key, value in expected.items()
        )
    return content == expected


def _in_child(answer: Callable[[], str]) -> str:
    """Returns the answer of a process of its own, or what ended the process."""
    context = multiprocessing.get_context("fork")
    reading, writing = context.Pipe(duplex=False)
    child = context.Process(target=lambda: writing.send(_measure(answer)))
    child.start()
    writing.close()
    child.join(MOST_SECONDS)
    if child.exitcode is None:
        child.kill()
        child.join()
        return f"no answer in {MOST_SECONDS} s"
    try:
        return reading.recv()
    except EOFError:
        return f"the process ended with {child.exitcode}"


def _measure(answer: Callable[[], str]) -> str:
    """Returns the answer, or how much memory it took if that is too much; prints nothing."""
    devnull = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(devnull, number)
    # The most memory of a child begins with that of its parent.
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = answer()
    megabytes = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e3
    return result[:4000] if megabytes <= MOST_MEGABYTES else f"{megabytes:,.0f} MB more memory"


# Damage.


def damage(path: Path, kind: Kind, chance: random.Random) -> str:
    """Damages a file, and returns the name of the damage."""
    if kind.change is not None and chance.random() < 0.4:
        kind.change(path, chance)
        return "change"
    content = bytearray(path.read_bytes())
    start = _place(content, chance)
    end = min(start + chance.choice([1, 8, 100, 1000]), len(content))
    way = chance.choice(["flip", "cut", "insert", "remove", "scribble", "zero"])
    match way:
        case "flip":
            content[start] ^= 1 << chance.randrange(8)
        case "cut":
            del content[start:]
        case "insert":
            content[start:start] = chance.randbytes(end - start)
        case "remove":
            del content[start:end]
        case "scribble":
            content[start:end] = chance.randbytes(end - start)
        case _:
            content[start:end] = bytes(end - start)
    path.write_bytes(content)
    return way


def _place(content: bytearray, chance: random.Random) -> int:
    """Returns an index, which is often in the headers at the beginning or the end."""
    size = len(content)
    if size == 0:
        # An empty file can only grow.
        content.append(0)
        return 0
    share = chance.random()
    if share < 0.3:
        return chance.randrange(min(size, 4096))
    return size - 1 - chance.randrange(min(size, 1024)) if share < 0.4 else chance.randrange(size)


_VALUES: list[Any] = [None, True, 0, -1, 10**12, 1e30, 0.5, "", "x", [], {}, [[]], {"x": 1}]
_VALUES += ["\ud800", "é" * 99]


def _change_text(text: str, chance: random.Random) -> str:
    """Returns JSON in which something is removed, renamed, swapped or replaced somewhere."""
    value = json.loads(text)
    places = list(_places(value))
    if not places:
        return text
    parent, key = chance.choice(places)
    way = chance.randrange(4)
    if way == 0:
        del parent[key]
    elif way == 1 and isinstance(parent, dict):
        parent[f"{key}x"] = parent.pop(key)
    elif way == 2:
        other, other_key = chance.choice(places)
        one, two = copy.deepcopy((parent[key], other[other_key]))
        parent[key], other[other_key] = two, one
    else:
        parent[key] = copy.deepcopy(chance.choice(_VALUES))
    return json.dumps(value)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    is_list = isinstance(value, list)
    for key in range(len(value)) if is_list else value if isinstance(value, dict) else ():
        yield value, key
        yield from _places(value[key])


def _change_json(path: Path, chance: random.Random) -> None:
    path.write_text(_change_text(path.read_text(encoding="utf-8"), chance), encoding="utf-8")


def _change_json_line(path: Path, chance: random.Random) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    index = chance.randrange(len(lines))
    lines[index] = _change_text(lines[index], chance)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _change_columns(path: Path, chance: random.Random) -> None:
    """Removes, swaps or doubles columns of a line, or swaps the lines of a text."""
    lines = path.read_text(encoding="utf-8").splitlines()
    index = chance.randrange(len(lines))
    words = lines[index].split(" ")
    match chance.randrange(3):
        case 0:
            del words[chance.randrange(len(words))]
        case 1:
            chance.shuffle(words)
        case _:
            words.insert(chance.randrange(len(words)), chance.choice(words))
    lines[index] = " ".join(words)
    if chance.random() < 0.25:
        chance.shuffle(lines)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


# Kinds of files.


def _copy_to(source: Path) -> Callable[[Path], Path]:
    return lambda folder: Path(shutil.copy(source, folder))


def _bilm(name: str) -> Callable[[Path], Path]:
    return lambda folder: Path(shutil.copytree(BILM, folder / "bilm"), name)


def _read_bilm(path: Path) -> Any:
    """Checks a biLM and loads it, from its options or its weights in a folder with the others."""
    files = path.parent / "options.json", path.parent / "weights.hdf5"
    str(check(*files)).encode("utf-8")
    return make_bilm(*files).state_dict()


def _read_archive(path: Path) -> Any:
    archive = open_archive(path)
    return {"config": archive.config.as_dict(quiet=True), **archive.model.state_dict()}


def _store(folder: Path) -> Path:
    _layers(LayerStore(str(folder / "store"), memory=0))
    return next((folder / "store").glob("*.sqlite"))


def _layers(store: LayerStore) -> torch.Tensor:
    options = json.loads((BILM / "options.json").read_text())
    bilm = make_bilm(options, str(BILM / "weights.hdf5"), store=store)
    # The last bits of layers depend on the batch they are computed in.
    return torch.cat([bilm(batch_char_ids([words])).layers.flatten() for words in SENTENCES])


def _checkpoint(name: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        ElmoCheckpointer(folder).save_checkpoint(_sst_trainer())
        return folder / name

    return make


@cache
def _sst_trainer() -> ElmoTrainer:
    """Returns a trainer after one step."""
    model = open_archive(FIXTURES / "archives" / "sst.tar.gz").model
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(parameters)
    sum(parameter.sum() for parameter in parameters).backward()
    optimizer.step()
    return ElmoTrainer(model, optimizer, SimpleDataLoader([], batch_size=1), cuda_device=-1)


def _read_checkpoint(path: Path) -> Any:
    trainer = _sst_trainer()
    trainer._checkpointer = ElmoCheckpointer(path.parent)
    # The trainer restores the checkpoint, and has no epoch left to train.
    trainer._num_epochs = 0
    trainer.train()
    return {**trainer.model.state_dict(), "optimizer": trainer.optimizer.state_dict()}


def _data(name: str, reader: str, change: Callable[[Path, random.Random], None]) -> Kind:
    def read(path: Path) -> Any:
        return len(list(DatasetReader.by_name(reader)().read(path)))

    return Kind(_copy_to(FIXTURES / name), read, change, has_lines=True)


KINDS = {
    "options": Kind(_bilm("options.json"), _read_bilm, _change_json),
    "weights": Kind(_bilm("weights.hdf5"), _read_bilm),
    "archives": Kind(
        _copy_to(FIXTURES / "archives" / "sst.tar.gz"), _read_archive, must_equal=True
    ),
    "stores": Kind(_store, lambda path: _layers(LayerStore(str(path.parent))), must_equal=True),
    "checkpoints: weights": Kind(_checkpoint("model_state_e0_b0.th"), _read_checkpoint, None, True),
    "checkpoints: training": Kind(
        _checkpoint("training_state_e0_b0.th"), _read_checkpoint, must_equal=True
    ),
    "SST": _data("sst.txt", "elmo_sst", _change_columns),
    "NER": _data("ner.txt", "elmo_conll", _change_columns),
    "SNLI": _data("snli.jsonl", "elmo_snli", _change_json_line),
    "SNLI, in columns": _data("snli.official.tsv", "elmo_snli", _change_columns),
    "SQuAD": _data("squad.json", "elmo_squad", _change_json),
    "roles": _data("srl.gold_conll", "elmo_srl", _change_columns),
    "coreference": _data("coref.gold_conll", "elmo_coref", _change_columns),
    "own texts": _data("classify.csv", "elmo_classify", _change_columns),
    "own tags": _data("tag.conllu", "elmo_tag", _change_columns),
}
