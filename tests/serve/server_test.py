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


@pytest.mark.parametrize("is_long", [False, True])
def test_sigterm_refuses_what_waits_and_what_takes_longer_than_some_seconds(
    is_long: bool,
    models: list[ServedModel],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(server, "_COMPUTED", 0.1 if is_long else 5)
    monkeypatch.setattr(server, "_ALL", 8)
    predictor = models[0].predictor
    model = Held(predictor.predict_batch_json)
    monkeypatch.setattr(predictor, "predict_batch_json", model)
    listening = server.listen("127.0.0.1", 0)
    url = f"{server.address_of(listening)}predict/sst"
    signals: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))
    app = app_of(models[:1], LIMITS)
    asking = []

    def terminate() -> None:
        asking.append(pool.submit(httpx.post, url, json={"sentence": "a film"}))
        until(lambda: len(model.batches) == 1)
        asking.append(pool.submit(httpx.post, url, json={"sentence": "a film"}))
        until(lambda: len(app.state.worker._waiting) == 1)
        os.kill(os.getpid(), signal.SIGTERM)
        assert asking[1].result().status_code == 503
        if not is_long:
            model.may_answer.set()

    with ThreadPoolExecutor(3) as pool:
        terminating = pool.submit(terminate)
        server.make_server(app, LIMITS).run(sockets=[listening])
        signal.signal(signal.SIGTERM, before)
        terminating.result()
        computed, waited = (each.result() for each in asking)
        model.may_answer.set()

    assert waited.json() == {"error": "the server stops"}
    assert computed.status_code == (503 if is_long else 200)
    if is_long:
        assert computed.json() == waited.json()
    assert "Traceback" not in caplog.text and len(model.batches) == 1
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
