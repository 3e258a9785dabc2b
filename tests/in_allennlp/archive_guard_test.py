"""Tests that the archives of models are read as data, by AllenNLP's own commands too."""

import io
import json
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import spacy
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError as AllenNlpConfigurationError
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model, load_archive
from transformers.dynamic_module_utils import resolve_trust_remote_code

import elmo_tasks
import elmo_tasks.spacy
from elmo_tasks import ElmoEncoder
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.unpacking import unpacked
from elmo_tasks.elmo.archives import load_model
from elmo_tasks.in_allennlp import archive_guard
from elmo_tasks.in_allennlp.archive_guard import TRUST
from elmo_tasks.readers.sst import SstReader
from tests.helpers.archives import language_model, member, repacked, sst
from tests.helpers.command_line import allennlp
from tests.helpers.hostile_configs import HOSTILE, Change, put
from tests.helpers.probe_configs import config_file

ROOT = Path(__file__).parents[2]
SST = ROOT / "fixtures" / "sst.txt"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sst(tmp_path_factory.mktemp("archive"), "both")


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """Returns the path of a file that only code in an archive makes."""
    return tmp_path / "marker"


@pytest.fixture(autouse=True)
def distrusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(TRUST, raising=False)


def program(marker: Path) -> dict[str, Any]:
    """Returns a config that AllenNLP takes for a program to run."""
    return {"type": "subprocess.check_call", "args": ["touch", str(marker)]}


def predict(archive: Path, folder: Path) -> None:
    inputs = folder / "inputs.jsonl"
    inputs.write_text('{"sentence": "A film ."}\n')
    allennlp("predict", archive, inputs, "--silent", "--output-file", folder / "answers")


def evaluate(archive: Path, folder: Path) -> None:
    allennlp("evaluate", archive, SST)


def mix(archive: Path, folder: Path) -> None:
    allennlp("elmo-mix", archive)


def export(archive: Path, folder: Path) -> None:
    allennlp("elmo-export", archive, folder / "exported")


def embed(archive: Path, folder: Path) -> None:
    text = folder / "text.txt"
    text.write_text("A film .\n")
    allennlp("elmo-embed", text, folder / "text.hdf5", "--bilm", archive)


def encode(archive: Path, folder: Path) -> None:
    ElmoEncoder.from_pretrained(archive, "input")(["A film ."])


def fine_tune(archive: Path, folder: Path) -> None:
    Model.from_params(Params({"type": "from_archive", "archive_file": str(archive)}))


def pack(archive: Path, folder: Path) -> None:
    allennlp("elmo-pack", archive, folder / "packed")


def errors(archive: Path, folder: Path) -> None:
    allennlp("elmo-errors", archive, SST)


def neighbors(archive: Path, folder: Path) -> None:
    corpus = ROOT / "fixtures" / "corpus" / "train.txt"
    allennlp("elmo-neighbors", "the", "--corpus", corpus, "--bilm", archive)


def load(archive: Path, folder: Path) -> None:
    elmo_tasks.load(archive).predict("A film .")


def serve(archive: Path, folder: Path) -> None:
    with patch("uvicorn.Server.run"):
        allennlp("elmo-serve", f"mine={archive}", "--port", 0)


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
        load_archive(unpacked_folder)


WAYS = pytest.mark.parametrize(
    "way",
    [
        *(predict, evaluate, mix, export, embed, encode, fine_tune, pack, errors, neighbors, load),
        *(serve, spacy_component, saved_pipeline, load_folder),
    ],
)


def refusal(function: Callable[..., Any], *args: Any) -> str:
    """Returns the error that a command or a function ends with."""
    with pytest.raises((ConfigurationError, AllenNlpConfigurationError, SystemExit)) as caught:
        function(*args)
    return str(caught.value)


# Each way of loading an archive.


@WAYS
def test_the_archive_itself_is_loaded(
    way: Callable[..., None], archive: Path, tmp_path: Path
) -> None:
    way(archive, tmp_path)


@WAYS
def test_what_is_not_listed_is_refused_before_anything_is_made(
    way: Callable[..., None],
    archive: Path,
    tmp_path: Path,
    marker: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if way is load_folder:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("asked on the standard input"))
    refused = {"dataset_reader": put("dataset_reader", program(marker)), **HOSTILE}
    # One way is tried with all of them, and the others, which come to the same place, with two.
    for path in refused if way is predict else list(refused)[:2]:
        hostile = repacked(archive, tmp_path / "a.tar.gz", refused[path])

        message = refusal(way, hostile, tmp_path)

        assert f": {path} in config.json " in message
        assert message.endswith(f"if you trust whom it comes from, set {TRUST}=1")
        assert not marker.exists() and not Path("/any").exists()


@WAYS
def test_a_member_outside_the_folder_is_not_written(
    way: Callable[..., None],
    archive: Path,
    tmp_path: Path,
    marker: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    temporary = tmp_path / "a" / "b"
    temporary.mkdir(parents=True)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    for name in ("../../marker", "../../../marker", str(marker)):
        hostile = repacked(archive, tmp_path / "a.tar.gz", members=[member(name, 1)])

        message = refusal(way, hostile, tmp_path)

        assert f"its member {name!r} would lie outside the folder" in message
    assert not list(tmp_path.rglob("marker")) and not os.listdir(temporary)


def check(archive: Path, folder: Path) -> None:
    allennlp("elmo-check", archive)


def score(archive: Path, folder: Path) -> None:
    allennlp("elmo-score", SST, "--bilm", archive)


def probe(archive: Path, folder: Path) -> None:
    bilm = f"{{ model+: {{ bilm: {{ pretrained_file: '{archive}' }} }} }}"
    allennlp("elmo-probe", config_file(folder, "pos", bilm))


def against(archive: Path, folder: Path) -> None:
    allennlp("elmo-errors", f"mine={archive}", SST, "--against", f"other={archive}")


@pytest.mark.parametrize("way", [check, score, probe, against])
@pytest.mark.parametrize("packed", [True, False])
def test_other_commands_run_nothing_of_an_archive(
    way: Callable[..., None], packed: bool, archive: Path, tmp_path: Path, marker: Path
) -> None:
    hostile = repacked(archive, tmp_path / "a.tar.gz", put("dataset_reader", program(marker)))

    with unpacked(hostile) as folder:
        message = refusal(way, hostile if packed else Path(folder), tmp_path)

    assert "\n" not in message and str(hostile if packed else folder) in message
    assert not marker.exists()


# Names of code in a config.


@pytest.mark.parametrize("key", ["data_loader", "validation_data_loader", "evaluation"])
def test_what_evaluate_makes_after_loading_is_refused_as_well(
    archive: Path, tmp_path: Path, marker: Path, key: str
) -> None:
    def change(config: dict[str, Any]) -> None:
        config.pop("validation_data_loader", None)
        config[key] = program(marker)

    hostile = repacked(archive, tmp_path / "a.tar.gz", change)

    message = refusal(evaluate, hostile, tmp_path)

    assert f"{key} in config.json names the " in message
    assert not marker.exists()


def test_an_archive_of_a_trusted_archive_is_trusted_too(
    archive: Path, tmp_path: Path, marker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = repacked(archive, tmp_path / "inner.tar.gz", put("dataset_reader", program(marker)))
    model = {"type": "from_archive", "archive_file": str(inner)}
    outer = repacked(archive, tmp_path / "outer.tar.gz", put("model", model))
    assert "outer.tar.gz: model in config.json names the Model 'from_archive'" in refusal(
        load_model, outer
    )
    assert not marker.exists()

    monkeypatch.setenv(TRUST, "1")
    load_model(outer)

    assert marker.exists()


def test_a_user_who_trusts_an_archive_lets_it_run(
    archive: Path, tmp_path: Path, marker: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TRUST, "1")
    hostile = repacked(archive, tmp_path / "a.tar.gz", put("dataset_reader", program(marker)))

    load_model(hostile)

    assert marker.exists()


class OwnReader(SstReader):
    """A reader that its user has not registered."""


OWN = f"{__name__}.OwnReader"


def test_the_users_own_config_and_overrides_may_name_any_class(archive: Path) -> None:
    overrides = {"dataset_reader.type": OWN}

    assert type(load_archive(archive, overrides=overrides).dataset_reader) is OwnReader
    assert type(load_archive(archive, overrides=json.dumps(overrides)).dataset_reader) is OwnReader
    assert type(DatasetReader.from_params(Params({"type": OWN}))) is OwnReader


# Values with which an archive cannot be evaluated.


def test_an_archive_without_a_data_loader_is_evaluated_with_one_that_is_given(
    archive: Path, tmp_path: Path
) -> None:
    bare = repacked(archive, tmp_path / "a.tar.gz", lambda config: config.pop("data_loader") and 0)
    loader = '{"data_loader": {"batch_size": 32}}'

    message = refusal(evaluate, bare, tmp_path)
    allennlp("evaluate", bare, SST, "-o", loader)

    assert message.endswith(
        f"a.tar.gz: its config has no data_loader; give one, such as -o '{loader}'"
    )


@pytest.mark.parametrize("field", ["data_loader", "evaluation"])
def test_an_archive_with_null_for_what_evaluates_is_refused_in_one_line(
    archive: Path, tmp_path: Path, field: str
) -> None:
    message = refusal(
        evaluate, repacked(archive, tmp_path / "a.tar.gz", put(field, None)), tmp_path
    )

    assert "a.tar.gz: " in message and field in message and "\n" not in message


# Files that an archive asks for.


@pytest.mark.parametrize(
    "content",
    [
        b'{dataset_reader: importstr "/etc/passwd", model: {}}',
        b'{"dataset_reader": std.extVar("HOME"), "model": {}}',
        b'{"dataset_reader": import "config.json", "model": {}}',
        b"local f(x) = f(x + 1); f(0)",
        b"",
        b"\xff",
    ],
)
def test_a_config_is_json_and_not_jsonnet(archive: Path, tmp_path: Path, content: bytes) -> None:
    hostile = repacked(archive, tmp_path / "a.tar.gz", lambda _: content)

    assert f"{hostile}: config.json is not JSON: " in refusal(load_model, hostile)


def test_a_store_is_not_opened_wherever_the_config_has_it(archive: Path, tmp_path: Path) -> None:
    path = tmp_path / "store"
    hostile = repacked(
        archive, tmp_path / "a.tar.gz", put("model.text_embedder.bilm.store", {"path": str(path)})
    )

    ElmoEncoder.from_pretrained(hostile, "input")(["A film ."])

    assert not path.exists()


def test_files_of_the_training_are_left_out_within_lists_too(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Params] = []

    def note(config: Params, *_: Any) -> torch.nn.Module:
        seen.append(config)
        return torch.nn.Module()

    monkeypatch.setattr(archive_guard, "_load_model", note)
    encoders = [{"type": "pass_through", "input_dim": 3, "pretrained_file": "x"}]

    def change(config: dict[str, Any]) -> None:
        config["model"]["encoder"] = {"type": "compose", "encoders": encoders}
        config["model"]["initializer"] = {"regexes": [["x", {"type": "pretrained"}]]}

    config = load_archive(repacked(archive, tmp_path / "a.tar.gz", change)).config

    assert seen[0]["model"]["encoder"]["encoders"] == [{"type": "pass_through", "input_dim": 3}]
    assert "initializer" not in seen[0]["model"]
    assert config["model"].as_dict()["encoder"]["encoders"] == encoders


def weights(folder: Path, archive: Path, method: int) -> Path:
    """Returns an archive whose weights are packed once more."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder / "folder", filter="data")
    path = folder / "folder" / "weights.th"
    with zipfile.ZipFile(path) as file:
        records = {record.filename: file.read(record) for record in file.infolist()}
    with zipfile.ZipFile(path, "w", method) as file:
        for name, data in records.items():
            file.writestr(name, data)
    return folder / "folder"


def test_weights_that_unpack_to_more_than_their_size_are_refused(
    archive: Path, tmp_path: Path
) -> None:
    load_model(weights(tmp_path / "stored", archive, zipfile.ZIP_STORED))

    message = refusal(load_model, weights(tmp_path / "packed", archive, zipfile.ZIP_DEFLATED))

    assert "weights.th holds " in message and " compressed, but `torch.save` never" in message


def test_weights_that_hold_an_object_are_refused(
    archive: Path, tmp_path: Path, marker: Path
) -> None:
    class Program:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.mkdir, (str(marker),)

    folder = weights(tmp_path, archive, zipfile.ZIP_STORED)
    torch.save({"a": Program()}, folder / "weights.th")

    assert "weights.th is damaged, or not a file of PyTorch: the pickle names" in refusal(
        load_model, folder
    )
    assert not marker.exists()


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("packed", [False, True])
def test_weights_that_are_not_finite_are_refused(
    archive: Path, tmp_path: Path, value: float, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = weights(tmp_path, archive, zipfile.ZIP_STORED)
    state = torch.load(folder / "weights.th")
    state["text_embedder.input_mix.gamma"] += value
    if packed:
        monkeypatch.setattr(archive_guard, "read_published", lambda path: state)
        (folder / "weights.safetensors").touch()
    torch.save(state, folder / "weights.th")

    message = refusal(load_model, folder)

    assert f"{folder}: text_embedder.input_mix.gamma holds a value that is no finite" in message


def test_a_model_of_more_parameters_than_its_weights_is_refused_before_it_takes_memory(
    archive: Path, tmp_path: Path
) -> None:
    wide = {"type": "lstm", "input_size": 10**4, "hidden_size": 10**4}
    small = {"type": "lstm", "input_size": 1, "hidden_size": 1, "num_layers": 100}
    many = {"type": "compose", "encoders": 100 * [small]}

    for encoder in (wide, many):
        hostile = repacked(archive, tmp_path / "a.tar.gz", put("model.encoder", encoder))
        assert "the model asks for " in refusal(load_model, hostile)


def test_a_pipeline_of_spacy_is_not_installed_for_an_archive(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("allennlp.common.util.LOADED_SPACY_MODELS", {})
    monkeypatch.setattr("spacy.load", lambda *_, **__: (_ for _ in ()).throw(OSError()))
    hostile = repacked(archive, tmp_path / "a.tar.gz", put("dataset_reader.tokenizer", "spacy"))

    assert "the pipeline en_core_web_sm of spaCy is not installed" in refusal(load_model, hostile)


def test_transformers_asks_nothing_on_the_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda *_: pytest.fail("asked on the standard input"))

    with pytest.raises(ValueError, match="trust_remote_code"):
        resolve_trust_remote_code(None, "owner/repo", has_local_code=False, has_remote_code=True)


@pytest.mark.parametrize("name", ["config.json", "weights.th"])
def test_a_link_out_of_the_folder_of_a_model_is_refused(
    archive: Path, tmp_path: Path, name: str
) -> None:
    folder = weights(tmp_path, archive, zipfile.ZIP_STORED)
    (folder / name).rename(tmp_path / "outside")
    (folder / name).symlink_to(tmp_path / "outside")

    assert f"{name} is a link out of the folder of the model" in refusal(load_model, folder)


def test_control_characters_of_a_name_are_escaped(archive: Path, tmp_path: Path) -> None:
    hostile = repacked(archive, tmp_path / "a.tar.gz", put("\x1b[2J", 1))

    message = refusal(load_model, hostile)

    assert "\\x1b[2J" in message and "\x1b" not in message


def test_types_within_types_count_together(archive: Path, tmp_path: Path) -> None:
    nested = {"type": "compose", "encoders": 999 * ["pass_through"]}
    many = {"type": "compose", "encoders": 6 * [nested]}
    hostile = repacked(archive, tmp_path / "a.tar.gz", put("model.encoder", many))

    assert "brings the config to more than 5000 items" in refusal(load_model, hostile)


def test_the_vocabulary_of_a_folder_is_looked_at_before_it_is_read(
    archive: Path, tmp_path: Path
) -> None:
    folder = weights(tmp_path, archive, zipfile.ZIP_STORED)
    (tmp_path / "precious").write_text("kept")
    lock = folder / "vocabulary" / ".lock"
    lock.unlink(missing_ok=True)
    lock.symlink_to(tmp_path / "precious")

    assert "vocabulary/.lock is a link out of the folder" in refusal(load_model, folder)
    assert (tmp_path / "precious").read_text() == "kept"


def test_a_language_model_continues_only_with_an_archive_that_is_data(tmp_path: Path) -> None:
    (tmp_path / "lm").mkdir()
    whole = language_model(tmp_path / "lm")
    with tarfile.open(whole) as tar:
        config = json.load(io.BytesIO(tar.extractfile("config.json").read()))  # type: ignore[union-attr]
    vocab = Vocabulary.from_files(tmp_path / "lm" / "vocabulary")
    hostile = repacked(whole, tmp_path / "a.tar.gz", members=[member("../marker", 1)])

    def continue_with(archive: Path) -> Model:
        params = Params({**config["model"], "pretrained_file": str(archive)})
        return Model.from_params(params, vocab=vocab)

    continue_with(whole)
    assert "its member '../marker' would lie outside" in refusal(continue_with, hostile)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Lets `cached_path` unpack in a new folder."""
    monkeypatch.setenv("CACHED_PATH_CACHE_ROOT", str(tmp_path / "cache"))
    monkeypatch.setattr("allennlp.common.file_utils.CACHE_DIRECTORY", str(tmp_path / "cache"))
    yield tmp_path / "cache"


@pytest.mark.parametrize("kind", ["from_files", "elmo_counted"])
def test_a_vocabulary_is_read_only_from_an_archive_that_is_data(
    archive: Path, tmp_path: Path, cache: Path, kind: str
) -> None:
    def vocabulary(archive: Path) -> Vocabulary:
        params = Params({"type": kind, "directory": str(archive)})
        return Vocabulary.from_params(params, instances=[])

    words = vocabulary(archive).get_token_to_index_vocabulary("tokens")
    assert len(words) > 10

    # The name of the folder next to it begins like the folder's own.
    for name in ("../x", "/x", "../pathtest_x/x"):
        hostile = repacked(archive, tmp_path / "a.tar.gz", members=[member(name, 1)])
        assert f"its member {name!r} would lie outside" in refusal(vocabulary, hostile)
    assert not list(cache.rglob("x"))


# What does not fit.


@pytest.fixture
def unpacked_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns a new folder, in which archives are unpacked."""
    folder = tmp_path / "unpacked"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda config: config.pop("model") and None, "config.json has no model"),
        (lambda config: config.pop("dataset_reader") and None, "config.json has no dataset_reader"),
        (put("model", 3), "cannot be loaded: TypeError: "),
        (put("model.encoder.hidden_size", []), "cannot be loaded: "),
        (put("dataset_reader", "elmo_sst"), "cannot be loaded: AttributeError: "),
        (lambda _: b"[1]", "config.json is not a JSON object, but [1]"),
        (lambda _: 10**5 * b"[", "config.json is not JSON: the JSON is nested more than 100 deep"),
    ],
)
def test_a_config_that_is_wrong_is_an_error_of_one_line_with_the_archive(
    archive: Path, tmp_path: Path, change: Change, message: str
) -> None:
    wrong = repacked(archive, tmp_path / "a.tar.gz", change)

    said = refusal(load_model, wrong)

    assert str(wrong) in said and message in said and "\n" not in said


@pytest.mark.parametrize("content", ["{}", '{"version": 3}', '{"version": "3"}', "[", "[]"])
def test_a_wrong_version_is_an_error_with_the_archive(
    archive: Path, tmp_path: Path, content: str
) -> None:
    folder = weights(tmp_path, archive, zipfile.ZIP_STORED)
    (folder / "meta.json").write_text(content)

    assert refusal(load_model, folder).startswith(f"{folder}: meta.json ")


@pytest.mark.parametrize("name", ["config.json", "weights.th"])
def test_a_file_that_is_missing_is_named(archive: Path, tmp_path: Path, name: str) -> None:
    folder = weights(tmp_path, archive, zipfile.ZIP_STORED)
    (folder / name).unlink()

    # Without the weights of an archive, AllenNLP looks for those of a training.
    missing = name.replace("weights.th", "best.th")
    assert refusal(load_model, folder) == f"{folder} has no {missing}"


@pytest.mark.parametrize("name", ["config.json", "weights.th", "meta.json", "vocabulary/x.txt"])
@pytest.mark.parametrize("content", [None, b"\xff\x00"])
def test_a_wrong_file_is_an_error_of_one_line_with_the_archive(
    archive: Path, tmp_path: Path, name: str, content: bytes | None, unpacked_in: Path
) -> None:
    wrong = tmp_path / "a.tar.gz"
    with unpacked(archive) as folder, tarfile.open(wrong, "w:gz") as tar:
        Path(folder, name).unlink(missing_ok=True)
        Path(folder, name).mkdir() if content is None else Path(folder, name).write_bytes(content)
        tar.add(folder, "")

    message = refusal(load_model, wrong)

    assert str(wrong) in message and str(unpacked_in) not in message and "\n" not in message


@pytest.mark.parametrize("name", ["config.json", "weights.th", "vocabulary/x.txt", "vocabulary"])
@pytest.mark.parametrize("target", ["missing", "itself"])
def test_a_link_to_nothing_is_an_error_of_one_line_with_the_folder(
    archive: Path, name: str, target: str
) -> None:
    with unpacked(archive) as folder:
        path = Path(folder, name)
        path.exists() and path.rename(f"{path}_before")
        path.symlink_to(path.name if target == "itself" else target)

        message = refusal(load_model, folder)

    assert message.startswith(folder) and "\n" not in message


@pytest.mark.parametrize(
    "change",
    [
        lambda config: config["model"].pop("text_embedder") and None,
        put("model.encoder.hidden_size", 10**9),
        put("model.no_such_argument", 1),
        put("model.text_embedder.words.token_embedders.tokens.embedding_dim", 7),
    ],
)
def test_a_config_that_does_not_fit_is_an_error_of_one_line_with_the_archive(
    archive: Path, tmp_path: Path, change: Change, unpacked_in: Path
) -> None:
    wrong = repacked(archive, tmp_path / "a.tar.gz", change)

    message = refusal(load_model, wrong)

    assert str(wrong) in message and str(unpacked_in) not in message and "\n" not in message
