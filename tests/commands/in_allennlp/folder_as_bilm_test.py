"""Tests that a folder is a biLM by one rule in every config, and that the archive carries it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.models import archive_model, load_archive

from elmo_tasks.archives.elmo_of_model import load_bilm
from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.file_names import KEPT_OPTIONS
from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.predictors.load import load
from elmo_tasks.training.config_names import read_config
from tests.helpers.configs import ROOT, TINY
from tests.helpers.reference_bilm import FIXTURE_FILES


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(FIXTURE_FILES[0].parent, "mine/bilm")
    return tmp_path


def config_of(bilm: Any) -> dict[str, Any]:
    """Returns the config of a model of AllenNLP, as in docs/in_your_allennlp_project.md."""
    embedders = {
        "tokens": {"type": "embedding", "embedding_dim": 4},
        "elmo": {"type": "elmo_bilm", "bilm": bilm},
    }
    indexers = {"tokens": "single_id", "elmo": "elmo_characters"}
    return {
        "dataset_reader": {
            "type": "text_classification_json",
            "tokenizer": "whitespace",
            "token_indexers": indexers,
        },
        "train_data_path": str(ROOT / "fixtures/imdb.jsonl"),
        "model": {
            "type": "basic_classifier",
            "text_field_embedder": {"token_embedders": embedders},
            "seq2vec_encoder": {"type": "boe", "embedding_dim": 36},
        },
        "data_loader": {"batch_size": 5},
        "trainer": {"optimizer": "adam", "num_epochs": 1, "cuda_device": -1},
    }


@pytest.mark.parametrize("bilm", ["mine/bilm", {"pretrained_file": "mine/bilm"}], ids=type)
def test_an_archive_of_allennlps_train_carries_the_options_of_a_folder(
    folder: Path, bilm: Any
) -> None:
    trained = train_model(Params(config_of(bilm)), "run")
    expected = make_bilm(*FIXTURE_FILES)
    # The archive goes to a machine that has no such folder.
    shutil.move("mine", "elsewhere")

    models = [trained, open_archive("run/model.tar.gz").model, open_archive("run").model]
    models.append(load_archive("run/model.tar.gz").model)
    _, found = load_bilm("run/model.tar.gz")

    assert json.loads(Path("run/config.json").read_text())["model"] == config_of(bilm)["model"]
    assert found.weights().keys() == expected.weights().keys()
    for name, tensor in expected.weights().items():
        assert torch.equal(found.weights()[name], tensor)
    for model in models[1:]:
        torch.testing.assert_close(model.state_dict(), trained.state_dict(), rtol=0, atol=0)
    answer = load("run/model.tar.gz").predict({"sentence": "A fine film ."})
    assert set(answer) >= {"label", "probs"}
    vectors = ElmoEncoder.from_pretrained("run/model.tar.gz")(["A fine film ."])["elmo"]
    assert vectors.shape == (1, 4, 32)


def test_an_archive_without_the_options_of_a_folder_says_what_to_do(folder: Path) -> None:
    train_model(Params(config_of("mine/bilm")), "run")
    Path("run", KEPT_OPTIONS).unlink()

    with pytest.raises(
        ConfigurationError, match="'mine/bilm', not the name .*; put .*options.json"
    ) as e:
        open_archive("run")

    assert "--include-package" not in str(e.value)


@pytest.mark.parametrize("bilm", ["mine/bilm", {"pretrained_file": "mine/bilm"}], ids=type)
def test_an_archive_whose_folder_is_gone_names_it(folder: Path, bilm: Any) -> None:
    train_model(Params(config_of(bilm)), "run")
    Path("run", KEPT_OPTIONS).unlink()
    Path("run/model.tar.gz").unlink()
    archive_model("run", "best.th")
    shutil.move("mine", "elsewhere")

    # AllenNLP takes the name out of an object before the model sees it.
    doors = [open_archive, load_bilm, *([load_archive] if isinstance(bilm, str) else [])]
    for door in doors:
        for name in ("run", "run/model.tar.gz"):
            with pytest.raises(ConfigurationError, match="the biLM 'mine/bilm', and has not") as e:
                door(name)
            assert "hub" not in str(e.value) and "\n" not in str(e.value)


def test_a_language_model_of_allennlps_train_carries_the_options_of_a_folder(folder: Path) -> None:
    bilm = {"pretrained_file": "mine/bilm", "requires_grad": True, "state": "reset"}
    Path("text.txt").write_text("The boat left the bank .\nA fine film .\n")
    config = {
        "dataset_reader": {"type": "elmo_sentences"},
        "train_data_path": "text.txt",
        "model": {"type": "elmo_language_model", "bilm": bilm, "num_samples": 3},
        "data_loader": {"batch_size": 2},
        "trainer": {"optimizer": {"type": "adagrad"}, "num_epochs": 1, "cuda_device": -1},
    }
    trained = train_model(Params(config), "run")
    shutil.move("mine", "elsewhere")

    for name in ("run", "run/model.tar.gz"):
        model = open_archive(name).model
        torch.testing.assert_close(model.state_dict(), trained.state_dict(), rtol=0, atol=0)
    assert load_archive("run/model.tar.gz").model.state_dict().keys() == model.state_dict().keys()
    _, found = load_bilm("run/model.tar.gz")
    torch.testing.assert_close(found.weights(), trained.bilm.weights(), rtol=0, atol=0)
    assert ElmoEncoder.from_pretrained("run")(["A fine film ."])["elmo"].shape == (1, 4, 32)
    assert load("run/model.tar.gz").predict({"sentence": "A fine film ."})["forward_perplexity"] > 0


def test_a_training_that_names_a_folder_is_recovered(folder: Path) -> None:
    train_model(Params(config_of("mine/bilm")), "run")

    config = config_of("mine/bilm")
    config["trainer"]["num_epochs"] = 1
    model = train_model(Params(config), "run", recover=True)

    assert model.state_dict().keys() == open_archive("run").model.state_dict().keys()


def test_a_folder_in_a_config_of_ours_is_what_its_libsonnet_is(folder: Path) -> None:
    base = f"(import '{ROOT}/training_configs/sst/both.jsonnet') + {TINY}"
    Path("sst.jsonnet").write_text(f"{base} + {{ bilm: 'mine/bilm' }}")
    Path("pos.jsonnet").write_text("(import 'elmo_tasks/probe/pos.jsonnet') { bilm: 'mine/bilm' }")
    Path("more.jsonnet").write_text(
        "(import 'elmo_tasks/bilm/continue.jsonnet') { from_bilm: 'mine/bilm' }"
    )

    expected = json.loads(FIXTURE_FILES[0].read_text())
    for name, place in (("sst", "text_embedder"), ("pos", None), ("more", None)):
        model = read_config(f"{name}.jsonnet")["model"]
        fields = (model[place] if place else model)["bilm"]
        assert fields["options"] | {"state": None} == expected | {"state": None}
        assert fields["pretrained_file"] == "mine/bilm/weights.hdf5"


@pytest.mark.parametrize("name", ["mine/none", "fixture", "smal"])
def test_what_is_no_folder_in_a_config_of_ours_is_refused(folder: Path, name: str) -> None:
    Path("pos.jsonnet").write_text(f"(import 'elmo_tasks/probe/pos.jsonnet') {{ bilm: '{name}' }}")

    with pytest.raises(ConfigurationError, match=f"not {name}"):
        read_config("pos.jsonnet")
