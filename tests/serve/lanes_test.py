import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from allennlp.common.util import sanitize

from elmo_tasks.serve.lanes import Lanes
from elmo_tasks.serve.served_model import ServedModel
from tests.serve.app_test import assert_close


def test_a_short_request_does_not_wait_for_a_long_one() -> None:
    may_answer = Event()

    def predict(inputs: list[str]) -> list[str]:
        if inputs != ["short"]:
            assert may_answer.wait(10)
        return inputs

    async def ask() -> list[list[str]]:
        answer = Lanes().answering(predict, max_short=3)
        long = asyncio.ensure_future(answer(["a text", "of four"]))
        await asyncio.sleep(0.01)
        short = await asyncio.wait_for(answer(["short"]), 5)
        may_answer.set()
        return [short, await long]

    assert asyncio.run(ask()) == [["short"], ["a text", "of four"]]


def test_two_threads_can_use_a_model_at_a_time(models: list[ServedModel]) -> None:
    for model in models:
        assert model.task is not None
        predict = model.predictor.predict_batch_json
        inputs = [model.task.examples[:1], model.task.examples] * 4
        expected = [predict(each) for each in inputs[:2]] * 4

        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(predict, inputs))

        for answer, right in zip(answers, expected, strict=True):
            assert_close(*(json.loads(json.dumps(sanitize(each))) for each in (answer, right)))
