from typing import Any

import pytest
import torch

from elmo_tasks.bilm.frozen_checkpoint import FINGERPRINT, leave_out_weights, put_back_weights


def test_the_weights_of_the_same_fingerprint_are_put_back_and_metadata_kept() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(2, 1))
    state = module.state_dict()
    weights = {"weight": state["0.weight"]}

    short = leave_out_weights(state, "0.", weights, b"one")
    whole = put_back_weights(short, "0.", weights, {b"other", b"one"})

    assert short.keys() == {"0.bias", f"0.{FINGERPRINT}"}
    assert dict(whole) == dict(state)
    assert short._metadata == whole._metadata == state._metadata  # type: ignore[attr-defined]


@pytest.mark.parametrize("fingerprint", [torch.ones(3), torch.tensor(1), 7, "x"])
def test_a_fingerprint_of_another_kind_is_refused(fingerprint: Any) -> None:
    with pytest.raises(ValueError, match="has other weights"):
        put_back_weights({f"bilm.{FINGERPRINT}": fingerprint}, "bilm.", {}, {b"abc"})
