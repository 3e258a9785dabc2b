import os

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.models import Model, load_archive
from allennlp.modules.elmo import _ElmoBiLm

from elmo_tasks.bilm import BiLm
from elmo_tasks.elmo import ElmoMix


def find_bilms(model: torch.nn.Module) -> dict[str, BiLm]:
    """The biLMs of a model, each once, by their names in it: `text_embedder.bilm`."""
    return {name: module for name, module in model.named_modules() if isinstance(module, BiLm)}


def load_bilm(
    archive_file: str | os.PathLike, name: str | None = None, weights_file: str | None = None
) -> tuple[str, BiLm]:
    """
    The biLM of an archive, and its name in the model.

    # Parameters

    archive_file : `str | os.PathLike`
        A `model.tar.gz`, by path or address, or the folder of a training.
    name : `str`, optional
        Which one, where the model has several.
    weights_file : `str`, optional
        Other weights than the best, such as those of a checkpoint.

    # Returns

    `tuple[str, BiLm]`
        Raises `ConfigurationError` where there is none, or not one alone.
    """
    model = load_archive(archive_file, weights_file=weights_file).model.eval()
    chosen = _choose(model, archive_file, name)
    return chosen, find_bilms(model)[chosen]


def load_elmo(
    archive_file: str | os.PathLike, name: str | None = None
) -> tuple[BiLm, dict[str, ElmoMix]]:
    """
    The biLM of an archive, chosen as in `load_bilm`, and the mixes beside it by their places:
    `input` and `output`, or `input` alone for the token embedder `elmo_bilm`; a language model
    has none.
    """
    model = load_archive(archive_file).model.eval()
    chosen = _choose(model, archive_file, name)
    beside = model.get_submodule(chosen.rpartition(".")[0])
    mixes = {
        child.removesuffix("mix").rstrip("_") or "input": module
        for child, module in beside.named_children()
        if isinstance(module, ElmoMix)
    }
    return find_bilms(model)[chosen], mixes


def _choose(model: Model, archive_file: str | os.PathLike, name: str | None) -> str:
    """The name of the biLM that is meant."""
    bilms = find_bilms(model)
    if not bilms:
        raise ConfigurationError(
            f"{archive_file} holds no biLM of elmo_tasks, but {describe_model(model)}"
        )
    names = ", ".join(bilms)
    if name is None and len(bilms) > 1:
        raise ConfigurationError(
            f"{archive_file} holds {len(bilms)} biLMs: {names}; choose one by its name"
        )
    if name is not None and name not in bilms:
        raise ConfigurationError(f"{archive_file} holds no biLM named {name!r}, but {names}")
    return name or next(iter(bilms))


def describe_model(model: Model) -> str:
    """What a model without a biLM is made of."""
    parts = ", ".join(
        f"{name} ({type(module).__name__})" for name, module in model.named_children()
    )
    text = f"a {type(model).__name__} of {parts or 'no modules'}"
    if any(isinstance(module, _ElmoBiLm) for module in model.modules()):
        text += (
            "; the ELMo in it is AllenNLP's own, which does not keep its options: use the files it "
            "was made from"
        )
    return text
