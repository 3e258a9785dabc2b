import copy
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from elmo_tasks.bilm.bilm import BiLm

StateDict = dict[str, torch.Tensor]

# In a state dict, this stands in for the weights of a biLM that has them already.
STAND_IN = "fingerprint"


def without_weights(bilm: "BiLm", prefix: str, state: StateDict) -> StateDict:
    """The state dict with the fingerprint of the biLM at `prefix` in place of its weights."""
    # A copy keeps what PyTorch notes beside the tensors.
    kept = copy.copy(state)
    for name in bilm.weights():
        del kept[prefix + name]
    kept[prefix + STAND_IN] = torch.tensor(list(bilm.fingerprint()), dtype=torch.uint8)
    return kept


def with_weights(bilm: "BiLm", prefix: str, state: StateDict) -> StateDict:
    """
    The reverse, where there is a fingerprint. Raises `ValueError` if it is of other weights than
    those of the biLM.
    """
    fingerprint = state.get(prefix + STAND_IN)
    if fingerprint is None:
        return state
    if bytes(fingerprint.tolist()) != bilm.fingerprint():
        raise ValueError(
            f"holds the biLM {prefix[:-1]} by its fingerprint alone, as the checkpoints of a task "
            "do, and this biLM has other weights: the archive of the training, or its best.th when "
            "it has ended, are whole"
        )
    whole = copy.copy(state)
    del whole[prefix + STAND_IN]
    whole.update({prefix + name: tensor for name, tensor in bilm.weights().items()})
    return whole


def take_stand_in(
    bilm: "BiLm", state: StateDict, prefix: str, _: Any, __: bool, *problems: list[str]
) -> None:
    """A pre-hook of `load_state_dict`, which thus takes a state dict `without_weights`."""
    try:
        whole = with_weights(bilm, prefix, state)
    except ValueError as error:
        # Of missing keys, of unexpected ones, and what else there is to say.
        problems[2].append(f"The file {error}.")
    else:
        state.pop(prefix + STAND_IN, None)
        state.update(whole)
