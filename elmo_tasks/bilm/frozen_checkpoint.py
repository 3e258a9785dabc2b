import copy
from collections.abc import Collection, Iterable, Mapping

import torch

StateDict = dict[str, torch.Tensor]

# The key under which a state dict has a frozen biLM's fingerprint instead of its weights.
FINGERPRINT = "fingerprint"


def leave_out_weights(
    state: StateDict, prefix: str, names: Iterable[str], fingerprint: bytes
) -> StateDict:
    """
    Returns a copy of a model's state dict that has a biLM's fingerprint instead of its weights.
    `prefix` begins the biLM's keys, such as `text_embedder.bilm.`.
    """
    # A copy keeps the metadata that PyTorch attaches to a state dict.
    short = copy.copy(state)
    for name in names:
        del short[prefix + name]
    short[prefix + FINGERPRINT] = torch.tensor(list(fingerprint), dtype=torch.uint8)
    return short


def put_back_weights(
    state: StateDict,
    prefix: str,
    weights: Mapping[str, torch.Tensor],
    fingerprints: Collection[bytes],
) -> StateDict:
    """
    Reverses `leave_out_weights`. Returns the state dict itself if it has no fingerprint. Raises
    `ValueError` if its fingerprint is not among the given ones: the state dict was saved with other
    weights of the biLM.
    """
    kept = state.get(prefix + FINGERPRINT)
    if kept is None:
        return state
    known = [list(fingerprint) for fingerprint in fingerprints]
    if not isinstance(kept, torch.Tensor) or kept.tolist() not in known:
        raise ValueError(
            f"contains only the fingerprint of the biLM {prefix[:-1]}, and this model's biLM has "
            "other weights; load model.tar.gz, or best.th after the training has ended"
        )
    whole = copy.copy(state)
    del whole[prefix + FINGERPRINT]
    whole.update({prefix + name: tensor for name, tensor in weights.items()})
    return whole
