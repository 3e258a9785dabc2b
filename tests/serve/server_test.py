import os
import signal
import socket
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from elmo_tasks.serve import server
from elmo_tasks.serve.app import ServedModel
from tests.helpers.served import app_of
from tests.serve.limits_test import LIMITS, Held, until


def test_sigterm_ends_the_server_once_the_requests_in_flight_are_answered(
    models: list[ServedModel], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    predictor = models[0].predictor
    model = Held(predictor.predict_batch_json)
    monkeypatch.setattr(predictor, "predict_batch_json", model)
    listening = server.listen("127.0.0.1", 0)
    url = f"{server.address_of(listening)}predict/sst"
    signals: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))

    def terminate() -> None:
        until(lambda: len(model.batches) == 1)
        os.kill(os.getpid(), signal.SIGTERM)
        # The server does not listen any more.
        until(lambda: listening.fileno() == -1)
        model.may_answer.set()

    with ThreadPoolExecutor(3) as pool:
        asking = [pool.submit(httpx.post, url, json={"sentence": "a film"}) for _ in range(2)]
        terminating = pool.submit(terminate)
        server.make_server(app_of(models[:1], LIMITS), LIMITS).run(sockets=[listening])
        signal.signal(signal.SIGTERM, before)
        terminating.result()
        responses = [each.result() for each in asking]

    assert [response.status_code for response in responses] == [200, 200]
    assert "Traceback" not in caplog.text
    # uvicorn raises it again, which ends the process.
    assert signals == [signal.SIGTERM]


def test_the_body_of_an_answer_does_not_wait_until_its_head_is_acknowledged() -> None:
    with (
        server.listen("127.0.0.1", 0) as listening,
        socket.create_connection(listening.getsockname()),
    ):
        accepted, _ = listening.accept()

    with accepted:
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
