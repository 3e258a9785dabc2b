import copy
import os
from collections.abc import Iterator, Mapping
from typing import Any

from elmo_tasks.bilm.bilm import BiLm
from elmo_tasks.bilm.files.known_bilms import bilm_files
from elmo_tasks.bilm.formats import read_options
from elmo_tasks.bilm.make_bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.from_fields import from_fields
from elmo_tasks.elmo.store import LayerStore


def bilm_from_config(
    bilm: BiLm | str | Mapping[str, Any], serialization_dir: str | os.PathLike | None = None
) -> BiLm:
    """
    Makes a biLM from the field `bilm` of a config.

    # Parameters

    bilm: A name, folder or repository (see `bilm_files`); the arguments of `make_bilm`; or a biLM,
        which is returned as it is. The argument `store` is an object with the arguments of
        `LayerStore`. `options` may be left out if `pretrained_file` is a name, folder or
        repository.
    serialization_dir: The folder of the training, or of the unpacked archive. A model from an
        archive has no store.

    # Raises

    `ConfigurationError`: A field is unknown, missing, or has a wrong value.
    """
    if isinstance(bilm, BiLm):
        return bilm
    fields = _with_options(bilm)
    store = fields.pop("store", None)
    if store is not None and not isinstance(store, LayerStore):
        store = from_fields(LayerStore, store)
    # AllenNLP removes `pretrained_file` from an archive's config, so this model is from an archive.
    if fields.get("pretrained_file") is None and serialization_dir is not None:
        store = None
    return from_fields(make_bilm, fields, store=store)


def with_options(config: Any) -> Any:
    """Returns a copy of a config, in which each `bilm` that is given by name has its options."""
    config = copy.deepcopy(config)
    for parent in parents_of_bilms(config):
        parent["bilm"] = _with_options(parent["bilm"])
    return config


def parents_of_bilms(config: Any) -> Iterator[dict[str, Any]]:
    """Yields each object of a config whose field `bilm` is a name or an object."""
    if isinstance(config, dict):
        if isinstance(config.get("bilm"), str | dict):
            yield config
        children = [value for key, value in config.items() if key != "bilm"]
    else:
        children = config if isinstance(config, list) else []
    for child in children:
        yield from parents_of_bilms(child)


def _with_options(bilm: Any) -> dict[str, Any]:
    fields = {"pretrained_file": bilm} if isinstance(bilm, str) else bilm
    if not isinstance(fields, Mapping):
        raise ConfigurationError(
            f"bilm must be the name of a biLM, or an object with options or a pretrained_file, not "
            f"{bilm!r:.80}"
        )
    options = fields.get("options", {})
    if not isinstance(options, Mapping):
        raise ConfigurationError(f"options of bilm must be an object, not {options!r:.80}")
    file = fields.get("pretrained_file")
    if "options" in fields or not isinstance(file, str):
        return dict(fields)
    return {"options": read_options(bilm_files(file)[0]), **fields}
