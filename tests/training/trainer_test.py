import json
import logging
import math
import os
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from allennlp.common.checks import ConfigurationError as AllenNlpError
from allennlp.models import load_archive

from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.models.bcn import Bcn
from elmo_tasks.training import trainer as trainer_module
from elmo_tasks.training.trainer import ElmoTrainer, EpochReport
from tests.helpers.configs import tiny
from tests.helpers.reference_bilm import FIXTURE_FILES
from tests.helpers.stop_callback import STOP_AT, Stopped
from tests.helpers.training import train

BILM = "text_embedder.bilm."
STAND_IN = f"{BILM}fingerprint"
StateDict = dict[str, torch.Tensor]

TRAINING = """{
  elmo_dropout: 0,
  model+: { dropout: 0, feedforward+: { dropout: 0 }, classifier+: { dropout: 0 } },
  trainer+: { num_epochs: 3, callbacks: ['stop'] },
}"""


def config(change: str = "{}", variant: str = "both") -> dict[str, Any]:
    return tiny("sst", variant, TRAINING, change)


def train_and_kill(
    params: dict[str, Any], folder: Path, monkeypatch: pytest.MonkeyPatch, at: str = "1:1"
) -> None:
    """Kills the training at "epoch:batch"; epochs count from 0, and batches from 1."""
    with monkeypatch.context() as patch:
        patch.setenv(STOP_AT, at)
        patch.setattr(ElmoTrainer, "_finalize_best_model_state", lambda self: None)
        with pytest.raises(Stopped):
            train(params, folder)


def checkpoint(folder: Path, epoch: int) -> StateDict:
    return torch.load(folder / f"model_state_e{epoch}_b0.th")


def best(folder: Path) -> StateDict:
    return torch.load(folder / "best.th")


def assert_equal(one: StateDict, other: StateDict) -> None:
    torch.testing.assert_close(dict(one), dict(other), rtol=0, atol=0)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "model"
    train(config(), folder)
    return folder


def test_checkpoints_leave_out_the_weights_of_a_frozen_bilm(trained: Path) -> None:
    for epoch in (2, 3):
        names = {name for name in checkpoint(trained, epoch) if name.startswith(BILM)}
        # The start state is small, so checkpoints contain it.
        assert names == {STAND_IN, f"{BILM}state.h", f"{BILM}state.c"}

    num_bytes = os.path.getsize(FIXTURE_FILES[1])
    left_out = os.path.getsize(trained / "best.th") - os.path.getsize(
        trained / "model_state_e3_b0.th"
    )

    # A checkpoint is smaller than the best weights by most of the biLM's file.
    assert left_out > 0.5 * num_bytes


def test_best_weights_are_whole_and_those_of_allennlps_trainer(
    trained: Path, tmp_path: Path
) -> None:
    # All epochs have the same accuracy, so that the lowest loss is the best.
    theirs = "{ trainer+: { type: 'gradient_descent', checkpointer: 'default', %s } }"
    train(config(theirs % "validation_metric: '-loss'"), tmp_path / "model")

    # Three epochs of two trainings differ in the last bit of some numbers.
    ours, others = dict(best(trained)), dict(best(tmp_path / "model"))
    torch.testing.assert_close(ours, others, rtol=1e-5, atol=1e-8)
    bilm = make_bilm(*FIXTURE_FILES)
    of_bilm = {k.removeprefix(BILM): v for k, v in best(trained).items() if k.startswith(BILM)}
    assert_equal(of_bilm, bilm.state_dict())


def test_interrupted_training_leaves_a_whole_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STOP_AT, "2:1")
    monkeypatch.setattr("tests.helpers.stop_callback.Stopped", KeyboardInterrupt)

    with pytest.raises(KeyboardInterrupt):
        train(config(), tmp_path / "model")

    load_archive(tmp_path / "model" / "model.tar.gz")


def test_recovering_with_other_weights_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = tmp_path / "weights.hdf5"
    shutil.copy(FIXTURE_FILES[1], weights)
    options = json.loads(FIXTURE_FILES[0].read_text())
    bilm = {"options": options, "pretrained_file": str(weights)}
    params = config(f"{{ bilm: {json.dumps(bilm)} }}")
    train_and_kill(params, tmp_path / "model", monkeypatch)
    other = make_bilm(*FIXTURE_FILES)
    with torch.no_grad():
        other.char_cnn.projection.bias += 1
    other.to_files(tmp_path)

    with pytest.raises(AllenNlpError, match="Could not recover") as refusal:
        train(params, tmp_path / "model", recover=True)

    assert (
        "contains only the fingerprint of the biLM text_embedder.bilm, and this model's biLM has "
        "other weights; load model.tar.gz, or best.th after the training has ended"
    ) in str(refusal.value.__cause__)


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.pop("optimizer"),
        lambda state: state.update(metric_tracker=3),
        lambda state: state.update(version=0),
        lambda state: state.update(version=torch.zeros(2)),
    ],
    ids=["no optimizer", "a number", "another version", "a tensor"],
)
def test_training_state_that_does_not_fit_is_refused(
    change: Any, trained: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(trained, tmp_path / "model"))
    state = torch.load(folder / "training_state_e3_b0.th")
    change(state)
    torch.save(state, folder / "training_state_e3_b0.th")

    with pytest.raises((ConfigurationError, AllenNlpError), match="checkpoint"):
        train(config(), folder, recover=True)


def test_training_may_be_recovered_with_products_in_another_dtype(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    params = config("{ bilm_dtype: 'auto' }")
    monkeypatch.setattr("elmo_tasks.kernels.frozen_product.has_bfloat16", lambda _: True)
    train_and_kill(params, tmp_path / "model", monkeypatch)
    monkeypatch.setattr("elmo_tasks.kernels.frozen_product.has_bfloat16", lambda _: False)

    model = train(params, tmp_path / "model", recover=True)

    assert model.text_embedder.bilm.dtype == "float32"
    assert f"{BILM}char_cnn.embedding" in best(tmp_path / "model")


@pytest.mark.parametrize(
    "change",
    ["{ elmo_at: [] }", "{ chosen_bilm+:: { requires_grad: true, state: 'reset' } }"],
    ids=["none", "one that trains"],
)
def test_checkpoint_of_a_model_without_a_frozen_bilm_is_whole(
    trained: Path, tmp_path: Path, change: str
) -> None:
    model = train(config(change), tmp_path / "model")

    assert checkpoint(tmp_path / "model", 3).keys() == model.state_dict().keys()
    load_archive(tmp_path / "model" / "model.tar.gz")


@pytest.mark.parametrize("part", ["training", "validation"])
def test_a_loss_that_is_no_number_ends_a_training_with_its_epoch(
    part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward = Bcn.forward

    def wrong(model: Bcn, *args: Any, **kwargs: Any) -> dict[str, torch.Tensor]:
        outputs = forward(model, *args, **kwargs)
        factor = math.nan if model.training == (part == "training") else 1
        return {**outputs, "loss": outputs["loss"] * factor}

    monkeypatch.setattr(Bcn, "forward", wrong)

    with pytest.raises(ValueError, match=rf"the loss of epoch 1 is not a number \(NaN\) in {part}"):
        train(config(), tmp_path / "run")


def test_an_epoch_has_its_seconds_metric_and_the_time_left(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    seconds = iter([100.0, 110.0, 120.0, 130.0])
    # The module `time` itself is used by servers of other tests, too.
    monkeypatch.setattr(trainer_module, "time", SimpleNamespace(monotonic=lambda: next(seconds)))
    tracker = SimpleNamespace(tracked_metrics=[(1.0, "accuracy")])
    trainer = SimpleNamespace(_num_epochs=4, _metric_tracker=tracker)
    callback = EpochReport("folder")
    best = {"best_validation_accuracy": 0.5, "best_epoch": 0}

    with caplog.at_level(logging.INFO):
        callback.on_start(trainer)
        for epoch, metrics in enumerate(
            [
                {"training_loss": 1.25, "validation_accuracy": 0.5, **best},
                {"training_loss": 1.0, "validation_accuracy": 0.25, **best},
                {"training_loss": 1.25, "best_epoch": 0},
            ]
        ):
            callback.on_epoch(trainer, metrics=metrics, epoch=epoch)

    assert caplog.messages == [
        "epoch 1 of 4: loss 1.25; accuracy 0.5 (best 0.5, epoch 1); 0:00:30 left; 10.0 s",
        "epoch 2 of 4: loss 1; accuracy 0.25 (best 0.5, epoch 1); 0:00:20 left; 10.0 s",
        "epoch 3 of 4: loss 1.25; 0:00:10 left; 10.0 s",
    ]
