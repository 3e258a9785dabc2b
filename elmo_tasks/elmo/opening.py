import os
from pathlib import Path
from typing import NamedTuple

import torch

from elmo_tasks import common
from elmo_tasks.archives.known_models import is_model
from elmo_tasks.bilm import BiLm, FrozenBiLm, make_bilm
from elmo_tasks.bilm.files.known_bilms import (
    DEFAULT_BILM,
    KNOWN_BILMS,
    MIX_FILE,
    Source,
    bilm_files,
)
from elmo_tasks.bilm.frozen_bilm import Store
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import written
from elmo_tasks.elmo.mix import ElmoMix, read_mix

# The place of a mix, by the last part of its name in a model. A token embedder, which is at the
# input, calls its mix `mix`.
_PLACES = {"input_mix": "input", "output_mix": "output", "mix": "input"}

# The suffixes of the files that biLMs and models are read from.
_SUFFIXES = (".dic", ".hdf5", ".json", ".pkl", ".safetensors", ".th", ".txt")


class Opened(NamedTuple):
    """
    What was opened: its name, its biLM, and the mixes of the layers by their places. A mix that was
    saved with a biLM, outside a model, has the place "".
    """

    name: str
    bilm: FrozenBiLm
    mixes: dict[str, ElmoMix]

    def mix(self, place: str | None = None) -> ElmoMix | None:
        """
        Returns the mix at a place, by default the only mix, or `None` without mixes. Raises
        `ConfigurationError` if the place has no mix, or a place is needed to choose from several.
        """
        if place is None and len(self.mixes) < 2:
            return next(iter(self.mixes.values()), None)
        places = [each for each in self.mixes if each]
        if not places:
            raise ConfigurationError(f"{self.name} is a biLM without mixes: place must be left out")
        if place not in places:
            raise ConfigurationError(
                f"{self.name} has mixes at the places {', '.join(places)}: place must be one of "
                f"them, not {place!r}"
            )
        return self.mixes[place]


def open_elmo(
    name: Source = DEFAULT_BILM,
    store: Store | None = None,
    device: str | torch.device = "cpu",
    dtype: str | None = None,
) -> Opened:
    """
    Opens anything that has a biLM, for use without training. Only trained models need AllenNLP.

    # Parameters

    name: One of:

        - the name of a biLM: `base` or `mini`, which are our own, or `small`, `medium`, `original`
          or `original-5.5B`, which are fetched on first use;
        - a folder from `ElmoEncoder.save_pretrained`, `elmo-export` or the training of a biLM;
        - the path or address of a folder or zip file of the NLPL repository;
        - a repository on the Hugging Face hub: `owner/name` or `owner/name@revision`;
        - the paths or addresses of two files in bilm-tf's format, options and weights;
        - a trained model with one biLM (see `model_path`).
    store: Remembers layers, which are then rounded to the `dtype` of the store.
    device (default `'cpu'`): The device that the biLM runs on.
    dtype: The dtype of the matrix products (see `FrozenBiLm`); by default the setting of the model,
        or `float32` for a biLM.

    # Raises

    `ConfigurationError`: There is no biLM or model of this name, or its files cannot be used.
    """
    if isinstance(name, tuple):
        return Opened(str(name[1]), _read(name, store, device, dtype), {})
    if is_model(name):
        model = load_model(name)
        chosen, trained = _only_bilm(model, name)
        mixes = find_mixes(model.get_submodule(chosen.rpartition(".")[0]))
        return Opened(str(name), FrozenBiLm.of(trained.to(device), store, dtype), mixes)
    files = bilm_files(name)
    bilm, mix_file = _read(files, store, device, dtype), Path(files[0]).with_name(MIX_FILE)
    mixes = {"": read_mix(mix_file, bilm.num_layers)} if mix_file.exists() else {}
    return Opened(str(name), bilm, mixes)


def last_written(name: Source) -> tuple:
    """
    Returns what changes when the files of a biLM or model are written again, as part of the key of
    what is remembered of it. What an address or a repository gives is fetched once by a process.
    """
    paths: list[Path] = []
    for part in name if isinstance(name, tuple) else (name,):
        path = Path(KNOWN_BILMS.get(os.fspath(part), part)).expanduser()
        # Options, mix and words are beside the weights.
        folder = path.parent if path.suffix == ".hdf5" else path
        inside = [*folder.glob("*"), *folder.glob("vocabulary/*")]
        paths += [each for each in inside if each.suffix in _SUFFIXES] or [path]
    return tuple((str(path), written(path)) for path in sorted(paths))


def _read(
    files: tuple[str | os.PathLike, str | os.PathLike],
    store: Store | None,
    device: str | torch.device,
    dtype: str | None,
) -> FrozenBiLm:
    bilm = make_bilm(*files, dtype=dtype or "float32", store=store)
    assert isinstance(bilm, FrozenBiLm)
    return bilm.to(device).eval()


def find_bilms(model: torch.nn.Module) -> dict[str, BiLm]:
    """Returns the biLMs of a model by their names in it, such as `text_embedder.bilm`."""
    return {name: module for name, module in model.named_modules() if isinstance(module, BiLm)}


def find_mixes(model: torch.nn.Module) -> dict[str, ElmoMix]:
    """
    Returns the mixes of a model by their places, `input` and `output`, or by their names in it if
    they share a place.
    """
    mixes = {name: module for name, module in model.named_modules() if isinstance(module, ElmoMix)}
    places = [_PLACES.get(name.rpartition(".")[2], name) for name in mixes]
    return {
        place if places.count(place) == 1 else name: mix
        for place, (name, mix) in zip(places, mixes.items())
    }


def load_model(archive_file: str | os.PathLike) -> torch.nn.Module:
    """
    Loads the model of an archive (see `model_path`) for evaluation. Raises `ConfigurationError` if
    the file is no archive, is incomplete, or names code to run (see SECURITY.md).
    """
    common.register()
    from elmo_tasks.archives.open_archive import open_archive

    return open_archive(archive_file).model.eval()


def load_bilm(archive_file: str | os.PathLike) -> tuple[str, BiLm]:
    """
    Loads the biLM of an archive as `load_model` does. Returns the biLM's name in the model, and the
    biLM. Raises `ConfigurationError` if the model has no biLM, or several.
    """
    return _only_bilm(load_model(archive_file), archive_file)


def _only_bilm(model: torch.nn.Module, archive_file: str | os.PathLike) -> tuple[str, BiLm]:
    bilms = find_bilms(model)
    if len(bilms) != 1:
        held = f"{len(bilms)} biLMs: {', '.join(bilms)}"
        if not bilms:
            held = f"no biLM of elmo_tasks, but a {type(model).__name__}"
        raise ConfigurationError(f"{archive_file} holds {held}")
    return next(iter(bilms.items()))
