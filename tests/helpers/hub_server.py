"""Serves repositories on 127.0.0.1 as the Hugging Face hub does."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from elmo_tasks.common.fetch import hub_folder

Repository = dict[str, bytes]


class Hub:
    """
    Repositories by `owner/name`, each of which has files by revision, and the paths that were asked
    for.
    """

    def __init__(self) -> None:
        self.repositories: dict[str, dict[str, Repository]] = {}
        self.requests: list[str] = []
        self.address = ""
        # The sizes that it gives of files, in place of the true ones.
        self.sizes: dict[str, Any] = {}

    def add(self, name: str, files: Repository, revision: str = "main") -> str:
        """Adds a revision. Returns its commit, by which the files can be had as well."""
        commit = hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()
        self.repositories.setdefault(name, {}).update({revision: files, commit: files})
        return commit

    def fetched_files(self) -> set[str]:
        """Returns the names of the files that were fetched."""
        return {path.rpartition("/")[2] for path in self.requests if path.startswith("GET /o")}


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None: ...

        def do_HEAD(self) -> None:
            self.answer(with_body=False)

        def do_GET(self) -> None:
            self.answer(with_body=True)

        def answer(self, with_body: bool) -> None:
            hub.requests.append(f"{self.command} {self.path}")
            match self.path.partition("?")[0].strip("/").split("/"):
                case ["api", "models", owner, name, "revision", revision]:
                    files = hub.repositories.get(f"{owner}/{name}", {}).get(revision)
                    if files is None:
                        known = f"{owner}/{name}" in hub.repositories
                        code = "RevisionNotFound" if known else "RepoNotFound"
                        return self.send(404, b"{}", {"X-Error-Code": code}, with_body)
                    commits = hub.repositories[f"{owner}/{name}"]
                    sha = next(c for c in commits if len(c) == 40 and commits[c] is files)
                    siblings = [
                        {"rfilename": file, "size": hub.sizes.get(file, len(content))}
                        for file, content in files.items()
                    ]
                    about = {"id": f"{owner}/{name}", "sha": sha, "siblings": siblings}
                    return self.send(200, json.dumps(about).encode(), {}, with_body)
                case [owner, name, "resolve", commit, *path]:
                    content = hub.repositories[f"{owner}/{name}"][commit]["/".join(path)]
                    etag = hashlib.sha256(content).hexdigest()
                    headers = {"ETag": etag, "X-Repo-Commit": commit}
                    return self.send(200, content, headers, with_body)
            self.send(404, b"", {}, with_body)

        def send(self, status: int, body: bytes, headers: dict[str, str], with_body: bool) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            if with_body:
                self.wfile.write(body)

    return Handler


@contextmanager
def serve_hub(folder: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """Serves a hub without repositories, whose files are cached in a folder."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    hub.address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("HF_ENDPOINT", hub.address)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    hub_folder.cache_clear()
    yield hub
    hub_folder.cache_clear()
    server.shutdown()
    thread.join()
    server.server_close()
