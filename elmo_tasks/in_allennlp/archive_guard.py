"""
Makes AllenNLP read the archives of models as data.

AllenNLP 2.10.1 unpacks the members of an archive wherever they say, evaluates `config.json` as
jsonnet, which may read files and environment variables, and makes whatever the config names.
SECURITY.md says what this module does about each; `archive_allowed.py` lists what a config may
name. A model may also be given by its name or its repository, and its weights may be published (see
`publish/published_weights.py`).
"""

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

import torch
from allennlp.common import Params
from allennlp.common import util as allennlp_util
from allennlp.common.checks import ConfigurationError as AllenNlpConfigurationError
from allennlp.common.meta import Meta
from allennlp.common.params import parse_overrides, with_overrides
from allennlp.models import Model, archival
from allennlp.nn import util
from cached_path import _cached_path
from torch.nn.modules.module import register_module_parameter_registration_hook
from transformers import dynamic_module_utils

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular
from elmo_tasks.common.json_text import parse_json
from elmo_tasks.common.printable import printable
from elmo_tasks.common.torch_file import check_torch_file
from elmo_tasks.common.unpacking import check_members, unpacked
from elmo_tasks.elmo.known_models import model_path
from elmo_tasks.elmo.vocabulary_folder import check_inside, check_vocabulary
from elmo_tasks.in_allennlp.archive_config import NotAllowed, check_allowed
from elmo_tasks.in_allennlp.change import Change
from elmo_tasks.publish.published_weights import PUBLISHED_WEIGHTS, read_published

T = TypeVar("T")

# With this environment variable at 1, AllenNLP reads the config of an archive as its own.
TRUST = "ELMO_TASKS_TRUST_ARCHIVES"

# No config of a model is this large.
_MAX_CONFIG_BYTES = 10**7

# The most parameters of a model beside those in its file. A published model may name a biLM of 94
# million.
_MORE_PARAMETERS = 2 * 10**8

# What a parameter costs beside its numbers, counted in numbers.
_OVERHEAD = 20_000

# Unpacked folders, and the archives that they come from.
_origins: dict[str, str] = {}


class _ArchivedParams(Params):
    """Reads the `config.json` of an archive as plain JSON."""

    @classmethod
    def from_file(
        cls,
        params_file: str | os.PathLike,
        params_overrides: str | dict[str, Any] = "",
        ext_vars: dict | None = None,
    ) -> Params:
        if _is_trusted():
            return Params.from_file(params_file, params_overrides, ext_vars)
        config = _read_object(Path(params_file))
        archive = _origin(Path(params_file).parent)
        _check_config(config, archive)
        # The user's own changes may be jsonnet and may name any class.
        if isinstance(params_overrides, dict):
            params_overrides = json.dumps(params_overrides)
        overrides = parse_overrides(params_overrides, ext_vars=ext_vars)
        return Params(with_overrides(config, overrides) if overrides else config)


class _ArchivedMeta(Meta):
    @classmethod
    def from_path(cls, path: str | os.PathLike) -> Meta:
        version = _read_object(Path(path)).get("version")
        if not isinstance(version, str) or version.count(".") < 2:
            raise ConfigurationError(
                f"{_origin(Path(path).parent)}: meta.json has the version {version!r:.80}"
            )
        return Meta(version)


def _read_object(path: Path) -> dict[str, Any]:
    """Returns the content of a JSON file of an archive."""
    with _one_line_with_name(path.parent):
        if not path.exists():
            raise ConfigurationError(f"{path.parent} has no {path.name}")
        if not _is_trusted():
            check_inside(path, path.parent, _origin(path.parent))
        check_regular(path)
        if path.stat().st_size > _MAX_CONFIG_BYTES:
            raise ConfigurationError(f"{path} has more than {_MAX_CONFIG_BYTES:,} bytes")
        try:
            content = parse_json(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ConfigurationError(f"{path} is not JSON: {error}") from error
        if not isinstance(content, dict):
            raise ConfigurationError(f"{path} is not a JSON object, but {content!r:.40}")
        return content


def _is_trusted() -> bool:
    return os.environ.get(TRUST) == "1"


def _origin(folder: str | os.PathLike) -> str:
    return _origins.get(os.fspath(folder), os.fspath(folder))


def _check_config(config: dict[str, Any], archive: str) -> None:
    for key in ("dataset_reader", "model"):
        if key not in config:
            raise ConfigurationError(f"{archive}: config.json has no {key}")
    try:
        check_allowed({**config, "model": _without_files(config["model"])})
    except NotAllowed as refused:
        path, what = refused.args
        raise ConfigurationError(
            printable(
                f"{archive}: {path} in config.json {what}; an archive may only have what "
                f"SECURITY.md lists; if you trust whom it comes from, set {TRUST}=1"
            )
        ) from None


def _without_files(model: Any) -> Any:
    """
    Returns the config of a model without the files that only its training needed. AllenNLP leaves
    them out too, but not within lists.
    """
    if isinstance(model, list):
        return [_without_files(each) for each in model]
    if not isinstance(model, dict):
        return model
    return {
        key: _without_files(value)
        for key, value in model.items()
        if key not in ("pretrained_file", "initializer")
    }


@contextmanager
def _extracted_archive(
    resolved_archive_file: str | os.PathLike, cleanup: bool = True
) -> Iterator[str]:
    with unpacked(resolved_archive_file, keep=not cleanup) as folder:
        _origins[folder] = os.fspath(resolved_archive_file)
        yield folder


def _in_one_line(load: Callable[..., T], folder_index: int) -> Callable[..., T]:
    """Returns what does the same as a function of AllenNLP, with errors as described below."""

    @wraps(load)
    def loaded(*args: Any) -> T:
        with _one_line_with_name(args[folder_index]), _nothing_installed():
            return load(*args)

    return loaded


@contextmanager
def _one_line_with_name(folder: str | os.PathLike) -> Iterator[None]:
    """
    Makes of every error an error of the config, which says in one line which archive the folder is
    of and what does not fit.
    """
    folder, archive = os.fspath(folder), _origin(folder)
    try:
        yield
    except Exception as error:
        text = " ".join(str(error).split()).replace(f"{folder}{os.sep}", f"{archive}: ")
        text = text.replace(folder, archive)
        if isinstance(error, ConfigurationError | AllenNlpConfigurationError):
            text = text if archive in text else f"{archive}: {text}"
            raise type(error)(text) from error.__cause__
        # A config can be wrong in any way, and AllenNLP checks little.
        raise ConfigurationError(
            f"{archive} cannot be loaded: {type(error).__name__}: {text:.400}"
        ) from error


@contextmanager
def _nothing_installed() -> Iterator[None]:
    """AllenNLP downloads and installs a pipeline of spaCy that is missing, though not in here."""

    def refuse(name: str) -> None:
        raise ConfigurationError(
            f"the pipeline {name} of spaCy is not installed: python -m spacy download {name}"
        )

    download = allennlp_util.spacy_download
    allennlp_util.spacy_download = refuse
    try:
        yield
    finally:
        allennlp_util.spacy_download = download


_load_model = archival._load_model


def _load_checked(
    config: Params, weights: str, folder: str | os.PathLike, cuda_device: int
) -> Model:
    """Loads a model as AllenNLP does, but looks first at what its files ask for."""
    if not _is_trusted():
        check_vocabulary(folder, _origin(folder))
        # A person may give weights of another folder.
        if Path(weights).parent == Path(folder):
            check_inside(Path(weights), folder, _origin(folder))
    config.params["model"] = _without_files(config.params["model"])
    with _bounded_parameters(weights):
        model = _load_model(config, weights, folder, cuda_device)
    # Tensors of the model, since one of the file can claim any shape.
    for name, value in model.state_dict().items():
        if isinstance(value, torch.Tensor) and not value.isfinite().all() and not _is_trusted():
            raise ConfigurationError(
                f"{_origin(folder)}: {name} holds a value that is no finite number; with {TRUST}=1 "
                "it is loaded all the same"
            )
    return model


@contextmanager
def _bounded_parameters(weights: str) -> Iterator[None]:
    """
    Refuses a model of many more parameters than its file of weights has, when it asks for them:
    memory is taken when they are first written to.
    """
    most = _MORE_PARAMETERS + (os.path.getsize(weights) if os.path.isfile(weights) else 0)
    found, thread = 0, threading.get_ident()

    def count(module: torch.nn.Module, name: str, parameter: torch.nn.Parameter | None) -> None:
        nonlocal found
        if parameter is not None and threading.get_ident() == thread:
            # A small parameter takes memory as well.
            found += parameter.numel() + _OVERHEAD
            if found > most:
                raise ConfigurationError(
                    f"the model asks for {found:,} numbers or more, which is far more than its "
                    "weights have"
                )

    hook = register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        hook.remove()


_read_state_dict = util.read_state_dict


@wraps(_read_state_dict)
def _read_checked_state_dict(path: str | os.PathLike, *args: Any, **kwargs: Any) -> Any:
    if not os.path.exists(path):
        folder, name = os.path.split(path)
        raise ConfigurationError(f"{_origin(folder)} has no {name}")
    if os.fspath(path).endswith(PUBLISHED_WEIGHTS):
        return read_published(path)
    check_torch_file(path)
    return _read_state_dict(path, *args, **kwargs)


_cached_archive = archival.cached_path


def _named_archive(archive_file: str | os.PathLike) -> Any:
    return _cached_archive(model_path(archive_file))


_weights_path = archival.get_weights_path


def _published_weights_path(folder: str | os.PathLike) -> str:
    """Returns the path of the weights in a folder, which may be published."""
    published = os.path.join(folder, PUBLISHED_WEIGHTS)
    return published if os.path.exists(published) else _weights_path(folder)


_ARCHIVES_ARE_DATA = "An archive of a stranger is read as data."
_PUBLISHED = "A model is given by its name or repository, and its weights may be published."

CHANGES = (
    Change(archival, "cached_path", _named_archive, _PUBLISHED),
    Change(archival, "get_weights_path", _published_weights_path, _PUBLISHED),
    Change(archival, "Params", _ArchivedParams, _ARCHIVES_ARE_DATA),
    Change(archival, "Meta", _ArchivedMeta, _ARCHIVES_ARE_DATA),
    Change(archival, "extracted_archive", _extracted_archive, _ARCHIVES_ARE_DATA),
    Change(
        archival,
        "_load_dataset_readers",
        _in_one_line(archival._load_dataset_readers, 1),
        "What does not fit in an archive is an error with its name.",
    ),
    Change(archival, "_load_model", _in_one_line(_load_checked, 2), _ARCHIVES_ARE_DATA),
    Change(util, "read_state_dict", _read_checked_state_dict, _ARCHIVES_ARE_DATA),
    Change(
        _cached_path,
        "check_tarfile",
        lambda tar: check_members(tar, tar.name),
        _ARCHIVES_ARE_DATA,
        "cached_path 1.8.10",
    ),
    Change(
        dynamic_module_utils,
        "TIME_OUT_REMOTE_CODE",
        0,
        "With 0, transformers raises an error where it would ask on the standard input, from which "
        "`predict -` reads its texts, whether code may run.",
        "transformers 4.49.0",
    ),
)
