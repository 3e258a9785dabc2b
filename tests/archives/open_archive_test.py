"""Tests that the archives of models are read as data at every door of this package."""

import gzip
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import spacy
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError as AllenNlpConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import Model, load_archive

import elmo_tasks
import elmo_tasks.spacy
from elmo_tasks import ElmoEncoder
from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.unpacking import unpacked
from tests.helpers.archives import language_model, member, repack, sst
from tests.helpers.command_line import allennlp, our_command
from tests.helpers.configs import ROOT
from tests.helpers.hostile_configs import HARMLESS, REFUSED, Change, set_value

SST = ROOT / "fixtures" / "sst.txt"
CORPUS = ROOT / "fixtures" / "corpus" / "train.txt"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sst(tmp_path_factory.mktemp("archive"), "both")


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """Returns the path of a file that only code in an archive makes."""
    return tmp_path / "marker"


def program(marker: Path) -> dict[str, Any]:
    """Returns a config that AllenNLP takes for a program to run."""
    return {"type": "subprocess.check_call", "args": ["touch", str(marker)]}


def refusal(function: Callable[..., Any], *args: Any) -> str:
    """Returns the error that a command or a function ends with."""
    with pytest.raises((ConfigurationError, AllenNlpConfigurationError, SystemExit)) as caught:
        function(*args)
    return str(caught.value)


# The doors.


def predict(archive: Path, folder: Path) -> None:
    inputs = folder / "inputs.jsonl"
    inputs.write_text('{"sentence": "A film ."}\n')
    our_command("predict", archive, inputs, "--silent", "--output-file", folder / "answers")


def serve(archive: Path, folder: Path) -> None:
    with patch("uvicorn.Server.run"):
        allennlp("elmo-serve", f"mine={archive}", "--port", 0)


def embed(archive: Path, folder: Path) -> None:
    text = folder / "text.txt"
    text.write_text("A film .\n")
    allennlp("elmo-embed", text, folder / "text.hdf5", "--bilm", archive)


def spacy_component(archive: Path, folder: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("elmo_sentiment", config={"model": str(archive)})
    nlp("A film .")


def saved_pipeline(archive: Path, folder: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("elmo_sentiment", config={"model": str(archive)})
    nlp.to_disk(folder / "pipeline")
    spacy.load(folder / "pipeline")("A film .")


def load_folder(archive: Path, folder: Path) -> None:
    with unpacked(archive) as unpacked_folder:
        elmo_tasks.load(unpacked_folder).predict("A film .")


DOORS: dict[str, Callable[[Path, Path], Any]] = {
    "predict": predict,
    "evaluate": lambda archive, folder: our_command("evaluate", archive, SST),
    "mix": lambda archive, folder: allennlp("elmo-mix", archive),
    "export": lambda archive, folder: allennlp("elmo-export", archive, folder / "exported"),
    "embed": embed,
    "pack": lambda archive, folder: allennlp("elmo-pack", archive, folder / "packed"),
    "errors": lambda archive, folder: allennlp("elmo-errors", archive, SST),
    "neighbors": lambda archive, folder: allennlp(
        "elmo-neighbors", "the", "--corpus", CORPUS, "--bilm", archive
    ),
    "serve": serve,
    "load": lambda archive, folder: elmo_tasks.load(archive).predict("A film ."),
    "load a folder": load_folder,
    "encoder": lambda archive, folder: ElmoEncoder.from_pretrained(archive, "input")(["A film ."]),
    "spaCy": spacy_component,
    "spaCy's pipeline": saved_pipeline,
}


@pytest.mark.parametrize("door", DOORS)
def test_each_door_opens_an_archive_and_refuses_one_that_runs_a_program_or_leaves_its_folder(
    door: str, archive: Path, tmp_path: Path, marker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "a" / "b"
    temporary.mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    running = repack(archive, tmp_path / "a.tar.gz", set_value("dataset_reader", program(marker)))
    leaving = repack(archive, tmp_path / "b.tar.gz", members=[member("../../marker", 1)])

    assert ": dataset_reader in config.json " in refusal(DOORS[door], running, tmp_path)
    assert "'../../marker' would be extracted" in refusal(DOORS[door], leaving, tmp_path)
    assert not list(tmp_path.rglob("marker")) and not os.listdir(temporary)
    DOORS[door](archive, tmp_path)


@pytest.mark.parametrize(("path", "value", "named"), REFUSED[:3])
def test_the_message_names_the_archive_the_part_and_what_to_do(
    path: str, value: Any, named: str, archive: Path, tmp_path: Path
) -> None:
    hostile = repack(archive, tmp_path / "a.tar.gz", set_value(path, value))

    message = refusal(open_archive, hostile)

    assert message.startswith(f"{hostile}: {named} in config.json names ")
    assert "SECURITY.md" in message and "--include-package" in message


@pytest.mark.parametrize(("path", "value"), HARMLESS)
def test_what_only_a_training_reads_is_not_read(
    path: str, value: Any, archive: Path, tmp_path: Path
) -> None:
    open_archive(repack(archive, tmp_path / "a.tar.gz", set_value(path, value)))

    assert not Path("/any").exists()


class Program:
    """Is pickled as a call of a function."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self._call = function, arguments

    def __reduce__(self) -> Any:
        return self._call


def weights(folder: Path, **extra: Any) -> None:
    """Packs the weights in a folder once more, with further values."""
    path = folder / "weights.th"
    torch.save({**torch.load(path), **extra}, path)


def flip(folder: Path) -> None:
    """Changes a bit in the middle of the weights."""
    content = bytearray((folder / "weights.th").read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "weights.th").write_bytes(content)


def link(name: str, target: str = "../outside") -> Callable[[Path], Any]:
    def change(folder: Path) -> None:
        path = folder / name
        (folder.parent / "outside").write_text("kept")
        path.unlink(missing_ok=True)
        path.symlink_to("../" * name.count("/") + target)

    return change


def write(name: str, content: str) -> Callable[[Path], Any]:
    return lambda folder: (folder / name).write_text(content)


# A change of the files of a model, and words of the message.
FOLDERS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "an object": (lambda folder: weights(folder, a=Program(os.mkdir, "marker")), "weights.th is "),
    "a call that takes memory": (
        lambda folder: weights(folder, a=Program(bytearray, 1000)),
        "weights.th holds something other than tensors",
    ),
    "a damaged record": (flip, "weights.th is damaged"),
    "a pickle alone": (
        lambda folder: (folder / "weights.th").write_bytes(b"cos\nsystem\n(S'touch marker'\ntR."),
        "weights.th is damaged, or not a file of PyTorch",
    ),
    "no weights": (lambda folder: (folder / "weights.th").unlink(), "there is no file "),
    "no config": (lambda folder: (folder / "config.json").unlink(), "there is no config.json"),
    "jsonnet that reads": (
        write("config.json", '{dataset_reader: importstr "/etc/passwd", model: {}}'),
        "config.json is not JSON",
    ),
    "jsonnet that loops": (write("config.json", "local f(x) = f(x + 1); f(0)"), "is not JSON"),
    "a deep config": (write("config.json", 10**5 * "["), "nested too deeply"),
    "a list": (write("config.json", "[1]"), "config.json is not a JSON object, but [1]"),
    "a link for the config": (link("config.json"), "config.json is a link out of its folder"),
    "a link for the weights": (link("weights.th"), "weights.th is a link out of its folder"),
    "a link for the lock": (link("vocabulary/.lock"), "vocabulary/.lock is a link out of"),
    "a link to itself": (link("weights.th", "weights.th"), "weights.th"),
    "a pipe": (lambda folder: os.mkfifo(folder / "meta.json"), "is not a file, but a pipe"),
    "a pipe for words": (
        lambda folder: os.mkfifo(folder / "vocabulary" / "more.txt"),
        "is not a file, but a pipe",
    ),
    "an archive for the vocabulary": (
        lambda folder: (
            (folder / "vocabulary").rename(folder / "other")
            and (folder / "vocabulary").write_bytes(gzip.compress(b""))
        ),
        "there is no folder named vocabulary",
    ),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_with_something_else_than_data_is_refused_in_one_line(
    name: str, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "model"
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    if name == "a pipe":
        (folder / "meta.json").unlink(missing_ok=True)
    change, words = FOLDERS[name]
    change(folder)

    message = refusal(open_archive, folder)

    assert message.startswith(str(folder)) and words in message and "\n" not in message
    assert not Path("marker").exists()
    outside = tmp_path / "outside"
    assert not outside.exists() or outside.read_text() == "kept"


# A change of the config, and words of the message.
CONFIGS: dict[str, tuple[Change, str]] = {
    "no model": (lambda config: config.pop("model") and None, "config.json has no model"),
    "a number": (set_value("model", 3), ""),
    "a list for a number": (set_value("model.encoder.hidden_size", []), ""),
    "an unknown argument": (set_value("model.no_such_argument", 1), "no_such_argument"),
    "another width": (
        set_value("model.text_embedder.words.token_embedders.tokens.embedding_dim", 7),
        "",
    ),
    "great widths": (
        set_value("model.encoder", {"type": "lstm", "input_size": 10**4, "hidden_size": 10**4}),
        "the model asks for ",
    ),
    "many layers": (
        set_value(
            "model.encoder",
            {
                "type": "compose",
                "encoders": 100
                * [{"type": "lstm", "input_size": 1, "hidden_size": 1, "num_layers": 100}],
            },
        ),
        "the model asks for ",
    ),
    "control characters": (set_value("model.\x1b[2J", 1), "\\x1b[2J"),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_that_does_not_fit_is_refused_in_one_line(
    name: str, archive: Path, tmp_path: Path
) -> None:
    change, words = CONFIGS[name]
    wrong = repack(archive, tmp_path / "a.tar.gz", change)

    message = refusal(open_archive, wrong)

    assert message.startswith(f"{wrong}: ") and words in message
    assert "\n" not in message and "\x1b" not in message


def test_the_model_is_the_one_that_allennlp_loads(archive: Path) -> None:
    ours, theirs = open_archive(archive), load_archive(archive)

    assert ours.config.as_dict(quiet=True) == theirs.config.as_dict(quiet=True)
    expected = theirs.model.state_dict()
    for name, tensor in ours.model.state_dict().items():
        assert tensor.equal(expected[name]), name
    assert type(ours.dataset_reader) is type(theirs.dataset_reader)


def test_the_user_changes_the_config_as_they_like(archive: Path) -> None:
    own = {"dataset_reader.tokenizer": {"type": "allennlp.data.tokenizers.WhitespaceTokenizer"}}

    for overrides in (own, json.dumps(own)):
        reader: Any = open_archive(archive, overrides=overrides).dataset_reader
        assert type(reader.tokenizer).__name__ == "WhitespaceTokenizer"
    assert "unexpected: end of file" in refusal(lambda: open_archive(archive, overrides="{"))


def test_a_language_model_continues_only_with_an_archive_that_is_data(tmp_path: Path) -> None:
    whole = language_model(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    vocab = Vocabulary.from_files(tmp_path / "vocabulary")
    hostile = repack(whole, tmp_path / "a.tar.gz", members=[member("../marker", 1)])

    def continue_with(archive: Path) -> Model:
        params = Params({**config["model"], "pretrained_file": str(archive)})
        return Model.from_params(params, vocab=vocab)

    continue_with(whole)
    assert "'../marker' would be extracted" in refusal(continue_with, hostile)
