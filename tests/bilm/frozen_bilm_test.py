import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch

from elmo_tasks.bilm import FrozenBiLm, make_bilm
from elmo_tasks.bilm.frozen_bilm import FINGERPRINT
from tests.helpers.bilm_examples import SENTENCE, ids_of
from tests.helpers.reference_bilm import FIXTURE_FILES


def bilm_after_use(state: str = "reset") -> FrozenBiLm:
    bilm = make_bilm(*FIXTURE_FILES, state=state)
    bilm(ids_of([SENTENCE]))
    assert isinstance(bilm, FrozenBiLm)
    return bilm


def halved(bilm: FrozenBiLm) -> dict[str, torch.Tensor]:
    return {name: 0.5 * tensor for name, tensor in bilm.state_dict().items()}


def test_products_are_made_once() -> None:
    bilm = bilm_after_use()
    made = bilm.char_cnn._frozen, *(layer._frozen for layer in bilm.forward_stack.layers)

    bilm(ids_of([SENTENCE]))

    again = bilm.char_cnn._frozen, *(layer._frozen for layer in bilm.forward_stack.layers)
    assert None not in made and all(now is before for now, before in zip(again, made))


def test_loaded_weights_have_products_tokens_and_a_fingerprint_of_their_own() -> None:
    bilm, ids = bilm_after_use(), ids_of([SENTENCE])
    before = bilm.fingerprint()

    bilm.load_state_dict(halved(bilm))

    fresh = make_bilm(bilm.raw_options, state="reset")
    fresh.load_state_dict(bilm.state_dict())
    assert isinstance(fresh, FrozenBiLm)
    assert torch.equal(bilm(ids).layers, fresh(ids).layers)
    assert bilm.fingerprint() == fresh.fingerprint() != before


@pytest.mark.parametrize("state", ["reset", "snapshot", "carry"])
def test_weights_that_are_cast_have_products_and_a_state_of_their_own(state: str) -> None:
    bilm, ids = bilm_after_use(state), ids_of([SENTENCE])
    expected = bilm_after_use(state)(ids).layers

    found = bilm.double()(ids).layers

    assert found.dtype == torch.float64
    torch.testing.assert_close(found, expected.double(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda bilm: pickle.loads(pickle.dumps(bilm))])
def test_a_copy_after_use_computes_the_same_and_goes_its_own_way(
    copied: Callable[[FrozenBiLm], FrozenBiLm],
) -> None:
    bilm, ids = bilm_after_use(), ids_of([SENTENCE])
    expected = bilm(ids).layers

    other = copied(bilm)
    assert torch.equal(other(ids).layers, expected)
    other.load_state_dict(halved(bilm))

    assert torch.equal(bilm(ids).layers, expected)
    assert not torch.allclose(other(ids).layers, expected, atol=1e-3)


@pytest.mark.parametrize("dtype", [None, "bfloat16"])
def test_the_weights_of_the_same_fingerprint_are_put_back_and_metadata_kept(
    dtype: str | None,
) -> None:
    bilm = bilm_after_use()
    model = torch.nn.Sequential(bilm, torch.nn.Linear(2, 1))
    state = model.state_dict()

    short = bilm.leave_out_weights(state, "0.")
    whole = FrozenBiLm.of(bilm, dtype=dtype).put_back_weights(short, "0.")

    assert short.keys() == {f"0.{FINGERPRINT}", "1.weight", "1.bias"}
    torch.testing.assert_close(dict(whole), dict(state), rtol=0, atol=0)
    assert short._metadata == whole._metadata == state._metadata  # type: ignore[attr-defined]


@pytest.mark.parametrize("fingerprint", [torch.ones(3), torch.tensor(1), 7, "x"])
def test_a_fingerprint_of_another_kind_is_refused(fingerprint: Any) -> None:
    with pytest.raises(ValueError):
        bilm_after_use().put_back_weights({f"bilm.{FINGERPRINT}": fingerprint}, "bilm.")
