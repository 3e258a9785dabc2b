from typing import Any

import pytest
import torch

from elmo_tasks.bilm.frozen_checkpoint import FINGERPRINT as KEY
from elmo_tasks.bilm.frozen_checkpoint import leave_out_weights, put_back_weights

FINGERPRINT = bytes(range(16))
WEIGHTS = {"cnn": torch.tensor([1.0, 2.0]), "lstm": torch.tensor([3.0])}
STATE = {
    "text_embedder.bilm.cnn": WEIGHTS["cnn"],
    "text_embedder.bilm.lstm": WEIGHTS["lstm"],
    "text_embedder.bilm.state.h": torch.tensor([4.0]),
    "encoder.weight": torch.tensor([5.0]),
}
PREFIX = "text_embedder.bilm."


def test_the_weights_of_the_same_fingerprint_are_put_back() -> None:
    short = leave_out_weights(STATE, PREFIX, WEIGHTS, FINGERPRINT)

    whole = put_back_weights(short, PREFIX, WEIGHTS, {bytes(16), FINGERPRINT})

    assert whole == STATE
    assert PREFIX + "fingerprint" in short


def test_the_metadata_of_pytorch_is_kept() -> None:
    module = torch.nn.Linear(2, 1)
    state = module.state_dict()

    short = leave_out_weights(state, "", ["weight"], FINGERPRINT)
    whole = put_back_weights(short, "", {"weight": module.weight}, {FINGERPRINT})

    assert short._metadata == whole._metadata == state._metadata  # type: ignore[attr-defined]


@pytest.mark.parametrize("fingerprint", [torch.ones(3), torch.tensor(1), 7, "x"])
def test_a_fingerprint_of_another_kind_is_refused(fingerprint: Any) -> None:
    state = {f"bilm.{KEY}": fingerprint}

    with pytest.raises(ValueError, match="has other weights"):
        put_back_weights(state, "bilm.", {}, {b"abc"})
