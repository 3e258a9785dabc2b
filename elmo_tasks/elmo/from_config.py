import copy
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from elmo_tasks.bilm.bilm import BiLm
from elmo_tasks.bilm.formats import read_options
from elmo_tasks.bilm.make_bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError, check_choice
from elmo_tasks.common.fetch import is_hub_name
from elmo_tasks.common.file_names import KEPT_OPTIONS
from elmo_tasks.common.files import write_whole
from elmo_tasks.common.from_fields import check_fields, from_fields
from elmo_tasks.common.text import parse_json
from elmo_tasks.elmo.locate import KNOWN_BILMS, locate_bilm, locate_weights
from elmo_tasks.elmo.store import LayerStore
from elmo_tasks.kernels.frozen_product import DTYPES


def bilm_from_config(
    bilm: BiLm | str | Mapping[str, Any], serialization_dir: str | os.PathLike | None = None
) -> BiLm:
    """
    Makes a biLM from the field `bilm` of a config.

    # Parameters

    bilm: A name, folder or repository (see `locate_bilm`); the arguments of `make_bilm`; or a biLM,
        which is returned as it is. The argument `store` is an object with the arguments of
        `LayerStore`. `options` may be left out if `pretrained_file` is itself the name, folder or
        repository of a biLM.
    serialization_dir: The folder of the training run, or of the unpacked archive. A model from an
        archive has no store. If the biLM is given by its path, a training run saves the biLM's
        options in this folder, so the archive needs no other file.

    # Raises

    `ConfigurationError`: A field is unknown, missing, or has a wrong value.
    """
    if isinstance(bilm, BiLm):
        return bilm
    fields = _fields_of(bilm)
    if serialization_dir is not None and _lacks_options(bilm):
        fields = _with_kept_options(fields, Path(serialization_dir))
    fields = _locate(fields)
    store = fields.pop("store", None)
    if store is not None and not isinstance(store, LayerStore):
        store = from_fields(LayerStore, store)
    # AllenNLP removes `pretrained_file` from an archive's config, so this model is from an archive.
    if fields.get("pretrained_file") is None and serialization_dir is not None:
        store = None
    return from_fields(make_bilm, fields, store=store)


def check_bilm(bilm: Any) -> None:
    """
    Raises `ConfigurationError` if `bilm_from_config` would refuse the field `bilm` of a config
    because of its type, or because of the name or type of an argument. No file is opened.
    """
    fields = _fields_of(bilm)
    file, store = fields.get("pretrained_file"), fields.pop("store", None)
    if not isinstance(file, str | os.PathLike | None):
        raise ConfigurationError(f"pretrained_file of bilm must be a path, not {file!r:.80}")
    if file is not None:
        # They are found with the weights.
        fields.setdefault("options", {})
    check_fields(make_bilm, fields, arguments=("store",))
    if "dtype" in fields:
        check_choice("dtype of bilm", fields["dtype"], DTYPES)
    if isinstance(store, Mapping):
        check_fields(LayerStore, store)


def with_options(config: Any) -> Any:
    """Returns a copy of a config, in which each `bilm` that is given by name has its options."""
    config = copy.deepcopy(config)
    for parent in parents_of_bilms(config):
        fields = _fields_of(parent["bilm"])
        if "options" not in fields:
            fields = {**_locate(fields), **fields}
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


def bilm_of_path(name: str) -> dict[str, Any] | None:
    """
    Returns the fields `options` and `pretrained_file` for the path or repository of a biLM; `None`
    if the name is neither a path nor a repository. The jsonnet of our configs calls this function.
    """
    path = os.path.expanduser(name)
    if not (os.path.exists(path) or is_hub_name(path)):
        return None
    located = locate_bilm(path)
    file = str(located.weights) if os.path.isdir(path) else path
    return {"options": read_options(located.options), "pretrained_file": file}


def with_kept_options(config: Any, folder: Path) -> Any:
    """
    Returns a copy of a model's config. In the copy, a `bilm` that is given by its path has the
    options that the training run saved in the folder. Raises `ConfigurationError` if the folder has
    no such options.
    """
    config, options_of = copy.deepcopy(config), _kept_options(folder)
    for parent in parents_of_bilms(config):
        fields = _fields_of(parent["bilm"])
        file = fields.get("pretrained_file")
        if _lacks_options(parent["bilm"]) and file in options_of:
            # On a machine without a folder of this path, the path would be taken for a repository.
            if file not in KNOWN_BILMS:
                del fields["pretrained_file"]
            parent["bilm"] = {"options": options_of[file], **fields}
        elif isinstance(file, str) and isinstance(parent["bilm"], dict) and "options" not in fields:
            raise _is_gone(file)
    return config


def _lacks_options(bilm: Any) -> bool:
    """Returns whether a biLM has no options. A known name, such as `base`, needs none."""
    return bilm not in KNOWN_BILMS if isinstance(bilm, str) else "options" not in bilm


def _kept_options(folder: Path) -> dict[str, Any]:
    path = folder / KEPT_OPTIONS
    options_of = parse_json(path.read_bytes()) if path.is_file() else {}
    return options_of if isinstance(options_of, dict) else {}


def _with_kept_options(fields: dict[str, Any], folder: Path) -> dict[str, Any]:
    """
    Saves the options of a biLM in the folder of a new training run. If the folder has a trained
    model and the biLM's file is missing, returns the fields with the options saved there.
    """
    options_of = _kept_options(folder)
    # AllenNLP removes this field from the config of an archive.
    file = fields.get("pretrained_file") or (next(iter(options_of)) if len(options_of) == 1 else "")
    is_trained = any(folder.glob("*.th")) or any(folder.glob("*.safetensors"))
    if is_trained and file in options_of and not os.path.exists(os.path.expanduser(file)):
        arguments = {key: value for key, value in fields.items() if key != "pretrained_file"}
        return {**arguments, "options": options_of[file]}
    if file and is_trained:
        _check_is_there(file)
    if file and not is_trained and folder.is_dir():
        options_of[file] = read_options(locate_bilm(file).options)
        write_whole(folder / KEPT_OPTIONS, json.dumps(options_of))
    return fields


def _check_is_there(file: str) -> None:
    """
    Raises `ConfigurationError` if a trained model has neither its biLM's file nor the biLM's
    options.
    """
    try:
        locate_bilm(file)
    except ConfigurationError as error:
        raise _is_gone(file) from error


def _is_gone(file: str) -> ConfigurationError:
    return ConfigurationError(
        f"the model was trained with the biLM {file!r:.200}, and has not kept its options: put "
        '{"options": ...} with the content of its options.json in place of it into config.json, or '
        "train again"
    )


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


def _locate(fields: dict[str, Any]) -> dict[str, Any]:
    """Returns arguments of `make_bilm` with the options in full, and the path of the weights."""
    file = fields.get("pretrained_file")
    if not isinstance(file, str):
        return fields
    if "options" in fields:
        return {**fields, "pretrained_file": locate_weights(file, fields["options"])}
    located = locate_bilm(file)
    options = read_options(located.options)
    return {**fields, "options": options, "pretrained_file": located.weights}
