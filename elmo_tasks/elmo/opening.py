from typing import NamedTuple

import torch

from elmo_tasks.bilm import BiLm, FrozenBiLm, make_bilm
from elmo_tasks.bilm.frozen_bilm import Store
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.locate import DEFAULT_BILM, Source, locate
from elmo_tasks.elmo.mix import ElmoMix, read_mix

# The place of a mix, by the last part of its name in a model. A token embedder, which is at the
# input, calls its mix `mix`.
_PLACES = {"input_mix": "input", "output_mix": "output", "mix": "input"}


class Opened(NamedTuple):
    """
    An opened biLM or model: its name, its biLM, and the mixes of the layers by their places. A mix
    that was saved with a biLM, outside a model, has the place "".
    """

    name: str
    bilm: FrozenBiLm
    mixes: dict[str, ElmoMix]

    def mix(self, place: str | None = None) -> ElmoMix | None:
        """
        Returns the mix at a place, `input` or `output`. Without a place, returns the only mix, or
        `None` if there is no mix. Raises `ConfigurationError` if the place has no mix, or if there
        are several mixes and no place is given.
        """
        if place is None and len(self.mixes) < 2:
            return next(iter(self.mixes.values()), None)
        places = [name for name in self.mixes if name]
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
    device: The device that the biLM runs on.
    dtype: The dtype of the matrix products (see `FrozenBiLm`); by default the setting of the model,
        or `float32` for a biLM.

    # Raises

    `ConfigurationError`: There is no biLM or model of this name, or its files cannot be used.
    """
    located = locate(name)
    if located.is_model:
        import elmo_tasks.plugin

        return elmo_tasks.plugin.elmo_of_model(located.name, store, device, dtype)
    with located.with_name_in_errors():
        bilm = make_bilm(*located.files, dtype=dtype or "float32", store=store)
        mixes = {"": read_mix(located.mix, bilm.num_layers)} if located.mix else {}
    assert isinstance(bilm, FrozenBiLm)
    return Opened(located.name, bilm.to(device).eval(), mixes)


def find_bilms(model: torch.nn.Module) -> dict[str, BiLm]:
    """Returns the biLMs of a model by the names of their modules, such as `text_embedder.bilm`."""
    return {name: module for name, module in model.named_modules() if isinstance(module, BiLm)}


def find_mixes(model: torch.nn.Module) -> dict[str, ElmoMix]:
    """
    Returns the mixes of a model by their places, `input` and `output`. Mixes that share a place go
    by the names of their modules.
    """
    mixes = {name: module for name, module in model.named_modules() if isinstance(module, ElmoMix)}
    places = [_PLACES.get(name.rpartition(".")[2], name) for name in mixes]
    return {
        place if places.count(place) == 1 else name: mix
        for place, (name, mix) in zip(places, mixes.items())
    }
