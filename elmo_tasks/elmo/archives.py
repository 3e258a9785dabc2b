import os
import tarfile
import zlib

import torch
from allennlp.models import Model, load_archive
from allennlp.modules.elmo import _ElmoBiLm

from elmo_tasks.bilm import BiLm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo import ElmoMix

# By the last part of a mix's name in the model. A token embedder is always at the input.
_PLACES = {"input_mix": "input", "output_mix": "output", "mix": "input"}


def find_bilms(model: torch.nn.Module) -> dict[str, BiLm]:
    """The biLMs of a model, each once, by their names in it: `text_embedder.bilm`."""
    return {name: module for name, module in model.named_modules() if isinstance(module, BiLm)}


def find_mixes(model: torch.nn.Module) -> dict[str, ElmoMix]:
    """
    The mixes of a model by their places, `input` and `output`, or by their names in the model
    where two would have the same place.
    """
    mixes = {name: module for name, module in model.named_modules() if isinstance(module, ElmoMix)}
    places = [_PLACES.get(name.rpartition(".")[2], name) for name in mixes]
    return {
        place if places.count(place) == 1 else name: mix
        for place, (name, mix) in zip(places, mixes.items())
    }


def load_model(archive_file: str | os.PathLike, weights_file: str | None = None) -> Model:
    """
    The model of an archive, by path or address, or of the folder of a training, to be evaluated;
    with other weights than the best where `weights_file` is given. Raises `ConfigurationError`
    where the archive is none or not whole.
    """
    try:
        return load_archive(archive_file, weights_file=weights_file).model.eval()
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise ConfigurationError(f"{archive_file} is no whole archive: {error}") from error


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
    model = load_model(archive_file, weights_file)
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
    model = load_model(archive_file)
    chosen = _choose(model, archive_file, name)
    beside = model.get_submodule(chosen.rpartition(".")[0])
    return find_bilms(model)[chosen], find_mixes(beside)


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
