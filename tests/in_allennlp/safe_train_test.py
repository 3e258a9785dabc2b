import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.models import load_archive
from allennlp.training import Checkpointer, GradientDescentTrainer

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.training.trainer import ElmoTrainer
from tests.helpers.configs import tiny
from tests.helpers.reference_bilm import FIXTURE_FILES


def test_an_archive_has_the_options_of_a_bilm_that_its_config_named(tmp_path: Path) -> None:
    shutil.copytree(FIXTURE_FILES[0].parent, tmp_path / "bilm")
    config = tiny("imdb", "elmo", "{ trainer+: { num_epochs: 1 } }")
    embedder = config["model"]["text_embedder"]
    options = embedder["bilm"]["options"]
    embedder["bilm"] = {"pretrained_file": str(tmp_path / "bilm")}

    train_model(Params(json.loads(json.dumps(config))), str(tmp_path / "run"))
    recovered = train_model(Params(config), str(tmp_path / "run"), recover=True)
    shutil.rmtree(tmp_path / "bilm")

    archive = load_archive(tmp_path / "run" / "model.tar.gz")
    embedder = archive.config["model"]["text_embedder"].as_dict()
    assert embedder["bilm"]["options"] == options
    expected = recovered.state_dict()  # type: ignore[union-attr]
    for name, tensor in archive.model.state_dict().items():
        assert tensor.equal(expected[name]), name


@pytest.mark.parametrize("name", ["model", "training"])
def test_allennlps_own_checkpointer_reads_no_file_that_was_not_looked_at(
    name: str, tmp_path: Path
) -> None:
    for each in ("model", "training"):
        torch.save({"a": torch.ones(1)}, tmp_path / f"{each}_state_e0_b1.th")
    checkpointer = Checkpointer(tmp_path)
    assert checkpointer.load_checkpoint() is not None
    # `torch.load` makes this, and with a larger number takes all memory.
    torch.save(Large(), tmp_path / f"{name}_state_e0_b1.th")

    with pytest.raises(ConfigurationError, match=f"{name}_state_e0_b1.th .* names '__builtin__ "):
        checkpointer.load_checkpoint()


class Large:
    """Is pickled as a call that takes memory."""

    def __reduce__(self) -> Any:
        return bytearray, (1000,)


def test_the_best_weights_of_a_training_are_looked_at_before_they_are_read(tmp_path: Path) -> None:
    torch.save(Large(), tmp_path / "best.th")

    for kind in (GradientDescentTrainer, ElmoTrainer):
        trainer = kind.__new__(kind)
        trainer._ddp_wrapped_model, trainer.model = None, torch.nn.Linear(1, 1)
        trainer._primary = True
        with pytest.raises(ConfigurationError, match="best.th .* names '__builtin__ bytearray'"):
            trainer._load_model_state(str(tmp_path / "best.th"))


def test_a_config_that_names_no_bilm_is_refused(tmp_path: Path) -> None:
    config = tiny("imdb", "elmo")
    config["model"]["text_embedder"]["bilm"] = "minni"

    with pytest.raises(ValueError, match="no biLM is known as 'minni'.*did you mean 'mini'"):
        train_model(Params(config), str(tmp_path / "run"))

    assert not (tmp_path / "run").exists()
