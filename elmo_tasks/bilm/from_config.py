import os
from collections.abc import Mapping
from typing import Any

from elmo_tasks.bilm.bilm import BiLm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.from_fields import from_fields
from elmo_tasks.store import LayerStore


def bilm_from_config(
    bilm: BiLm | Mapping[str, Any], serialization_dir: str | os.PathLike | None = None
) -> BiLm:
    """
    Makes a biLM from the field `bilm` of a config.

    # Parameters

    bilm : `BiLm | Mapping[str, Any]`
        The arguments of `BiLm`, with those of `LayerStore` under `store`; or a biLM, which is
        returned as it is.
    serialization_dir : `str | os.PathLike`, optional
        The folder of the training, or of the unpacked archive. The biLM of an archive gets no store
        if the store is that of its training (see `LayerStore.is_closed_by`).

    # Raises

    `ConfigurationError`
        A field is unknown, missing, or has a wrong value.
    """
    if isinstance(bilm, BiLm):
        return bilm
    if not isinstance(bilm, Mapping):
        raise ConfigurationError(f"bilm must be an object with options, not {bilm!r:.80}")
    fields = dict(bilm)
    store = fields.pop("store", None)
    if store is not None and not isinstance(store, LayerStore):
        store = from_fields(LayerStore, store)
    # AllenNLP removes `pretrained_file` from the config of an archive.
    from_archive = fields.get("pretrained_file") is None and serialization_dir is not None
    if store is not None and from_archive and store.is_closed_by(serialization_dir):
        store = None
    return from_fields(BiLm, fields, store=store)
