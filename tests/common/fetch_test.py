import functools
import sys
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import torch

from elmo_tasks.common.fetch import local_path


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
