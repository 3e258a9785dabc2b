import functools
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import torch

from elmo_tasks.bilm import BiLm, bilm_from_config, make_bilm
from elmo_tasks.bilm.files import known_bilms
from elmo_tasks.bilm.files.known_bilms import KNOWN_BILMS, bilm_files
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.reference_bilm import FIXTURE_FILES, make_options, random_files


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    known = "medium.*original.*original-5.5B.*small"

    with pytest.raises(ConfigurationError, match=f"no biLM is known as 'orignal', .*{known}"):
        make_bilm(make_options(), "orignal")


def test_the_two_files_of_a_known_bilm_are_in_the_same_folder() -> None:
    size = "2x4096_512_2048cnn_2xhighway_5.5B"
    folder = "https://allennlp.s3.amazonaws.com/models/elmo"

    options, weights = bilm_files("original-5.5B")
    shipped_options, shipped_weights = bilm_files("mini")

    assert options == f"{folder}/{size}/elmo_{size}_options.json"
    assert weights == f"{folder}/{size}/elmo_{size}_weights.hdf5"
    assert Path(shipped_options).is_file() and Path(shipped_weights).is_file()


def test_a_file_may_have_a_name_without_a_dot_or_a_slash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = random_files(tmp_path)
    files[1].rename(tmp_path / "weights")
    monkeypatch.chdir(tmp_path)

    by_name, by_path = make_bilm(make_options(), "weights"), make_bilm(make_options(), "./weights")

    assert_same_state(by_name, by_path)


def assert_same_state(bilm: BiLm, expected: BiLm) -> None:
    torch.testing.assert_close(bilm.state_dict(), expected.state_dict(), rtol=0, atol=0)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """Serves the folder of the fixture; copies of its files are kept in `tmp_path`."""
    monkeypatch.setattr("allennlp.common.file_utils.CACHE_DIRECTORY", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    handler = functools.partial(QuietHandler, directory=str(FIXTURE_FILES[0].parent))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_known_bilm_is_fetched_from_its_address(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str
) -> None:
    monkeypatch.setitem(KNOWN_BILMS, "original", f"{address}/weights.hdf5")
    options = json.loads(FIXTURE_FILES[0].read_text())

    bilm = make_bilm(options, "original")

    assert_same_state(bilm, make_bilm(*FIXTURE_FILES))
    assert any((tmp_path / "cache").iterdir())


def test_both_files_may_be_addresses(address: str) -> None:
    bilm = make_bilm(f"{address}/options.json", f"{address}/weights.hdf5")

    assert_same_state(bilm, make_bilm(*FIXTURE_FILES))


def test_an_address_without_a_file_is_refused(address: str) -> None:
    with pytest.raises(ConfigurationError, match="no file of weights .*/nowhere.hdf5"):
        make_bilm(FIXTURE_FILES[0], f"{address}/nowhere.hdf5")
    with pytest.raises(ConfigurationError, match="no file of options .*/nowhere.json"):
        make_bilm(f"{address}/nowhere.json", FIXTURE_FILES[1])


def test_a_name_comes_before_a_folder_of_the_same_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, address: str
) -> None:
    monkeypatch.setitem(KNOWN_BILMS, "small", f"{address}/weights.hdf5")
    monkeypatch.chdir(tmp_path)
    Path("small").mkdir()

    bilm = bilm_from_config("small")

    assert_same_state(bilm, make_bilm(*FIXTURE_FILES))


def test_a_folder_of_the_home_may_be_given_with_a_tilde(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files = random_files(tmp_path / "mine")
    monkeypatch.setenv("HOME", str(tmp_path))

    by_folder, by_file = (
        bilm_from_config("~/mine"),
        make_bilm(make_options(), "~/mine/weights.hdf5"),
    )

    assert_same_state(by_folder, make_bilm(*files))
    assert_same_state(by_file, by_folder)


def test_weights_that_cannot_be_fetched_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(address: str) -> str:
        assert address == KNOWN_BILMS["small"]
        raise requests.ConnectionError("network is unreachable")

    # The real function tries for half a minute.
    monkeypatch.setattr(known_bilms, "local_path", fail)

    with pytest.raises(ConfigurationError, match="small cannot be fetched.*network is unreachable"):
        make_bilm(make_options(), "small")
