import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from allennlp.common.util import sanitize
from allennlp.data.fields import TextField

from elmo_tasks.serve.app import STATIC
from elmo_tasks.serve.served_model import ServedModel
from tests.helpers.hostile_weights import overflow
from tests.helpers.served import NAMES


def test_health_and_models_name_what_is_served(address: str) -> None:
    health = httpx.get(f"{address}/health").json()
    about = httpx.get(f"{address}/models").json()

    names = list(NAMES)
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
        "sst": set(),
        "ner": {"paths"},
        "snli": {"premise_attention", "hypothesis_attention"},
        "squad": {"passage_tokens", "question_tokens", "attention"},
        "srl": set(),
        "coref": set(),
    }


@pytest.mark.parametrize("name", NAMES)
def test_the_words_of_an_answer_have_weights(
    name: str, address: str, models: list[ServedModel]
) -> None:
    model = models[NAMES.index(name)]
    assert model.task is not None
    example = model.task.examples[0]

    response = httpx.post(f"{address}/saliency/{name}", json=example)

    assert model.task.explained == (name in ("sst", "snli", "squad"))
    if not model.task.explained:
        assert response.status_code == 404
        return
    texts = response.json()["texts"]
    instance = model.predictor._json_to_instance(dict(example))
    assert {text["field"]: text["tokens"] for text in texts} == {
        name: [token.text for token in field]
        for name, field in instance.fields.items()
        if isinstance(field, TextField)
    }
    for text in texts:
        for weights in text["weights"]:
            assert len(weights) == len(text["tokens"])
            assert sum(weights) == pytest.approx(1)


def test_no_inputs_have_no_answers(address: str) -> None:
    assert httpx.post(f"{address}/predict/sst", json=[]).json() == []


LONG = json.dumps({"sentence": "word " * 6000})
VERY_LONG = json.dumps({"sentence": "word " * 100_000})
DETAILED = json.dumps({"sentence": "word " * 1001})
PREDICATES = json.dumps([{"tokens": ["a"]}, {"tokens": ["a"] * 150, "predicates": [*range(150)]}])


@pytest.mark.parametrize(
    "path, body, status, reason",
    [
        ("/predict/sts", "{}", 404, r"no model named 'sts'.*mean 'sst'\?"),
        ("/nowhere", "{}", 404, "nothing at /nowhere; /docs"),
        ("/health", "{}", 405, "/health does not take POST"),
        ("/predict/sst", '{"sentence"', 400, "the body is not JSON in UTF-8: Expecting"),
        ("/predict/sst", b"\xff", 400, "the body is not JSON in UTF-8: .*decode"),
        ("/predict/sst", '{"text": "a"}', 422, 'expected {"sentence": "raw text"} or .*'),
        ("/predict/sst", '{"sentence": " "}', 422, "there is no word in"),
        ("/predict/sst", '[{"sentence": "a"}, 7]', 422, "input 2 of 2: expected .*got 7"),
        ("/predict/sst", LONG, 413, "6,000 words and punctuation marks, .*; 5,000 are allowed"),
        ("/predict/sst", f"[{'7,' * 5000}7]", 413, "5,001 words .*or inputs; 5,000 are allowed"),
        ("/predict/sst", VERY_LONG, 413, "more than 262,144 bytes"),
        ("/predict/ner?details=true", DETAILED, 413, "1,001 words .*; 1,000 are allowed"),
        (
            "/predict/sst?details=maybe",
            "{}",
            422,
            "details in the query is 'maybe': .*boolean",
        ),
        (
            "/predict/squad",
            '{"data": []}',
            422,
            "a whole file is answered by `elmo-tasks predict`",
        ),
        ("/predict/srl", PREDICATES, 422, "input 2 of 2: .* 22,500; 20,000 are allowed: give"),
        ("/layers", '{"sentence": ""}', 422, "there is no word in the sentence"),
        ("/words", '{"sentence": ""}', 422, "there is no word in the sentence"),
        ("/layers", "[7]", 422, 'expected {"sentence": "raw text"}, but got '),
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
            return client.post(f"{address}/predict/sst", json={"sentence": sentence})

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
        response = httpx.post(f"{address}/predict/sst", json={"sentence": "a film"})
    after = httpx.post(f"{address}/predict/sst", json={"sentence": "a film"})

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
        f"/predict/{name}" for name in NAMES
    }
    assert "content" not in paths["/predict/squad"]["post"]["responses"]["422"]
    media = paths["/predict/squad"]["post"]["requestBody"]["content"]["application/json"]
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
