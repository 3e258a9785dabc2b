import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from elmo_tasks.serve import protocol
from elmo_tasks.serve.gate import Limits
from elmo_tasks.serve.served_model import ServedModel
from tests.helpers.served import app_of, running

LIMITS = Limits(max_bytes=10_000, max_requests=3, seconds=0.3)
JSON = {"sentence": "a film"}


@pytest.fixture(scope="module")
def address(models: list[ServedModel]) -> Iterator[str]:
    with running(app_of(models[:1], LIMITS), LIMITS) as url:
        yield url


@pytest.fixture
def url(address: str) -> str:
    return f"{address}/predict/sentiment"


def raw(address: str) -> socket.socket:
    host, port = address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=5)


def read_all(connection: socket.socket) -> str:
    parts = []
    while part := connection.recv(4096):
        parts.append(part)
    return b"".join(parts).decode()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:99", "localhost:99", "[::1]:99"])
def test_addresses_and_localhost_are_names_of_the_server(host: str, url: str) -> None:
    assert httpx.post(url, json=JSON, headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *("example.org", "127.0.0.1.example.org", "localhost.example", ""),
        *("evil.com@127.0.0.1", "evil.com:80@127.0.0.1:99", "127.0.0.1/evil.com", "127.0.0.1?x"),
        *("[::1]evil.com", "[localhost]", "127.0.0.1:evil"),
    ],
)
def test_another_host_is_refused(host: str, url: str) -> None:
    response = httpx.post(url, json=JSON, headers={"host": host})

    assert response.status_code == 403
    assert response.json()["error"].startswith(f"this server is not {host!r}; use its IP address")


def test_only_the_own_page_may_ask(address: str, url: str) -> None:
    statuses = {
        origin: httpx.post(url, json=JSON, headers={"origin": origin}).status_code
        for origin in (address, "https://example.org", "null", "http://127.0.0.1:1")
    }

    assert statuses == {
        address: 200,
        "https://example.org": 403,
        "null": 403,
        "http://127.0.0.1:1": 403,
    }


def test_no_answer_allows_other_sites_and_all_forbid_foreign_files(address: str, url: str) -> None:
    responses = [
        httpx.get(f"{address}/"),
        httpx.post(url, json=JSON),
        httpx.post(url, json=JSON, headers={"origin": "https://example.org"}),
        httpx.options(url, headers={"origin": address}),
    ]

    for response in responses:
        assert not any("access-control" in name for name in response.headers)
        policy = response.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "frame-ancestors 'none'" in policy
        assert response.headers["x-content-type-options"] == "nosniff"


def test_a_large_body_is_refused_with_and_without_its_length(url: str) -> None:
    for content in (b"x" * 300_000, iter([b"x" * 100_000] * 3)):
        response = httpx.post(url, content=content)

        assert response.status_code == 413
        assert response.json() == {
            "error": "the body has more than 10,000 bytes, the most it may have"
        }


def test_memory_stays_flat_under_large_bodies(url: str) -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * os.sysconf(
            "SC_PAGE_SIZE"
        )

    body = b"x" * 600_000
    with httpx.Client() as client:
        client.post(url, content=body)
        before = resident()
        for _ in range(60):
            assert client.post(url, content=body).status_code == 413

    assert resident() - before < 10_000_000


HEAD = b"POST /predict/sentiment HTTP/1.1\r\nHost: localhost"


def request(sentence: str) -> bytes:
    body = b'{"sentence": "%s"}' % sentence.encode()
    return b"%s\r\nContent-Length: %d\r\n\r\n%s" % (HEAD, len(body), body)


def test_a_slow_body_is_refused(address: str) -> None:
    with raw(address) as connection:
        connection.sendall(request("a film")[:-5])
        answer = read_all(connection)

    assert answer.startswith("HTTP/1.1 408 ")
    assert "the request was not complete after 0.3 seconds" in answer


def test_a_slow_head_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.3)
    with raw(address) as silent, raw(address) as slow:
        slow.sendall(b"POST /pre")
        answers = [read_all(silent), read_all(slow)]

    for answer in answers:
        assert answer.startswith("HTTP/1.1 408 ")
        assert answer.endswith('{"error": "the head of the request did not come in time"}')


def test_a_client_that_does_not_read_is_left(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "ANSWER_SECONDS", 0.3)
    path = "/swagger/swagger-ui-bundle.js"
    whole = len(httpx.get(f"{address}{path}").content)
    # The buffers of the system have room for one such file.
    times = 10
    with raw(address) as connection:
        connection.sendall(times * f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        time.sleep(1)
        size = 0
        with contextlib.suppress(ConnectionResetError):
            while part := connection.recv(65536):
                size += len(part)

    assert 0 < size < times * whole


def test_what_is_no_http_is_refused(address: str) -> None:
    with raw(address) as connection:
        connection.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        answer = read_all(connection)

    assert answer.startswith("HTTP/1.1 400 ")
    assert answer.endswith('{"error": "the request is not HTTP, or damaged"}')


def test_a_damaged_body_is_refused(address: str, caplog: pytest.LogCaptureFixture) -> None:
    with raw(address) as connection:
        connection.sendall(HEAD + b"\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n")
        answer = read_all(connection)

    assert answer.startswith("HTTP/1.1 400 ")
    assert answer.endswith('{"error": "the request is not HTTP, or damaged"}')
    assert "Traceback" not in caplog.text


def test_two_lengths_of_a_body_are_refused(address: str) -> None:
    lengths = b"\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
    with raw(address) as connection:
        connection.sendall(HEAD + lengths + b"0\r\n\r\nGET /health HTTP/1.1\r\n")
        answer = read_all(connection)

    assert answer.startswith("HTTP/1.1 400 ") and answer.count("HTTP/1.1") == 1
    assert "has both a Content-Length and a Transfer-Encoding" in answer


class Held:
    """A predictor that answers when it may, and remembers its batches."""

    def __init__(self, predict: Callable[[list], list]) -> None:
        self.predict = predict
        self.batches: list[list] = []
        self.may_answer = threading.Event()

    def __call__(self, inputs: list) -> list:
        self.batches.append(inputs)
        assert self.may_answer.wait(10)
        return self.predict(inputs)


@pytest.fixture
def held(models: list[ServedModel], monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Held]]:
    """A server whose model answers when it may."""
    predictor = models[0].predictor
    holding = Held(predictor.predict_batch_json)
    monkeypatch.setattr(predictor, "predict_batch_json", holding)
    with running(app_of(models[:1], LIMITS), LIMITS) as url:
        yield url, holding


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_client_that_goes_away_is_not_answered(held: tuple[str, Held]) -> None:
    address, model = held
    first, gone, last = raw(address), raw(address), raw(address)
    for connection, word in ((first, "one"), (gone, "two"), (last, "six")):
        connection.sendall(request(word))
        until(lambda: len(model.batches) == 1)
    time.sleep(0.2)
    gone.close()
    time.sleep(0.2)
    model.may_answer.set()

    for connection in (first, last):
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        connection.close()
    assert model.batches == [[{"sentence": "one"}], [{"sentence": "six"}]]


def test_too_many_requests_are_refused_and_later_ones_answered(held: tuple[str, Held]) -> None:
    address, model = held
    connections = [raw(address) for _ in range(3)]
    for connection in connections:
        connection.sendall(request("one"))
    until(lambda: len(model.batches) == 1)
    time.sleep(0.05)

    refused = httpx.post(f"{address}/predict/sentiment", json=JSON)
    model.may_answer.set()
    for connection in connections:
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        connection.close()
    answered = httpx.post(f"{address}/predict/sentiment", json=JSON)

    assert refused.status_code == 503
    assert refused.headers["retry-after"] == "1"
    assert refused.json() == {
        "error": "the server has too many requests to answer already; try again"
    }
    assert answered.status_code == 200
