"""Tests that answers do not depend on the other inputs of their batch."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elmo_tasks.predictors.answer_lines import answer_inputs, text_of_answer
from elmo_tasks.predictors.input_records import Input, Inputs
from elmo_tasks.predictors.text_predictor import TextPredictor
from tests.helpers.archives import task_predictor

words = st.sampled_from(["Marta", "left", "Oslo", ",", "the", "old", "boat", "sang"])
texts = st.lists(words, min_size=1, max_size=30).map(" ".join)


@pytest.fixture(scope="module", params=["ner", "sst", "snli", "srl"])
def predictor(request: pytest.FixtureRequest, tmp_path_factory: Any) -> TextPredictor:
    return task_predictor(tmp_path_factory.mktemp(request.param), request.param, "both")


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_answers_in_text_are_equal_bytes_whatever_the_batch(
    data: st.DataObject, predictor: TextPredictor
) -> None:
    one = st.fixed_dictionaries(dict.fromkeys(predictor.input_names, texts))
    asked = data.draw(st.lists(one, min_size=1, max_size=40))
    sizes = [1, data.draw(st.integers(2, 40)), 32]

    found = []
    for size in sizes:
        records = iter([Input("in", k, each, each) for k, each in enumerate(asked)])
        answers = answer_inputs(Inputs("in", "text", records), predictor, size)
        found.append("".join(text_of_answer(each, predictor) for each in answers))

    assert found[0] == found[1] == found[2]
    assert len(found[0].splitlines()) >= len(asked)
