"""
Opens trained models for their biLMs and mixes. AllenNLP is imported only when a model is opened.
"""

import os

import torch

from elmo_tasks.bilm import BiLm, FrozenBiLm
from elmo_tasks.bilm.frozen_bilm import Store
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.opening import Opened, find_bilms, find_mixes


def load_model(name: str | os.PathLike) -> torch.nn.Module:
    """
    Loads a trained model (see `model_path`) for evaluation. Raises `ConfigurationError` if the file
    is not an archive, is incomplete, or names code to run (see SECURITY.md).
    """
    import elmo_tasks.plugin  # noqa: F401  registers every name
    from elmo_tasks.archives.open_archive import open_archive

    return open_archive(name).model.eval()


def elmo_of_model(
    name: str | os.PathLike, store: Store | None, device: str | torch.device, dtype: str | None
) -> Opened:
    """
    Opens a trained model with one biLM, for use without training. Returns what `open_elmo` returns.
    """
    model = load_model(name)
    path, bilm = _only_bilm(model, name)
    mixes = find_mixes(model.get_submodule(path.rpartition(".")[0]))
    return Opened(str(name), FrozenBiLm.of(bilm.to(device), store, dtype), mixes)


def load_bilm(name: str | os.PathLike) -> tuple[str, BiLm]:
    """
    Loads the biLM of a trained model (see `model_path`). Returns the name of the biLM's module, and
    the biLM. Raises `ConfigurationError` if the model has no biLM, or several.
    """
    return _only_bilm(load_model(name), name)


def _only_bilm(model: torch.nn.Module, name: str | os.PathLike) -> tuple[str, BiLm]:
    bilms = find_bilms(model)
    if len(bilms) != 1:
        problem = f"{len(bilms)} biLMs: {', '.join(bilms)}"
        if not bilms:
            problem = f"no biLM of elmo_tasks, but a {type(model).__name__}"
        raise ConfigurationError(f"{name} holds {problem}")
    return next(iter(bilms.items()))
