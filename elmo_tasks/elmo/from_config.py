import copy
import os
from collections.abc import Iterator, Mapping
from typing import Any

from elmo_tasks.bilm.bilm import BiLm
from elmo_tasks.bilm.formats import read_options
from elmo_tasks.bilm.make_bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.from_fields import from_fields
from elmo_tasks.elmo.locate import locate_bilm, locate_weights
from elmo_tasks.elmo.store import LayerStore


def bilm_from_config(
    bilm: BiLm | str | Mapping[str, Any], serialization_dir: str | os.PathLike | None = None
) -> BiLm:
    """
    Makes a biLM from the field `bilm` of a config.

    # Parameters

    bilm: A name, folder or repository (see `locate_bilm`); the arguments of `make_bilm`; or a biLM,
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
    fields = _located(_fields_of(bilm))
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
        fields = _fields_of(parent["bilm"])
        if "options" not in fields:
            fields = {**_located(fields), **fields}
        parent["bilm"] = fields
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


def _fields_of(bilm: Any) -> dict[str, Any]:
    """Returns a copy of the arguments of `make_bilm` that a field `bilm` stands for."""
    fields = {"pretrained_file": bilm} if isinstance(bilm, str) else bilm
    if not isinstance(fields, Mapping):
        raise ConfigurationError(
            f"bilm must be the name of a biLM, or an object with options or a pretrained_file, not "
            f"{bilm!r:.80}"
        )
    options = fields.get("options", {})
    if not isinstance(options, Mapping):
        raise ConfigurationError(f"options of bilm must be an object, not {options!r:.80}")
    return dict(fields)


def _located(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns arguments of `make_bilm` with the options in full, and the path of the weights."""
    file = fields.get("pretrained_file")
    if not isinstance(file, str):
        return fields
    if "options" in fields:
        return {**fields, "pretrained_file": locate_weights(file, fields["options"])}
    located = locate_bilm(file)
    options = read_options(located.options)
    return {**fields, "options": options, "pretrained_file": located.weights}
