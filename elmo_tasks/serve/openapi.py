"""Describes the server in OpenAPI. Tools make clients from this description."""

from importlib.metadata import version

from allennlp.common.util import JsonDict

_TEXT = {"type": "string"}
_WORDS = {"type": "array", "items": _TEXT, "minItems": 1}
_ERROR = {"type": "object", "required": ["error"], "properties": {"error": _TEXT}}

# The fields of inputs besides their texts. The first two are given in place of texts.
_FIELDS: dict[str, JsonDict] = {
    "tokens": _WORDS,
    "sentences": {"type": "array", "items": _WORDS, "minItems": 1},
    "predicates": {"type": "array", "items": {"type": "integer", "minimum": 0}},
    "top_k": {"type": "integer", "minimum": 1},
    "genre": {"type": ["string", "null"]},
    "speakers": {"type": ["array", "null"]},
}


def openapi(inputs: dict[str, tuple[tuple[str, ...], ...]]) -> JsonDict:
    """
    Returns the description of `GET /models`, `GET /health`, and the paths that answer inputs.
    `inputs` has, for each of these paths, the names of the texts and of the other fields.
    """
    paths: JsonDict = {path: {"get": _answer({})} for path in ("/models", "/health")}
    for path, (texts, field_names) in inputs.items():
        fields = {name: _FIELDS.get(name, _TEXT) for name in field_names} | dict.fromkeys(
            texts, _TEXT
        )
        required_names = [
            texts,
            *((name,) for name in ("tokens", "sentences") if name in field_names),
        ]
        item = {"properties": fields, "anyOf": [{"required": names} for names in required_names]}
        body = {"required": True, **_json(_one_or_several({"type": "object", **item}))}
        paths[path] = {
            "post": {"requestBody": body, **_answer(_one_or_several({"type": "object"}))}
        }
    about = {"title": "elmo-tasks", "version": version("elmo-tasks")}
    return {"openapi": "3.1.0", "info": about, "paths": paths}


def _answer(schema: JsonDict) -> JsonDict:
    error = {"description": "why there is no answer", **_json(_ERROR)}
    return {"responses": {"200": {"description": "OK", **_json(schema)}, "default": error}}


def _one_or_several(schema: JsonDict) -> JsonDict:
    return {"oneOf": [schema, {"type": "array", "items": schema}]}


def _json(schema: JsonDict) -> JsonDict:
    return {"content": {"application/json": {"schema": schema}}}
