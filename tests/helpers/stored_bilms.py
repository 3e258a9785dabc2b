"""Makes biLMs with a store, and counts what they compute."""

import json
from typing import Any

import torch

from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.elmo.store import LayerStore
from tests.helpers.reference_bilm import FIXTURE_FILES


def fixture_bilm(store: LayerStore | None = None, **params: Any) -> BiLm:
    """Returns the biLM of the fixture."""
    options = json.loads(FIXTURE_FILES[0].read_text())
    return make_bilm(options, str(FIXTURE_FILES[1]), store=store, **params)


def bilm_with_other_start(by: float) -> BiLm:
    """
    Returns the biLM of the fixture with another start state. A start state that was computed on
    another machine may have other last bits.
    """
    bilm = fixture_bilm()
    bilm.state.h += by
    return bilm


def change(bilm: BiLm) -> BiLm:
    """Loads other weights into a biLM, and takes its snapshot anew."""
    state = {name: tensor.clone() for name, tensor in bilm.state_dict().items()}
    state["forward_stack.layers.1.bias"][3] += 0.5
    bilm.load_state_dict(state)
    bilm.take_snapshot()
    return bilm


def computed_by(bilm: BiLm) -> list[int]:
    """Returns a list that gets the number of sentences whenever the biLM computes some."""
    counts: list[int] = []
    compute = bilm.computed_layers

    def count(char_ids: torch.Tensor) -> torch.Tensor:
        counts.append(len(char_ids))
        return compute(char_ids)

    bilm.computed_layers = count  # type: ignore[method-assign]
    return counts
