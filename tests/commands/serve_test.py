import asyncio
import re
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from elmo_tasks.commands import serve
from tests.helpers.archives import sst
from tests.helpers.command_line import allennlp, refusal
from tests.helpers.reference_bilm import FIXTURE_FILES


async def get(app: Any, path: str) -> Any:
    """Returns the JSON that an application answers."""
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        return (await client.get(path)).json()


def test_the_server_prints_its_address_and_answers_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    archive = sst(tmp_path, "both")
    seen = []

    async def ask_once(server: uvicorn.Server, sockets: list[socket.socket]) -> None:
        """Stands for the server's loop, which a signal ends."""
        seen.append(capsys.readouterr().out)
        seen.append(await get(server.config.app, "/health"))
        raise KeyboardInterrupt

    monkeypatch.setattr(uvicorn.Server, "serve", ask_once)
    allennlp("elmo-serve", f"mine={archive}", "--port", 0)

    printed, health = seen
    assert re.fullmatch(r"http://127\.0\.0\.1:[1-9]\d+/  \(Ctrl-C stops the server\)\n", printed)
    assert health == {"status": "ok", "models": ["mine"]}


def test_without_a_model_the_server_has_those_of_the_package_and_warns_where_others_reach_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(serve, "TRAINED", [f"feelings={sst(tmp_path, 'both')}"])
    apps = []
    monkeypatch.setattr(uvicorn.Server, "run", lambda server, **_: apps.append(server.config.app))
    bilm = FIXTURE_FILES[0].parent

    allennlp("elmo-serve", "--host", "0.0.0.0", "--port", 0, "--bilm", bilm)

    assert asyncio.run(get(apps[0], "/health"))["models"] == ["feelings"]
    warning, address, *_ = capsys.readouterr().out.splitlines()
    assert warning.startswith("WARNING: every machine that reaches this one can use the server")
    assert address.startswith("http://0.0.0.0:")


def test_a_port_in_use_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = refusal("elmo-serve", "--port", port)

    assert message.startswith(f"elmo-serve: the server cannot listen on 127.0.0.1, port {port} (")
    assert message.endswith("choose another --port, or --port 0 for a free one")


def test_a_wrong_language_is_refused_in_a_line() -> None:
    language = refusal("elmo-serve", "--port", 0, "--language", "xx-wrong")

    assert language.startswith("elmo-serve: ") and "'xx-wrong'" in language
