import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from allennlp.models import load_archive

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text import listed
from elmo_tasks.predictors.saliency import saliency
from elmo_tasks.serve.app import STATIC, ServedModel
from tests.helpers.archives import language_model, task_model
from tests.helpers.served import NAMES, app_of, run_server
from tests.predictors.contract_test import leaves


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


@pytest.mark.parametrize("name", NAMES)
def test_an_answer_and_the_weights_of_words_are_those_of_the_predictor(
    name: str, address: str, models: list[ServedModel]
) -> None:
    model = models[NAMES.index(name)]
    assert model.task is not None
    url, examples = f"{address}/predict/{name}", model.task.examples

    one, several = httpx.post(url, json=examples[0]), httpx.post(url, json=examples)

    expected = model.predictor.predict_json(dict(examples[0]))
    assert one.status_code == several.status_code == 200
    assert list(leaves(one.json())) == list(leaves(expected))
    assert len(several.json()) == len(examples)
    assert list(leaves(several.json()[0])) == list(leaves(expected))
    assert httpx.post(url, json=[]).json() == []
    matters = httpx.post(f"{address}/saliency/{name}", json=examples[0])
    assert (
        model.task.explained == (name in ("sst", "snli", "squad")) == (matters.status_code == 200)
    )
    if model.task.explained:
        weights = saliency(model.predictor, dict(examples[0]))
        assert list(leaves(matters.json())) == list(leaves(weights))


DEEP = 950 * "[" + 950 * "]"
LONG = json.dumps({"sentence": "word " * 6000})
VERY_LONG = json.dumps({"sentence": "word " * 100_000})


@pytest.mark.parametrize(
    "path, body, status, reason",
    [
        ("/predict/sts", "{}", 404, "Not Found"),
        ("/health", "{}", 405, "Method Not Allowed"),
        ("/predict/sst", '{"sentence"', 400, "the body is not JSON in UTF-8: Expecting"),
        ("/predict/sst", 100_000 * "[", 400, "the body is not JSON in UTF-8: .* too deep"),
        ("/predict/sst", b"\xff", 400, "the body is not JSON in UTF-8: .*decode"),
        ("/predict/sst", '{"words": "a"}', 422, 'expected {"sentence": "raw text"} or .*'),
        ("/predict/sst", '{"sentence": " "}', 422, "there is no word in"),
        ("/predict/sst", LONG, 413, "6,000 words and punctuation marks .*; 5,000 are allowed"),
        ("/predict/sst", f"[{'7,' * 5000}7]", 413, "5,001 words .*at least one for each input"),
        ("/predict/sst", VERY_LONG, 413, "more than 262,144 bytes"),
        ("/layers", '{"sentence": ""}', 422, "there is no word in the sentence"),
        ("/words", '{"sentence": ""}', 422, "there is no word in the sentence"),
        ("/layers", "7", 422, 'expected {"sentence": "raw text"} or .*, but got 7'),
        ("/senses", '{"word": "x", "text": "a b"}', 422, "the text must have the word 'x'"),
        ("/senses", '{"word": "x"}', 422, 'expected {"word": "raw text", "text": '),
    ],
)
def test_an_error_is_a_sentence_with_the_right_status(
    path: str, body: str | bytes, status: int, reason: str, address: str
) -> None:
    response = httpx.post(f"{address}{path}", content=body)

    assert response.status_code == status
    assert set(response.json()) == {"error"}
    assert re.search(reason.replace('{"', r"\{\"").replace('"}', r"\"\}"), response.json()["error"])


def test_a_long_passage_counts_the_words_that_are_read_of_it(
    address: str, models: list[ServedModel]
) -> None:
    passage = "\n\n".join(["The owl sleeps all day and hunts mice at night."] * 700)
    asked = {"passage": passage, "question": "When does the owl hunt?", "top_k": 2}

    answer, matters = (
        httpx.post(f"{address}/{path}/squad", json=asked, timeout=60)
        for path in ("predict", "saliency")
    )
    several = httpx.post(
        f"{address}/predict/squad", json=[{**asked, "passage": passage[:30_000]}] * 4
    )

    found = answer.json()
    assert answer.status_code == matters.status_code == 200
    assert passage[found["start"] : found["end"]] == found["answer"]
    assert found["paragraph"] in passage and len(found["best"]) == 2
    assert len(matters.json()["texts"][1]["tokens"]) <= 400
    assert several.status_code == 413 and "has 6,400 words" in several.json()["error"]


@pytest.mark.parametrize("path", ["/predict/sst", "/layers"])
def test_bad_inputs_of_a_list_have_errors_in_their_places_and_the_others_answers(
    path: str, address: str
) -> None:
    url, good = f"{address}{path}", {"sentence": "A film."}
    inputs = json.dumps([good, 7, {"sentence": ""}, good])[:-1] + f", {DEEP}]"

    response = httpx.post(url, content=inputs)
    one, bad = (httpx.post(url, json=each) for each in (good, [7]))

    assert response.status_code == one.status_code == bad.status_code == 200
    first, number, empty, second, deep = response.json()
    assert list(leaves(first)) == list(leaves(second)) == list(leaves(one.json()))
    assert empty == {"error": "there is no word in the sentence"}
    assert list(number) == list(deep) == ["error"] and number["error"].endswith("but got 7")
    assert deep["error"].startswith("expected ") and bad.json() == [number]


def test_a_bug_at_an_input_of_a_list_is_in_the_log_and_not_in_the_answer(
    address: str, models: list[ServedModel], monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    original = models[0].predictor._json_to_instance

    def failing(inputs: Any) -> Any:
        if inputs == {"sentence": "bad"}:
            raise RuntimeError("a secret path")
        return original(inputs)

    monkeypatch.setattr(models[0].predictor, "_json_to_instance", failing)
    inputs = [{"sentence": "bad"}, {"sentence": "a film"}]
    response = httpx.post(f"{address}/predict/sst", json=inputs)

    bad, good = response.json()
    assert response.status_code == 200 and "label" in good and "secret" not in response.text
    assert bad["error"].startswith("the server failed at this request (RuntimeError); its log")
    assert "a secret path" in caplog.text


def test_a_bug_is_a_sentence_and_the_server_lives(
    address: str, models: list[ServedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("a secret path")

    def ask() -> httpx.Response:
        return httpx.post(f"{address}/predict/sst", json={"sentence": "a film"})

    with monkeypatch.context() as patch:
        patch.setattr(models[0].model, "forward_on_instances", fail)
        failed = ask()
    after = ask()

    assert failed.status_code == 500
    assert failed.json() == {
        "error": "the server failed at this request (RuntimeError); its log says more"
    }
    assert after.status_code == 200


def test_the_page_loads_only_files_of_the_server(address: str) -> None:
    html = httpx.get(f"{address}/").text

    sources = re.findall(r'(?:src|href)="([^"#]+)"', html)
    assert len(sources) >= 2
    for source in sources:
        assert source.startswith("/")
        assert httpx.get(f"{address}{source}").status_code == 200
    assert "style=" not in html and not re.search(r"<script(?! [^>]*src=)|<style", html)


def test_a_name_that_cannot_be_in_an_address_is_refused(tmp_path: Path) -> None:
    archive = load_archive(str(language_model(tmp_path)))

    for name in ("c#", "a b", "{x}", "it's", ""):
        with pytest.raises(ConfigurationError, match="cannot be named .*: give it as NAME=MODEL"):
            ServedModel(name, archive)


def test_no_file_of_the_page_names_another_machine() -> None:
    files = [path for path in STATIC.iterdir() if path.suffix in (".html", ".css", ".js")]

    assert len(files) == 3
    for path in files:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"(https?:)?//[\w-]+\.\w", text), path.name


def test_a_model_without_a_tab_of_its_task_is_asked_in_json(tmp_path: Path) -> None:
    model = ServedModel("a/lm", load_archive(str(language_model(tmp_path))))

    about = model.describe()
    with run_server(app_of([model])) as address:
        sentence = {"sentence": "the dog saw a cat"}
        answer = httpx.post(f"{address}/predict/a/lm", json=sentence).json()

    assert about["drawing"] is None and about["fields"] == ("sentence",) and about["mixes"] == []
    assert answer["tokens"] == sentence["sentence"].split()


@pytest.mark.parametrize(
    ("task", "change", "about"),
    [
        ("tag", "column: 'misc', spans: true, examples: [{ sentence: 'x' }]", "Marks the spans"),
        ("tag", "column: 'misc', examples: [{ sentence: 'x' }]", "Gives each word one of the tags"),
        ("classify", "examples: [{ text: 'x' }, { label: 'no input' }]", "Gives a text one of"),
    ],
)
def test_a_model_of_own_data_is_shown_with_its_name_labels_and_examples(
    task: str, change: str, about: str, tmp_path: Path
) -> None:
    archive = load_archive(str(task_model(tmp_path, task, "baseline", f"{{ {change} }}")))

    shown = ServedModel("products", archive).describe()

    known = list(archive.model.vocab.get_token_to_index_vocabulary("labels"))
    labels = ["NAME"] if "spans" in change else known
    assert shown["title"] == "products" and list(shown["legend"]) == labels
    assert shown["about"].startswith(about) and shown["about"].endswith(f": {listed(labels)}.")
    assert shown["examples"] == ({shown["fields"][0]: "x"},)


def test_a_model_of_known_labels_keeps_the_words_of_its_task(tmp_path: Path) -> None:
    archive = load_archive(str(task_model(tmp_path, "ner", "baseline")))

    shown = ServedModel("mine", archive).describe()

    assert shown["title"] == "NER" and shown["legend"]["ORG"] == "organization"
