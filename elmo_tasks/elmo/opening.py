import os
from pathlib import Path
from typing import NamedTuple

import torch

from elmo_tasks.archives.known_models import is_model
from elmo_tasks.bilm import FrozenBiLm, make_bilm
from elmo_tasks.bilm.files.known_bilms import DEFAULT_BILM, Source, bilm_files
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.archives import load_elmo
from elmo_tasks.elmo.mix import ElmoMix
from elmo_tasks.elmo.mix_file import MIX_FILE, read_mix
from elmo_tasks.elmo.store import LayerStore


class Opened(NamedTuple):
    """
    A biLM that was opened, and the mixes of its layers.

    # Parameters

    name: What was opened.
    mixes: The mixes by their places. A mix that was saved with its biLM alone is at the place "".
    """

    name: str
    bilm: FrozenBiLm
    mixes: dict[str, ElmoMix]

    def mix(self, place: str | None = None) -> ElmoMix | None:
        """
        Returns the mix at a place. If no place is given, returns the only mix, or `None` without
        mixes. Raises `ConfigurationError` if the place has no mix, or if no place is given and
        there are several mixes.
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
    within: str | None = None,
    store: LayerStore | None = None,
    device: str | torch.device = "cpu",
    dtype: str | None = None,
) -> Opened:
    """
    Opens anything that has a biLM, for use without training. Archives need AllenNLP.

    # Parameters

    name: One of:

        - the name of a biLM: `base` or `mini`, which are our own, or `small`, `medium`, `original`
          or `original-5.5B`, which are fetched on first use;
        - a folder from `ElmoEncoder.save_pretrained`, `elmo-export` or the training of a biLM;
        - the path or address of a folder or zip file of the NLPL repository;
        - a repository on the Hugging Face hub: `owner/name` or `owner/name@revision`;
        - the paths or addresses of two files in bilm-tf's format, options and weights;
        - a trained model, whose biLM is opened (see `model_path`).
    within: The name of the biLM in its model; needed if the model has several.
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
        trained, mixes = load_elmo(name, within)
        return Opened(str(name), FrozenBiLm.of(trained.to(device), store, dtype), mixes)
    files = bilm_files(name)
    bilm, mix_file = _read(files, store, device, dtype), Path(files[0]).with_name(MIX_FILE)
    mixes = {"": read_mix(mix_file, bilm.num_layers)} if mix_file.exists() else {}
    return Opened(str(name), bilm, mixes)


def _read(
    files: tuple[str | os.PathLike, str | os.PathLike],
    store: LayerStore | None,
    device: str | torch.device,
    dtype: str | None,
) -> FrozenBiLm:
    bilm = make_bilm(*files, dtype=dtype or "float32", store=store)
    assert isinstance(bilm, FrozenBiLm)
    return bilm.to(device).eval()
