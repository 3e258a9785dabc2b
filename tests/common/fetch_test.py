"""Tests addresses and repositories on 127.0.0.1; `huggingface_hub` itself is the real one."""

import errno
import functools
import re
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch

from elmo_tasks import ElmoEncoder
from elmo_tasks.bilm import make_bilm
from elmo_tasks.commands.command import message_of
from elmo_tasks.common import fetch
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import hub_folder, is_hub_name, local_path
from elmo_tasks.common.text_files import read_lines
from elmo_tasks.common.vector_files import read_vectors
from elmo_tasks.elmo.from_config import bilm_from_config
from elmo_tasks.predictors.load import load
from tests.helpers.bilm_examples import SENTENCE
from tests.helpers.hub_server import Hub, serve_hub
from tests.helpers.reference_bilm import FIXTURE_FILES, random_files


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """Serves the folder `served`."""
    served = tmp_path / "served"
    served.mkdir()
    (served / "text.txt").write_text("a boat")
    handler = functools.partial(SimpleHTTPRequestHandler, directory=str(served))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def without_allennlp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "allennlp.common.file_utils", None)
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path / "cache"))


def test_a_local_file_is_its_path_and_a_missing_one_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a!b#c.txt"
    path.touch()

    assert local_path(path) == str(path)
    with pytest.raises(FileNotFoundError, match="missing.txt"):
        local_path(tmp_path / "missing.txt")


def test_an_address_is_fetched_once(server: str, tmp_path: Path, without_allennlp: None) -> None:
    fetched = local_path(f"{server}/text.txt?signature={'0' * 300}")
    (tmp_path / "served" / "text.txt").unlink()

    again = local_path(f"{server}/text.txt?signature={'0' * 300}")

    assert again == fetched
    assert Path(fetched).read_text(encoding="utf-8") == "a boat"


def test_what_cannot_be_fetched_leaves_nothing_behind(
    server: str, tmp_path: Path, without_allennlp: None
) -> None:
    with pytest.raises(OSError, match="s3://bucket/file is not an http:// or https:// address"):
        local_path("s3://bucket/file")
    with pytest.raises(OSError):
        local_path(f"{server}/missing.txt")

    assert not [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]


def is_short(error: BaseException) -> bool:
    """Returns whether the traceback of an error has no other one in it, and its message a line."""
    shown = "".join(traceback.format_exception(error))
    return shown.count("Traceback") == 1 and "\n" not in str(error)


# What opens an address.
DOORS: dict[str, Callable[[str], object]] = {
    "file": local_path,
    "biLM": lambda address: ElmoEncoder.from_pretrained(f"{address}_weights.hdf5"),
    "zip file": lambda address: ElmoEncoder.from_pretrained(f"{address}.zip"),
    "lines": lambda address: list(read_lines(address)),
    "vectors": read_vectors,
    "model": load,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("has_allennlp", [True, False])
def test_an_address_that_fails_is_one_line_at_once(
    door: str, has_allennlp: bool, server: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if not has_allennlp:
        request.getfixturevalue("without_allennlp")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    begun = time.monotonic()
    for address, reason in (
        (f"http://127.0.0.1:{port}/a", "Connection refused"),
        ("http://no-such-host.invalid/a", "no-such-host.invalid/a.*: .*(not known|resolution)"),
        (f"{server}/missing", "no such file|no file of"),
    ):
        with pytest.raises(OSError if door in ("file", "lines") else Exception) as raised:
            DOORS[door](address)

        message = message_of(raised.value)
        assert message is not None and re.search(reason, message), message
        assert address in message and is_short(raised.value)
    assert time.monotonic() - begun < 20


def test_a_proxy_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
    monkeypatch.setenv("no_proxy", "")

    message = f"cannot fetch http://elmo.example/a: the proxy 127.0.0.1:{port}: Connection refused"
    with pytest.raises(OSError, match=f"^{message}$") as raised:
        local_path("http://elmo.example/a")

    assert is_short(raised.value)


def test_a_copy_is_used_where_the_server_is_gone(tmp_path: Path, server: str) -> None:
    address = f"{server}/text.txt?{tmp_path.name}"
    copy = local_path(address)
    fetch._fetch.cache_clear()

    with patch.object(socket, "create_connection", side_effect=OSError(errno.ECONNREFUSED, "no")):
        assert local_path(address) == copy


FILES = {path.name: path.read_bytes() for path in FIXTURE_FILES}


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with serve_hub(tmp_path / "cache", monkeypatch) as hub:
        yield hub


def refusal(name: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        hub_folder(name)
    return str(caught.value)


REPOSITORIES = (
    "owner/name owner/elmo-5.5B@v1.0 owner/name@0123abc folder/name@main owner/name@refs/pr/1"
).split()
PATHS = (
    "folder/missing folder/there mini a/b/c ./name ../name /owner/name owner/weights.hdf5 "
    "owner/model.tar.gz https://owner/name owner/name@ owner/.. owner/name@a/../../b "
    "owner/name@a/.git owner/name@a//b"
).split()


@pytest.mark.parametrize("name", [*REPOSITORIES, *PATHS])
def test_a_repository_is_told_from_a_path(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder" / "there").mkdir(parents=True)

    assert is_hub_name(name) is (name in REPOSITORIES)


def test_a_bilm_is_fetched_once_by_the_name_of_its_repository(hub: Hub) -> None:
    hub.add("owner/tiny", FILES)

    encoder = ElmoEncoder.from_pretrained("owner/tiny")
    num_requests = len(hub.requests)
    by_config = bilm_from_config({"pretrained_file": "owner/tiny"})

    expected = ElmoEncoder.from_pretrained(FIXTURE_FILES)([SENTENCE])["elmo"]
    assert encoder([SENTENCE])["elmo"].equal(expected)
    assert by_config.fingerprint() == make_bilm(*FIXTURE_FILES).fingerprint()
    assert len(hub.requests) == num_requests


def test_only_data_files_within_the_folder_are_fetched(hub: Hub, tmp_path: Path) -> None:
    others = ["model.bin", "weights.th", "model.tar.gz", "code.py", "vocabulary/x.pkl", "README.md"]
    others += ["vocabulary/../../../../x.txt", "../options.json", "vocabulary/a/b.txt"]
    hub.add("owner/tiny", {**FILES, "vocabulary/tokens.txt": b"a\n", **dict.fromkeys(others, b"x")})

    folder = Path(hub_folder("owner/tiny"))

    assert hub.fetched_files() == {"options.json", "weights.hdf5", "tokens.txt"}
    assert {path.name for path in folder.rglob("*") if path.is_file()} == hub.fetched_files()
    assert not list(tmp_path.rglob("x.txt")) and not list(tmp_path.rglob("b.txt"))


def test_a_revision_is_a_branch_a_tag_or_a_commit(hub: Hub, tmp_path: Path) -> None:
    first = hub.add("owner/tiny", FILES)
    other = {path.name: path.read_bytes() for path in random_files(tmp_path)}
    hub.add("owner/tiny", other, revision="v2")

    for name, files in {"": FILES, "@v2": other, f"@{first}": FILES}.items():
        folder = Path(hub_folder(f"owner/tiny{name}"))
        assert (folder / "weights.hdf5").read_bytes() == files["weights.hdf5"], name

    assert "owner/tiny@v3" in refusal("owner/tiny@v3")


def test_copies_are_used_without_the_hub(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.add("owner/tiny", FILES)
    folder = hub_folder("owner/tiny")
    hub.requests.clear()
    hub_folder.cache_clear()
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")

    assert hub_folder("owner/tiny") == folder
    message = refusal("owner/other")
    assert message.startswith("there is no file or folder owner/other")
    assert "Connection refused" in message
    assert not hub.requests


def test_a_repository_of_many_bytes_is_not_fetched(hub: Hub) -> None:
    hub.add("owner/tiny", FILES)
    hub.sizes["weights.hdf5"] = 8 * 10**9

    assert "its files have over 8,000,000,000 bytes" in refusal("owner/tiny")
    assert not hub.fetched_files()


def test_a_full_disk_is_not_taken_for_a_hub_that_cannot_be_reached(
    hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add("owner/tiny", FILES)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("huggingface_hub.file_download._create_symlink", full)

    assert "No space left on device" in refusal("owner/tiny")


def test_what_the_hub_lacks_is_named(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.add("owner/empty", {"README.md": b"x"})

    assert re.match(
        "there is no file or folder owner/missing, and it cannot be fetched .*Repository Not Found",
        refusal("owner/missing"),
    )
    assert refusal("owner/empty") == "owner/empty has no files of a biLM or of a model"
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    assert "needs the package huggingface_hub" in refusal("owner/name")


def test_without_allennlp_a_copy_is_used_and_nothing_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    address = "http://127.0.0.1:1/weights.hdf5"
    monkeypatch.setitem(sys.modules, "allennlp.common.file_utils", None)
    monkeypatch.setattr(fetch, "check_reachable", asked.append)
    monkeypatch.setattr(fetch, "_copy_of", lambda _: tmp_path / "copy")
    (tmp_path / "copy").write_text("kept")

    assert Path(fetch._fetch.__wrapped__(address)).read_text() == "kept"
    assert not asked
