import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from allennlp.common.util import sanitize

from elmo_tasks.serve.app import STATIC
from elmo_tasks.serve.served_model import ServedModel
from tests.helpers.hostile_weights import overflow
from tests.helpers.served import NAMES


def test_health_and_models_name_what_is_served(address: str) -> None:
    health = httpx.get(f"{address}/health").json()
    about = httpx.get(f"{address}/models").json()

    names = list(NAMES.values())
    assert health == {"status": "ok", "models": names}
    assert [model["task"] for model in about["models"]] == names
    assert [tool["task"] for tool in about["tools"]] == ["layers", "senses", "words"]
    for model in about["models"]:
        assert {mix["place"] for mix in model["mixes"]} == {"input", "output"}
        assert all(set(example) == set(model["fields"]) for example in model["examples"])


@pytest.mark.parametrize("index", range(4))
def test_an_answer_is_that_of_the_predictor(
    index: int, address: str, models: list[ServedModel]
) -> None:
    model = models[index]
    assert model.task is not None
    examples = model.task.examples

    one = httpx.post(f"{address}/predict/{model.name}", json=examples[0])
    several = httpx.post(f"{address}/predict/{model.name}", json=examples)

    expected = json.loads(json.dumps(sanitize(model.predictor.predict_json(dict(examples[0])))))
    expected.pop("loss", None)
    assert one.status_code == several.status_code == 200
    assert_close(one.json(), expected)
    assert len(several.json()) == len(examples)
    assert_close(several.json()[0], expected)
    assert re.fullmatch(r"answer;dur=\d+\.\d", one.headers["server-timing"])


def test_details_are_what_the_page_shows(address: str, models: list[ServedModel]) -> None:
    added = {}
    for model in models:
        assert model.task is not None
        url, example = f"{address}/predict/{model.name}", model.task.examples[0]
        plain = httpx.post(url, json=example).json()
        detailed = httpx.post(url, json=example, params={"details": True}).json()
        added[model.name] = set(detailed) - set(plain)

    assert added == {
        "sentiment": set(),
        "entities": {"paths"},
        "entailment": {"premise_attention", "hypothesis_attention"},
        "reading": {"passage_tokens", "question_tokens", "attention"},
        "roles": set(),
        "coreference": set(),
    }


def test_no_inputs_have_no_answers(address: str) -> None:
    assert httpx.post(f"{address}/predict/sentiment", json=[]).json() == []


LONG = json.dumps({"sentence": "word " * 6000})
VERY_LONG = json.dumps({"sentence": "word " * 100_000})
DETAILED = json.dumps({"sentence": "word " * 1001})
PREDICATES = json.dumps([{"tokens": ["a"]}, {"tokens": ["a"] * 150, "predicates": [*range(150)]}])


@pytest.mark.parametrize(
    "path, body, status, reason",
    [
        ("/predict/sentimant", "{}", 404, r"no model named 'sentimant'.*mean 'sentiment'\?"),
        ("/nowhere", "{}", 404, "nothing at /nowhere; /docs"),
        ("/health", "{}", 405, "/health does not take POST"),
        ("/predict/sentiment", '{"sentence"', 400, "the body is not JSON in UTF-8: Expecting"),
        ("/predict/sentiment", b"\xff", 400, "the body is not JSON in UTF-8: .*decode"),
        ("/predict/sentiment", '{"text": "a"}', 422, 'expected {"sentence": "raw text"} or .*'),
        ("/predict/sentiment", '{"sentence": " "}', 422, "there is no word in"),
        ("/predict/sentiment", '[{"sentence": "a"}, 7]', 422, "input 2 of 2: expected .*got 7"),
        ("/predict/sentiment", LONG, 413, "6,000 words and punctuation marks; 5,000 are allowed"),
        ("/predict/sentiment", VERY_LONG, 413, "more than 262,144 bytes"),
        ("/predict/entities?details=true", DETAILED, 413, "1,001 words .*; 1,000 are allowed"),
        (
            "/predict/sentiment?details=maybe",
            "{}",
            422,
            "details in the query is 'maybe': .*boolean",
        ),
        (
            "/predict/reading",
            '{"data": []}',
            422,
            "a whole file is answered by `elmo-tasks predict`",
        ),
        ("/predict/roles", PREDICATES, 422, "input 2 of 2: .* 22,500; 20,000 are allowed: give"),
        ("/layers", '{"sentence": ""}', 422, "must have 1 to 100 tokens, not 0"),
        ("/words", '{"sentence": ""}', 422, "must have 1 to 50 tokens, not 0"),
        ("/layers", "[]", 422, 'expected {"sentence": "raw text"}, but got '),
        ("/senses", '{"word": "x", "text": "a b"}', 422, "the text must have the word 'x'"),
        ("/senses", '{"word": "x"}', 422, 'expected {"word": "play", '),
    ],
)
def test_an_error_is_a_sentence_with_the_right_status(
    path: str, body: str | bytes, status: int, reason: str, address: str
) -> None:
    response = httpx.post(f"{address}{path}", content=body)

    assert response.status_code == status
    assert set(response.json()) == {"error"}
    assert re.search(reason.replace('{"', r"\{\"").replace('"}', r"\"\}"), response.json()["error"])


def test_200_requests_at_once_have_their_own_answers(address: str) -> None:
    sentences = [f"{'very ' * (k % 7)}good film number {k}" for k in range(200)]

    with httpx.Client(timeout=60, limits=httpx.Limits(max_connections=200)) as client:

        def ask(sentence: str) -> httpx.Response:
            return client.post(f"{address}/predict/sentiment", json={"sentence": sentence})

        with ThreadPoolExecutor(200) as pool:
            responses = list(pool.map(ask, sentences))

    assert {response.status_code for response in responses} == {200}
    assert [response.json()["tokens"] for response in responses] == list(map(str.split, sentences))


def test_a_bug_is_a_sentence_and_the_server_lives(
    address: str, models: list[ServedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("a secret path")

    with monkeypatch.context() as patch:
        patch.setattr(models[0].model, "forward_on_instances", fail)
        response = httpx.post(f"{address}/predict/sentiment", json={"sentence": "a film"})
    after = httpx.post(f"{address}/predict/sentiment", json={"sentence": "a film"})

    assert response.status_code == 500
    assert response.json() == {
        "error": "the server failed at this request (RuntimeError); its log says more"
    }
    assert after.status_code == 200


@pytest.mark.parametrize("index", range(4))
def test_finite_weights_that_overflow_give_no_answer(
    index: int, address: str, models: list[ServedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    overflow(models[index].model, monkeypatch)
    served = models[index]
    assert served.task is not None
    inputs = served.task.examples[0]

    for details in (False, True):
        url = f"{address}/predict/{served.name}?details={str(details).lower()}"
        response = httpx.post(url, json=inputs)
        assert response.status_code == 422
        assert response.json()["error"].startswith("the answer has a number that is not finite; ")


def test_the_schema_has_a_path_for_each_model_with_an_example(address: str) -> None:
    paths = httpx.get(f"{address}/openapi.json").json()["paths"]

    assert {path for path in paths if path.startswith("/predict/")} == {
        f"/predict/{name}" for name in NAMES.values()
    }
    assert "content" not in paths["/predict/reading"]["post"]["responses"]["422"]
    media = paths["/predict/reading"]["post"]["requestBody"]["content"]["application/json"]
    assert set(media["example"]) == {"passage", "question"}


@pytest.mark.parametrize("page", ["/", "/docs"])
def test_pages_load_only_files_of_the_server(page: str, address: str) -> None:
    html = httpx.get(f"{address}{page}").text

    sources = re.findall(r'(?:src|href)="([^"#]+)"', html)
    assert len(sources) >= 2
    for source in sources:
        assert source.startswith("/")
        assert httpx.get(f"{address}{source}").status_code == 200
    assert "style=" not in html and not re.search(r"<script(?! [^>]*src=)|<style", html)


def test_no_file_of_the_page_names_another_machine() -> None:
    files = [path for path in STATIC.iterdir() if path.suffix in (".html", ".css", ".js")]

    assert len(files) >= 4
    for path in files:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"(https?:)?//[\w-]+\.\w", text), path.name


def assert_close(value: Any, expected: Any) -> None:
    """Fails unless two values of JSON are equal up to the rounding of float32."""
    if isinstance(expected, dict):
        assert value.keys() == expected.keys()
        for key in expected:
            assert_close(value[key], expected[key])
    elif isinstance(expected, list):
        assert len(value) == len(expected)
        for one, other in zip(value, expected):
            assert_close(one, other)
    elif isinstance(expected, float):
        assert value == pytest.approx(expected, rel=1e-4, abs=1e-5)
    else:
        assert value == expected
