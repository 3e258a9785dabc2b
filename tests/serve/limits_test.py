import socket
import threading
import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from elmo_tasks.serve.answering import Limits
from elmo_tasks.serve.app import ServedModel
from tests.helpers.served import app_of, run_server

LIMITS = Limits(max_bytes=10_000, max_requests=3)
JSON = {"sentence": "a film"}


@pytest.fixture(scope="module")
def address(models: list[ServedModel]) -> Iterator[str]:
    with run_server(app_of(models[:1], LIMITS), LIMITS) as url:
        yield url


def raw(address: str) -> socket.socket:
    host, port = address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=5)


def test_a_large_body_is_refused_with_and_without_its_length(address: str) -> None:
    for content in (b"x" * 300_000, iter([b"x" * 100_000] * 3)):
        response = httpx.post(f"{address}/predict/sst", content=content)

        assert response.status_code == 413
        assert response.json() == {
            "error": "the body has more than 10,000 bytes, the most it may have"
        }


HEAD = b"POST /predict/sst HTTP/1.1\r\nHost: localhost"


def request(sentence: str) -> bytes:
    body = b'{"sentence": "%s"}' % sentence.encode()
    return b"%s\r\nContent-Length: %d\r\n\r\n%s" % (HEAD, len(body), body)


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
    with run_server(app_of(models[:1], LIMITS), LIMITS) as url:
        yield url, holding


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_client_that_goes_away_within_its_body_is_no_error(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    with raw(address) as connection:
        connection.sendall(request("one")[:-3])

    assert httpx.post(f"{address}/predict/sst", json=JSON).status_code == 200
    assert "Traceback" not in caplog.text


def test_too_many_requests_are_refused_and_later_ones_answered(held: tuple[str, Held]) -> None:
    address, model = held
    connections = [raw(address) for _ in range(3)]
    for connection in connections:
        connection.sendall(request("one"))
    until(lambda: len(model.batches) == 1)
    time.sleep(0.05)

    refused = httpx.post(f"{address}/predict/sst", json=JSON)
    model.may_answer.set()
    for connection in connections:
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        connection.close()
    answered = httpx.post(f"{address}/predict/sst", json=JSON)

    assert refused.status_code == 503
    assert refused.headers["retry-after"] == "1"
    assert refused.json() == {
        "error": "the server has too many requests to answer already; try again"
    }
    assert answered.status_code == 200


def test_the_inputs_of_clients_that_have_gone_are_not_computed(held: tuple[str, Held]) -> None:
    address, model = held
    first, gone, last = (raw(address) for _ in range(3))
    first.sendall(request("one"))
    until(lambda: len(model.batches) == 1)
    gone.sendall(request("two"))
    last.sendall(request("three"))
    time.sleep(0.1)
    gone.close()
    time.sleep(0.1)

    model.may_answer.set()

    for connection in (first, last):
        assert connection.recv(4096).startswith(b"HTTP/1.1 200 ")
        connection.close()
    assert model.batches == [[{"sentence": "one"}], [{"sentence": "three"}]]


def test_what_is_no_http_is_refused_by_uvicorn_in_plain_text(address: str) -> None:
    with raw(address) as connection:
        connection.sendall(b"no HTTP\r\n\r\n")

        answer = b"".join(iter(lambda: connection.recv(4096), b""))

    assert answer.startswith(b"HTTP/1.1 400 ") and b"Invalid HTTP request received." in answer
