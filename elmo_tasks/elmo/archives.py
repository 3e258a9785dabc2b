import os

import torch

from elmo_tasks.bilm import BiLm
from elmo_tasks.common import registration
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.mix import ElmoMix

# The place of a mix, by the last part of its name in a model. A token embedder, which is at the
# input, calls its mix `mix`.
_PLACES = {"input_mix": "input", "output_mix": "output", "mix": "input"}


def find_bilms(model: torch.nn.Module) -> dict[str, BiLm]:
    """
    Returns the biLMs of a model by their names in it, such as `text_embedder.bilm`. Each biLM
    occurs once.
    """
    return {name: module for name, module in model.named_modules() if isinstance(module, BiLm)}


def find_mixes(model: torch.nn.Module) -> dict[str, ElmoMix]:
    """
    Returns the mixes of a model by their places, `input` and `output`. If mixes share a place, the
    key of each is its name in the model.
    """
    mixes = {name: module for name, module in model.named_modules() if isinstance(module, ElmoMix)}
    places = [_PLACES.get(name.rpartition(".")[2], name) for name in mixes]
    return {
        place if places.count(place) == 1 else name: mix
        for place, (name, mix) in zip(places, mixes.items())
    }


def load_model(archive_file: str | os.PathLike, weights_file: str | None = None) -> torch.nn.Module:
    """
    Loads the model of an archive, for evaluation. This function needs AllenNLP.

    # Parameters

    archive_file: The path or address of a `model.tar.gz`, a folder, or a name (see `model_path`).
    weights_file: A file of weights that replace the best weights, such as a checkpoint's.

    # Raises

    `ConfigurationError`: The file is no archive, is incomplete, or names code to run (see
        SECURITY.md).
    """
    registration.register()
    from elmo_tasks.archives.open_archive import open_archive

    return open_archive(archive_file, weights_file=weights_file).model.eval()


def load_bilm(
    archive_file: str | os.PathLike, name: str | None = None, weights_file: str | None = None
) -> tuple[str, BiLm]:
    """
    Loads the biLM of an archive. Returns the biLM's name in the model, and the biLM.

    # Parameters

    archive_file, weights_file: As for `load_model`.
    name: The name of the biLM in the model; needed if the model has several.

    # Raises

    `ConfigurationError`: The model has no biLM, or has several and `name` is missing.
    """
    model = load_model(archive_file, weights_file)
    chosen = _choose(model, archive_file, name)
    return chosen, find_bilms(model)[chosen]


def load_elmo(
    archive_file: str | os.PathLike, name: str | None = None
) -> tuple[BiLm, dict[str, ElmoMix]]:
    """
    Loads the biLM of an archive, chosen as in `load_bilm`, and its mixes by their places: `input`
    and `output`, or only `input` for the token embedder `elmo_bilm`. A language model has no mix.
    """
    model = load_model(archive_file)
    chosen = _choose(model, archive_file, name)
    beside = model.get_submodule(chosen.rpartition(".")[0])
    return find_bilms(model)[chosen], find_mixes(beside)


def _choose(model: torch.nn.Module, archive_file: str | os.PathLike, name: str | None) -> str:
    """Returns the name of the biLM to load."""
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


def describe_model(model: torch.nn.Module) -> str:
    """Describes the parts of a model that has no biLM of elmo_tasks."""
    parts = ", ".join(
        f"{name} ({type(module).__name__})" for name, module in model.named_children()
    )
    return f"a {type(model).__name__} of {parts or 'no modules'}"
