import functools
import http.server
import json
import shutil
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import torch

from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.file_names import MIX_FILE
from elmo_tasks.elmo import ElmoEncoder, local_files
from elmo_tasks.elmo.from_config import bilm_from_config
from elmo_tasks.elmo.locate import KNOWN_BILMS, locate_bilm, locate_weights
from elmo_tasks.elmo.opening import open_elmo
from tests.helpers import many_langs
from tests.helpers.reference_bilm import FIXTURE_FILES, make_options, random_files


@pytest.mark.parametrize(
    ("name", "known"),
    [("orignal", "did you mean 'original'"), ("x", "medium.*original.*original-5.5B.*small")],
)
def test_an_unknown_name_is_refused_with_known_ones(name: str, known: str) -> None:
    with pytest.raises(ConfigurationError, match=f"no biLM is known as '{name}'; .*{known}"):
        locate_weights(name)


def test_a_module_of_tensorflow_is_refused_with_the_name_of_the_same_bilm(tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").touch()

    for name in ("https://tfhub.dev/google/elmo/2", str(tmp_path)):
        for opened_by in (locate_bilm, ElmoEncoder.from_pretrained):
            with pytest.raises(ConfigurationError, match=f"{name} is a module of .* 'original'"):
                opened_by(name)


def test_the_two_files_of_a_known_bilm_are_in_the_same_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    size = "2x4096_512_2048cnn_2xhighway_5.5B"
    folder = "https://allennlp.s3.amazonaws.com/models/elmo"

    shipped = locate_bilm("mini")
    fetched: list[str] = []

    def fetch(address: str) -> str:
        fetched.append(address)
        return str(FIXTURE_FILES[0])

    monkeypatch.setattr(local_files, "local_path", fetch)
    locate_bilm("original-5.5B")

    assert fetched == [
        f"{folder}/{size}/elmo_{size}_options.json",
        f"{folder}/{size}/elmo_{size}_weights.hdf5",
    ]
    assert shipped.options.is_file() and shipped.weights.is_file()


def test_a_file_may_have_a_name_without_a_dot_or_a_slash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = random_files(tmp_path)
    files[1].rename(tmp_path / "weights")
    monkeypatch.chdir(tmp_path)

    for name in ("weights", "./weights"):
        assert locate_weights(name) == Path("weights")


def assert_same_state(bilm: BiLm, expected: BiLm) -> None:
    torch.testing.assert_close(bilm.state_dict(), expected.state_dict(), rtol=0, atol=0)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """Serves the fixture's files and `bilm.zip`; what is fetched is kept in `cache`."""
    served = Path(shutil.copytree(FIXTURE_FILES[0].parent, tmp_path / "served"))
    shutil.make_archive(str(served / "bilm"), "zip", FIXTURE_FILES[0].parent)
    monkeypatch.setattr("allennlp.common.file_utils.CACHE_DIRECTORY", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    handler = functools.partial(QuietHandler, directory=str(served))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_known_bilm_is_fetched_from_its_address_even_beside_a_folder_of_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str
) -> None:
    monkeypatch.setitem(KNOWN_BILMS, "original", f"{address}/weights.hdf5")
    monkeypatch.chdir(tmp_path)
    Path("original").mkdir()
    options = json.loads(FIXTURE_FILES[0].read_text())

    given = {"options": options, "pretrained_file": "original"}
    for bilm in (bilm_from_config(given), bilm_from_config("original")):
        assert_same_state(bilm, make_bilm(*FIXTURE_FILES))
    assert any((tmp_path / "cache").iterdir())


def test_a_file_that_is_not_there_is_refused(address: str, tmp_path: Path) -> None:
    for folder in (address, tmp_path):
        with pytest.raises(ConfigurationError, match=f"there is no file of weights {folder}/none"):
            locate_bilm((FIXTURE_FILES[0], f"{folder}/none"))
        with pytest.raises(ConfigurationError, match=f"there is no file of options {folder}/none"):
            locate_bilm((f"{folder}/none", FIXTURE_FILES[1]))


def test_a_folder_of_the_home_may_be_given_with_a_tilde(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = random_files(tmp_path / "mine")
    monkeypatch.setenv("HOME", str(tmp_path))

    by_folder, by_file = (
        bilm_from_config("~/mine"),
        bilm_from_config({"options": make_options(), "pretrained_file": "~/mine/weights.hdf5"}),
    )

    assert_same_state(by_folder, make_bilm(*files))
    assert_same_state(by_file, by_folder)


def test_weights_that_cannot_be_fetched_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(address: str) -> str:
        assert address == KNOWN_BILMS["small"]
        raise requests.ConnectionError("network is unreachable")

    # The real function tries for half a minute.
    monkeypatch.setattr(local_files, "local_path", fail)

    with pytest.raises(ConfigurationError, match="small cannot be fetched.*network is unreachable"):
        locate_weights("small")


def in_nlpl_layout(folder: Path, weights: str = "model.hdf5") -> Path:
    """Writes the fixture as the folder of a biLM of the NLPL repository."""
    folder.mkdir()
    options = json.loads(FIXTURE_FILES[0].read_text())
    # As while training with bilm-tf.
    options["char_cnn"]["n_characters"] = 261
    (folder / "options.json").write_text(json.dumps({**options, "n_train_tokens": 5}))
    (folder / weights).write_bytes(FIXTURE_FILES[1].read_bytes())
    (folder / "vocab.txt").write_text("<S>\n</S>\n<UNK>\nthe\n")
    (folder / "meta.json").write_text('{"id": 220}')
    return folder


@pytest.mark.parametrize("weights", ["model.hdf5", "220_weights.hdf5"])
def test_a_folder_of_the_nlpl_repository_is_that_of_a_bilm(tmp_path: Path, weights: str) -> None:
    folder = in_nlpl_layout(tmp_path / "220", weights)

    opened = open_elmo(folder)

    assert_same_state(opened.bilm, make_bilm(*FIXTURE_FILES))
    assert locate_bilm(folder / weights).weights == folder / weights


def test_files_of_json_may_have_a_byte_order_mark(tmp_path: Path) -> None:
    folder = random_files(tmp_path / "mine")[0].parent
    expected = ElmoEncoder.from_pretrained(folder)
    expected.save_pretrained(folder)
    for name in ("options.json", MIX_FILE):
        content = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(content, encoding="utf-8-sig")

    assert_same_state(ElmoEncoder.from_pretrained(folder).bilm, expected.bilm)
    assert_same_state(bilm_from_config(str(folder)), expected.bilm)


@pytest.mark.parametrize("base", [".", "220"])
def test_a_zip_file_of_the_nlpl_repository_has_the_layers_of_its_files(
    tmp_path: Path, base: str
) -> None:
    in_nlpl_layout(tmp_path / "220")
    root = tmp_path if base == "220" else tmp_path / "220"
    archive = shutil.make_archive(str(tmp_path / "elmo"), "zip", root, base)

    encoder = ElmoEncoder.from_pretrained(archive)
    from_config = bilm_from_config(archive)

    expected = ElmoEncoder.from_pretrained(FIXTURE_FILES)
    sentence = "Anna ate an apple"
    for name, output in encoder([sentence]).items():
        torch.testing.assert_close(output, expected([sentence])[name], rtol=0, atol=0)
    assert_same_state(from_config, expected.layers.bilm)


def test_a_zip_file_that_was_written_again_is_read_again(tmp_path: Path) -> None:
    for seed in (0, 1):
        files = random_files(tmp_path / "mine", seed)
        archive = shutil.make_archive(str(tmp_path / "mine"), "zip", tmp_path / "mine")

        opened = open_elmo(archive)

        assert_same_state(opened.bilm, make_bilm(*files))


@pytest.mark.parametrize("base", [".", "mine", "outer/mine"])
@pytest.mark.parametrize("kind", ["bilm-tf", "ELMoForManyLangs"])
def test_what_macos_adds_to_a_zip_file_or_a_folder_is_nothing(
    tmp_path: Path, kind: str, base: str
) -> None:
    folder = tmp_path / "mine"
    if kind == "bilm-tf":
        in_nlpl_layout(folder, "220_weights.hdf5")
    else:
        many_langs.write(folder, sizes_in="configs")
    archive = tmp_path / "mine.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in sorted(folder.rglob("*")):
            name = Path(base, path.relative_to(folder))
            file.write(path, name)
            file.writestr(f"__MACOSX/{name.parent}/._{name.name}", b"\0\5\x16\7")
            file.writestr(f"{name.parent}/._{name.name}", b"\0\5\x16\7")
        for parent in dict.fromkeys([".", base]):
            file.writestr(f"{parent}/.DS_Store", b"\0\0\0\1Bud1")

    opened = open_elmo(archive)

    assert_same_state(opened.bilm, open_elmo(folder).bilm)


def test_a_zip_file_may_be_at_an_address(address: str) -> None:
    opened = open_elmo(f"{address}/bilm.zip")

    assert_same_state(opened.bilm, make_bilm(*FIXTURE_FILES))
    with pytest.raises(ConfigurationError, match=r"http.*/221\.zip"):
        open_elmo(f"{address}/221.zip")


def test_a_zip_file_of_something_else_is_refused(tmp_path: Path) -> None:
    for name in ("a_weights.hdf5", "b_weights.hdf5", "options.json"):
        (tmp_path / "220").mkdir(exist_ok=True)
        (tmp_path / "220" / name).touch()
    archive = shutil.make_archive(str(tmp_path / "elmo"), "zip", tmp_path / "220")
    empty = tmp_path / "empty.zip"
    zipfile.ZipFile(empty, "w").close()
    (tmp_path / "cut.zip").write_bytes(Path(archive).read_bytes()[:100])

    for name, problem in (
        ("elmo.zip", "has several weights.hdf5; the folder"),
        ("empty.zip", "has no options.json; the folder"),
        ("cut.zip", "cut.zip"),
        ("none.zip", "none.zip"),
    ):
        with pytest.raises(ConfigurationError, match=problem):
            open_elmo(tmp_path / name)
