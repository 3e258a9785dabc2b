"""Tests that `/openapi.json` is true for each model and tool that is served."""

from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator

from tests.helpers.served import NAMES

# Inputs that each task answers besides its examples, and inputs that it refuses.
OTHERS: dict[str, list[dict[str, Any]]] = {
    "sst": [{"tokens": ["A", "film", "."], "id": 7}],
    "ner": [{"tokens": ["Anna", "left"]}],
    "snli": [{"premise": "It rains.", "hypothesis": "It is wet.", "id": 7}],
    "squad": [{"passage": "Anna left.", "question": "Who?", "top_k": 2}],
    "srl": [{"tokens": ["Anna", "left"], "predicates": [1]}],
    "coref": [{"sentences": [["Anna", "left"], ["She", "ran"]], "speakers": ["a", "a"]}],
}
REFUSED: dict[str, list[Any]] = {
    "sst": [{}, {"tokens": []}, {"sentence": 7}, "text"],
    "ner": [{}, {"tokens": ["a", 1]}],
    "snli": [{"premise": "It rains."}],
    "squad": [
        {"passage": "Anna left.", "question": "Who?", "top_k": 0},
        {"passage": "Anna left.", "question": "Who?", "top_k": "2"},
        {"question": "Who?"},
    ],
    "srl": [{"tokens": ["Anna", "left"], "predicates": [-1]}],
    "coref": [{}, {"sentences": [["Anna", 1]]}, {"document": "Anna left.", "genre": 1}],
}


@pytest.fixture(scope="module")
def paths(address: str) -> Any:
    described = httpx.get(f"{address}/openapi.json").json()
    assert described["openapi"].startswith("3.1") and described["info"].keys() == {
        "title",
        "version",
    }
    return described["paths"]


def schemas(operation: Any, *statuses: str) -> list[Draft202012Validator]:
    """Returns the schema of an operation's input, if it has one, and those of its answers."""
    contents = [operation["requestBody"]] if "requestBody" in operation else []
    contents += [operation["responses"][status] for status in statuses]
    found = [each["content"]["application/json"]["schema"] for each in contents]
    for schema in found:
        Draft202012Validator.check_schema(schema)
    return list(map(Draft202012Validator, found))


@pytest.mark.parametrize("name", NAMES)
def test_what_it_allows_is_answered_and_what_it_refuses_is_refused(
    name: str, address: str, paths: Any
) -> None:
    inputs, answers, errors = schemas(paths[f"/predict/{name}"]["post"], "200", "default")
    about = httpx.get(f"{address}/models").json()["models"][NAMES.index(name)]
    allowed = [*about["examples"], *OTHERS[name]]

    for asked in (*allowed, allowed):
        response = httpx.post(f"{address}/predict/{name}", json=asked)
        assert inputs.is_valid(asked) and response.status_code == 200
        assert answers.is_valid(response.json()) and not errors.is_valid(response.json())
    for asked in REFUSED[name]:
        response = httpx.post(f"{address}/predict/{name}", json=asked)
        assert not inputs.is_valid(asked), asked
        assert response.status_code == 422 and errors.is_valid(response.json())


def test_every_path_of_the_server_is_described(address: str, paths: Any) -> None:
    about = httpx.get(f"{address}/models").json()
    predict = {f"/predict/{name}" for name in NAMES}
    explained = {f"/saliency/{each['name']}" for each in about["models"] if each["explained"]}
    tools = {f"/{each['task']}": each["examples"][0] for each in about["tools"]}

    assert paths.keys() == {*predict, *explained, *tools, "/models", "/health"}
    for path, example in tools.items():
        inputs, answers = schemas(paths[path]["post"], "200")
        assert inputs.is_valid(example) and not inputs.is_valid({})
        assert answers.is_valid(httpx.post(f"{address}{path}", json=example).json())
    for path in ("/models", "/health"):
        [answer] = schemas(paths[path]["get"], "200")
        assert answer.is_valid(httpx.get(f"{address}{path}").json())
