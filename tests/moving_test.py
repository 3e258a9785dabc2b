"""
Trains the configs of allennlp-models in fixtures/allennlp, and those of this package that take
their place in docs/moving_from_allennlp.md. Text, biLM and vectors are fixtures, and so are the
widths.
"""

import json
import math
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import _jsonnet
import pytest
import spacy
from allennlp.commands.train import train_model
from allennlp.common import Params

import elmo_tasks.plugin  # noqa: F401
from tests.helpers.configs import CONFIGS, ROOT, TINY

PAGE = ROOT / "docs" / "moving_from_allennlp.md"
FIXTURES = ROOT / "fixtures"

# The text of each old config.
TEXTS = {
    "ner_elmo": "ner.txt",
    "biattentive_classification_network_elmo": "sst.txt",
    "esim_elmo": "snli.jsonl",
    "bidaf_elmo": "squad.json",
    "srl_elmo": "srl",
    "coref": "coref.gold_conll",
    "text_classifier": "imdb.jsonl",
}

# The widths of the old configs that have that of ELMo in them, and how often. Coreference reads
# one span, and three of them beside each other.
WITH_ELMO = {1024: 1, 1124: 1, 1202: 1, 1224: 1, 1324: 1, 1424: 1, 2244: 1, 6752: 3}

# The width of the ELMo of `original`, and of the fixture.
ORIGINAL, FIXTURE = 1024, 32


def new_configs() -> dict[str, str]:
    """Returns the config of each section of the page, by the name of the old one that it links."""
    _, *parts = re.split(r"^### ", PAGE.read_text(encoding="utf-8"), flags=re.M)
    configs: dict[str, str] = {}
    for part in parts:
        if old := re.findall(r"\(\.\./fixtures/allennlp/(\w+)\.jsonnet\)", part):
            (configs[old[0]],) = re.findall(r"```jsonnet\n(.*?)```", part, re.S)
    return configs


def narrower(value: Any) -> Any:
    """Returns a config whose widths are smaller where the ELMo of the fixture is."""
    if isinstance(value, dict):
        return {name: narrower(each) for name, each in value.items()}
    if isinstance(value, list):
        return [narrower(each) for each in value]
    return value - WITH_ELMO.get(value, 0) * (ORIGINAL - FIXTURE) if type(value) is int else value


def losses(config: dict[str, Any], folder: Path, num_epochs: int = 1) -> list[float]:
    """Trains on a few instances, and returns the losses in training and validation."""
    config["trainer"].update(num_epochs=num_epochs, cuda_device=-1)
    for name in {"dataset_reader", "validation_dataset_reader"} & config.keys():
        # Fewer phrases of the treebank lack a class.
        config[name]["max_instances"] = 60 if config[name]["type"] == "sst_tokens" else 6
    config["random_seed"] = config["numpy_seed"] = config["pytorch_seed"] = 1
    train_model(Params(config), str(folder), file_friendly_logging=True)
    metrics = json.loads((folder / "metrics.json").read_text())
    return [metrics["training_loss"], metrics["validation_loss"]]


def test_the_page_has_a_config_in_place_of_each_old_one() -> None:
    assert new_configs().keys() == TEXTS.keys()
    assert {path.stem for path in (FIXTURES / "allennlp").iterdir()} == TEXTS.keys()


@pytest.mark.parametrize("name", TEXTS)
def test_the_old_config_trains(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("allennlp_models")
    # The tokenizer's default is a model of spaCy that no package index has.
    tokenizer = sys.modules["allennlp.data.tokenizers.spacy_tokenizer"]
    monkeypatch.setattr(tokenizer, "get_spacy_model", lambda *_, **__: spacy.blank("en"))
    # Nobody reads the archives, whose packing takes longer than the trainings.
    monkeypatch.setattr("allennlp.commands.train.archive_model", lambda *_, **__: None)
    for part in "tagging classification pair_classification rc structured_prediction coref".split():
        __import__(f"allennlp_models.{part}")
    config = narrower(
        json.loads(_jsonnet.evaluate_file(str(FIXTURES / "allennlp" / f"{name}.jsonnet")))
    )
    text = FIXTURES / TEXTS[name]
    if name == "srl_elmo":
        text = tmp_path / "srl"
        text.mkdir()
        shutil.copy(FIXTURES / "srl.gold_conll", text)
    config.update(train_data_path=str(text), validation_data_path=str(text))
    config = json.loads(
        json.dumps(config)
        .replace('"options.json"', json.dumps(str(FIXTURES / "bilm" / "options.json")))
        .replace('"weights.hdf5"', json.dumps(str(FIXTURES / "bilm" / "weights.hdf5")))
    )

    assert all(map(math.isfinite, losses(config, tmp_path / "run")))


@pytest.mark.parametrize("name", TEXTS)
def test_the_new_config_trains(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    snippet = new_configs()[name].replace("elmo_tasks/", f"{CONFIGS}/lib/")
    paths = re.findall(r"_data_path: '(.*?)'", snippet)
    library = snippet.partition(")")[0] + ")"
    # The overlay knows the paths of the libraries.
    for path, field in zip(paths, ("train_data_path", "validation_data_path")):
        snippet = snippet.replace(f"'{path}'", f"{library}.{field}")
    config = json.loads(_jsonnet.evaluate_snippet(name, f"{snippet} + {TINY}"))

    assert all(map(math.isfinite, losses(config, tmp_path / "run")))
