import os
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Union

from elmo_tasks.bilm.bilm import BiLm
from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.bilm.formats import OpenedWeights, format_of, read_options
from elmo_tasks.bilm.frozen_bilm import FrozenBiLm, Store
from elmo_tasks.common.errors import ConfigurationError


def make_bilm(
    options: Union[dict[str, Any], str, os.PathLike],
    pretrained_file: Union[str, os.PathLike] = None,
    state: str = None,
    requires_grad: bool = False,
    dropout: float = 0.0,
    dtype: str = "float32",
    cached_tokens: int = 50_000,
    store: Store = None,
) -> BiLm:
    """
    Makes a `BiLm` that trains, or a `FrozenBiLm`. Its parameters are the fields of `bilm` in a
    config.

    # Parameters

    options: The content of an `options.json` in bilm-tf's format, or its path.
    pretrained_file: The path of the weights (in a config, also a name). A biLM of words needs its
        `vocab.txt` beside the weights. AllenNLP removes this key from the config of an archive, and
        takes the weights from the archive.
    state: As for `BiLm`. By default the state in the options. If the options have none, the state
        is `reset` with `requires_grad`, and `snapshot` without.
    requires_grad: Whether the biLM is trained too.
    dropout: As for `BiLm`; only with `requires_grad`.
    dtype, cached_tokens, store: As for `FrozenBiLm`. A biLM with `requires_grad` takes no store,
        and its only dtype is `float32`, also with `auto`.

    # Raises

    `ConfigurationError`: The options or weights cannot be used, or two settings contradict each
        other.
    """
    if isinstance(options, str | os.PathLike):
        options = read_options(options)
    bilm_options = BiLmOptions.from_dict(options)
    state = state or bilm_options.state or ("reset" if requires_grad else "snapshot")
    if requires_grad:
        if state == "snapshot":
            raise ConfigurationError(
                "a biLM that trains (requires_grad) cannot start from a snapshot, since each step "
                "makes the snapshot out of date: use state 'reset' or 'carry'"
            )
        if store is not None or dtype not in ("auto", "float32"):
            raise ConfigurationError(
                "a biLM that trains (requires_grad) has no store, and its dtype must be auto or "
                "float32"
            )
    elif dropout > 0:
        raise ConfigurationError(
            "dropout needs a biLM that trains: set requires_grad, or leave dropout out"
        )
    source: AbstractContextManager[OpenedWeights | None] = nullcontext()
    if pretrained_file is not None:
        source = format_of(bilm_options).open(str(pretrained_file), bilm_options)
    with source as weights:
        bilm = (
            BiLm(bilm_options, state, dropout)
            if requires_grad
            else FrozenBiLm(bilm_options, state, dtype, cached_tokens, store)
        )
        if weights is not None:
            weights.fill(bilm.state_dict(), bilm.token_layer)
            if isinstance(bilm, FrozenBiLm):
                bilm.is_random = False
            bilm.take_snapshot()
    return bilm
