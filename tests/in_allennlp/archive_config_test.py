"""Tests what the config of an archive may ask for; no model is made."""

import inspect
import io
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Registrable
from allennlp.common.from_params import infer_params
from allennlp.modules import FeedForward, Maxout
from allennlp.modules.token_embedders import Embedding

from elmo_tasks import plugin  # noqa: F401  registers the types
from elmo_tasks.elmo.known_models import KNOWN_MODELS
from elmo_tasks.in_allennlp.archive_allowed import ALLOWED
from elmo_tasks.in_allennlp.archive_config import NotAllowed, check_allowed
from elmo_tasks.in_allennlp.archive_json import without_files
from tests.helpers.configs import ROOT
from tests.helpers.hostile_configs import HOSTILE, put


def markdown() -> str:
    """Returns the table as SECURITY.md has it."""
    lines = ["| class | type | arguments |", "| --- | --- | --- |"]
    for kind, table in ALLOWED.items():
        by_arguments: dict[str, list[str]] = {}
        for name, arguments in table.items():
            by_arguments.setdefault(arguments, []).append(name)
        for arguments, names in by_arguments.items():
            types = ", ".join(f"`{name}`" for name in names)
            shown = ", ".join(f"`{name}`" for name in arguments.split())
            shown = "all, of which none is used" if arguments == "*" else shown or "none"
            lines.append(f"| {f'`{kind}`' if kind else 'no type'} | {types} | {shown} |")
    return "\n".join(lines)


def registered() -> Iterator[tuple[str, str, dict[str, inspect.Parameter]]]:
    for base, registry in Registrable._registry.items():
        for name, (kind, method) in registry.items():
            yield base.__name__, name, infer_params(kind, getattr(kind, method or "__init__"))


def test_security_prints_the_table() -> None:
    assert markdown() in (ROOT / "SECURITY.md").read_text(encoding="utf-8")


def test_every_type_and_argument_of_the_table_exists() -> None:
    known = {(kind, name): parameters for kind, name, parameters in registered()}

    for kind, table in ALLOWED.items():
        for name, arguments in table.items():
            if kind and arguments != "*":
                assert set(arguments.split()) <= known[kind, name].keys(), name
    for each in (FeedForward, Maxout, Embedding):
        assert set(ALLOWED[""][each.__name__].split()) <= infer_params(each).keys()


def test_the_table_has_every_type_of_this_package() -> None:
    for base, registry in Registrable._registry.items():
        ours = {
            name
            for name, (kind, _) in registry.items()
            if name.startswith("elmo_") and kind.__module__.startswith("elmo_tasks.")
        }
        if base.__name__ in ALLOWED:
            assert ours <= ALLOWED[base.__name__].keys()


def test_the_table_has_every_argument_of_the_types_of_this_package() -> None:
    given = {
        "self",
        "kwargs",
        "vocab",
        "serialization_dir",
        "ddp_accelerator",
        "reader",
        "data_path",
    }
    left_out = {"initializer", "pretrained_file", "batch_serializer", "postprocessor_fn_name"}

    for kind, name, parameters in registered():
        arguments = ALLOWED.get(kind, {}).get(name, "*")
        if name.startswith("elmo_") and arguments != "*":
            assert parameters.keys() <= {*arguments.split(), *given, *left_out}, name


def test_no_argument_of_the_table_is_a_file_or_a_free_object() -> None:
    free = {"bilm", "mix", "input_mix", "output_mix", "tokens_to_add"}

    for kind, name, parameters in registered():
        for argument in ALLOWED.get(kind, {}).get(name, "").replace("*", "").split():
            words = set(argument.replace("file_scheme", "").split("_"))
            assert not words & {"file", "files", "path", "dir", "directory", "folder", "kwargs"}
            annotation = str(parameters[argument].annotation)
            assert argument in free or "Any" not in annotation, f"{name}.{argument}"


def without_training_files(config: dict[str, Any]) -> dict[str, Any]:
    return {**config, "model": without_files(config["model"])}


@pytest.mark.parametrize("name", KNOWN_MODELS)
def test_every_shipped_model_is_allowed(name: str) -> None:
    config = json.loads(Path(KNOWN_MODELS[name], "config.json").read_text(encoding="utf-8"))

    check_allowed(without_training_files(config))


def sst() -> dict[str, Any]:
    with tarfile.open(ROOT / "fixtures" / "archives" / "sst.tar.gz") as tar:
        content = tar.extractfile("config.json")
        assert content is not None
        return without_training_files(json.load(io.BytesIO(content.read())))


@pytest.mark.parametrize("path", HOSTILE)
def test_what_is_not_in_the_table_is_refused_by_its_path(path: str) -> None:
    config = sst()
    HOSTILE[path](config)

    with pytest.raises(NotAllowed) as caught:
        check_allowed(config)

    assert caught.value.args[0] == path


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("model.encoder", {"type": "compose", "encoders": {"pretrained_transformer": 1}}),
        ("model.encoder", {"type": "compose", "encoders": [{"type": "x.y"}]}),
        ("dataset_reader.token_indexers", {"_pretrained": {"archive_file": "x"}}),
        ("dataset_reader", {"type": "elmo_fraction", "reader": {"type": "sharded"}}),
        ("model.text_embedder.words", {"type": "basic", "token_embedders": {"x": {"type": []}}}),
        ("model.classifier", {"input_dim": 2, "initializer_file": "x", "activations": ["x"]}),
    ],
)
def test_a_type_is_found_wherever_allennlp_would_make_it(path: str, value: Any) -> None:
    config = sst()
    put(path, value)(config)

    with pytest.raises(NotAllowed):
        check_allowed(config)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("dataset_reader.tokenizer", "whitespace"),
        ("dataset_reader.tokenizer", {"type": "spacy", "pos_tags": True}),
        ("model.feedforward.activations", "relu"),
        ("model.feedforward.activations", [{"type": "leaky_relu", "negative_slope": 0.2}]),
        ("model.text_embedder.bilm", "base"),
        ("model.text_embedder.bilm", "owner/name@v1.0"),
        ("vocabulary", {"type": "from_files", "directory": "/of/the/training"}),
        ("trainer", {"type": "no.such.Trainer", "callbacks": [{"serialization_dir": "x"}]}),
        ("random_seed", 3),
    ],
)
def test_what_reads_nothing_is_allowed(path: str, value: Any) -> None:
    config = sst()
    put(path, value)(config)

    check_allowed(config)
