"""Tests what the config of an archive may ask for; no model is made."""

import io
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Registrable
from allennlp.common.from_params import infer_params
from allennlp.data import Tokenizer

from elmo_tasks.archives import check_config as check_config_module
from elmo_tasks.archives.check_config import _FILE, NotAllowed, check_config, named_packages
from elmo_tasks.archives.known_models import KNOWN_MODELS
from elmo_tasks.archives.open_archive import _without_files
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.configs import ROOT, tiny
from tests.helpers.hostile_configs import HARMLESS, REFUSED, set_value


def sst() -> dict[str, Any]:
    with tarfile.open(ROOT / "fixtures" / "archives" / "sst.tar.gz") as tar:
        content = tar.extractfile("config.json")
        assert content is not None
        config = json.load(io.BytesIO(content.read()))
    config["model"]["text_embedder"]["bilm"].pop("pretrained_file", None)
    return config


@pytest.mark.parametrize("name", KNOWN_MODELS)
def test_every_shipped_model_is_allowed(name: str) -> None:
    config = json.loads(Path(KNOWN_MODELS[name], "config.json").read_text(encoding="utf-8"))

    check_config({**config, "model": _without_files(config["model"])})


@pytest.mark.parametrize(("path", "value", "named"), REFUSED)
def test_what_reads_fetches_or_runs_is_refused_by_its_path(
    path: str, value: Any, named: str
) -> None:
    config = sst()
    set_value(path, value)(config)

    with pytest.raises(NotAllowed) as caught:
        check_config(config)

    assert caught.value.args[0] == named


def test_a_pipeline_of_spacy_is_neither_fetched_nor_named(monkeypatch: pytest.MonkeyPatch) -> None:
    config = sst()
    set_value("dataset_reader.tokenizer", {"type": "spacy", "language": "/any/pipeline"})(config)

    monkeypatch.setattr(check_config_module, "find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match="en_core_web_sm of spaCy is not installed"):
        check_config(config)
    monkeypatch.setattr(check_config_module, "find_spec", lambda name: name)
    with pytest.raises(NotAllowed) as caught:
        check_config(config)
    assert caught.value.args[0] == "dataset_reader.tokenizer.language"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("dataset_reader.tokenizer", "whitespace"),
        ("model.feedforward.activations", "relu"),
        ("model.feedforward.activations", [{"type": "leaky_relu", "negative_slope": 0.2}]),
        ("model.text_embedder.bilm", "base"),
        ("model.text_embedder.bilm", "owner/name@v1.0"),
        ("random_seed", 3),
        *HARMLESS[:5],
    ],
)
def test_what_reads_nothing_is_allowed(path: str, value: Any) -> None:
    config = sst()
    set_value(path, value)(config)

    check_config(config)


def test_no_argument_of_our_classes_is_a_text_that_could_be_a_file_by_another_name() -> None:
    """An argument for a file must be named so that `check_config` refuses it."""
    known = {
        *("amsgrad", "bilm", "cuda_device", "dtype", "format", "genre_pattern", "granularity"),
        *("label", "language", "output_place", "separator", "spans"),
        *("tag_column", "column", "vocab_namespace", "namespace", "feature_name"),
        *("validate_on", "tag_namespace", "default_value", "device", "state"),
        "postprocessor_fn_name",
    }
    texts = {
        f"{name}.{argument}"
        for registry in Registrable._registry.values()
        for name, (kind, method) in registry.items()
        if name.startswith("elmo_") and kind.__module__.startswith("elmo_tasks.")
        for argument, each in infer_params(kind, getattr(kind, method or "__init__")).items()
        if each.annotation in (str, "str") and not _FILE.fullmatch(argument)
        if argument not in known
    }

    assert not texts


def test_a_class_that_the_user_imported_is_allowed() -> None:
    @Tokenizer.register("own", exist_ok=True)
    class Own(Tokenizer):
        """A tokenizer of this module."""

    config = sst()
    set_value("dataset_reader.tokenizer", {"type": "own"})(config)

    check_config(config)


def test_a_class_of_allennlp_models_is_allowed_only_if_the_user_named_the_package() -> None:
    @Tokenizer.register("theirs", exist_ok=True)
    class Theirs(Tokenizer):
        """A tokenizer of a package that AllenNLP imports by itself."""

    Theirs.__module__ = "allennlp_models.some"
    config = sst()
    set_value("dataset_reader.tokenizer", {"type": "theirs"})(config)

    with pytest.raises(NotAllowed):
        check_config(config)
    named_packages.add("allennlp_models")
    try:
        check_config(config)
    finally:
        named_packages.clear()


@pytest.mark.parametrize("part", ["encoder", "feedforward"])
def test_a_stack_of_many_layers_is_refused_before_a_layer_is_made(part: str) -> None:
    config = tiny("sst", "both")
    config["model"][part]["num_layers"] = 100
    check_config({"model": {**config["model"], "text_embedder": {}}})
    config["model"][part]["num_layers"] = 101

    with pytest.raises(NotAllowed) as refused:
        check_config({"model": {**config["model"], "text_embedder": {}}})

    assert refused.value.args == (f"model.{part}.num_layers", "is more than 100")
