"""
Makes AllenNLP read the archives of models as data.

AllenNLP 2.10.1 unpacks each member of an archive to whatever path the member names. It evaluates
`config.json` as jsonnet, which may read files and environment variables. It makes objects of
whatever classes the config names. SECURITY.md says what this module does about each of these;
`archive_allowed.py` lists what a config may name. This module also loads models by name or
repository, and published weights (see `publish/published_weights.py`).
"""

import math
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
from allennlp.models import Model, archival
from allennlp.nn import util
from cached_path import _cached_path
from torch.nn.modules.module import register_module_parameter_registration_hook
from transformers import dynamic_module_utils

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.torch_file import check_torch_file
from elmo_tasks.common.unpacking import check_members, unpacked
from elmo_tasks.elmo.known_models import model_path
from elmo_tasks.elmo.vocabulary_folder import check_inside, check_vocabulary
from elmo_tasks.in_allennlp.archive_json import (
    TRUST,
    ArchivedMeta,
    ArchivedParams,
    is_trusted,
    one_line_with_name,
    origin,
    origins,
    without_files,
)
from elmo_tasks.in_allennlp.change import Change
from elmo_tasks.publish.published_weights import PUBLISHED_WEIGHTS, read_published

T = TypeVar("T")

# A model may have this many parameters that are not in its file. A published model may name a biLM
# in place of the biLM's parameters, up to 94 million.
_MORE_PARAMETERS = 2 * 10**8

# The memory that a parameter tensor takes besides its numbers, expressed as a count of numbers.
_OVERHEAD = 20_000


@contextmanager
def _extracted_archive(
    resolved_archive_file: str | os.PathLike, cleanup: bool = True
) -> Iterator[str]:
    with unpacked(resolved_archive_file, keep=not cleanup) as folder:
        origins[folder] = os.fspath(resolved_archive_file)
        yield folder


def _in_one_line(load: Callable[..., T], folder_index: int) -> Callable[..., T]:
    """Wraps a function of AllenNLP, so that its errors are one line that names the archive."""

    @wraps(load)
    def loaded(*args: Any) -> T:
        with one_line_with_name(args[folder_index]), _nothing_installed():
            return load(*args)

    return loaded


@contextmanager
def _nothing_installed() -> Iterator[None]:
    """Keeps AllenNLP from downloading and installing a pipeline of spaCy that is missing."""

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
    """Loads a model as AllenNLP does, but first checks what its files ask for."""
    if not is_trusted():
        check_vocabulary(folder, origin(folder))
        # The user may give weights from another folder.
        if Path(weights).parent == Path(folder):
            check_inside(Path(weights), folder, origin(folder))
    config.params["model"] = without_files(config.params["model"])
    with _bounded_parameters(weights):
        model = _load_model(config, weights, folder, cuda_device)
    # The model's tensors are checked: a tensor in the file can claim any shape.
    for name, value in model.state_dict().items():
        if isinstance(value, torch.Tensor) and not _is_finite(value) and not is_trusted():
            raise ConfigurationError(
                f"{origin(folder)}: {name} holds a value that is no finite number; with {TRUST}=1 "
                "it is loaded all the same"
            )
    if not is_trusted():
        model.register_forward_hook(_check_output)
    return model


def _is_finite(tensor: torch.Tensor) -> bool:
    """Returns whether all numbers are finite, without a copy of the tensor."""
    if not tensor.is_floating_point() or tensor.numel() == 0:
        return True
    # `aminmax` gives NaN if any number is NaN.
    return all(math.isfinite(extreme) for extreme in tensor.aminmax())


def _check_output(model: Model, _: Any, output: dict[str, Any]) -> None:
    """
    Raises `ValueError` if an answer has NaN or infinity. Even finite weights can give such answers.
    """
    # Minus infinity is allowed at padding. In training, the trainer checks the loss.
    for value in () if model.training else output.values():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, torch.Tensor) and not (each < torch.inf).all():
                raise ValueError(
                    "the answer has a number that is not finite; the weights of the model may be "
                    "damaged or much too large"
                )


@contextmanager
def _bounded_parameters(weights: str) -> Iterator[None]:
    """
    Refuses a model that asks for many more parameters than its file of weights has. The check comes
    early enough, because a parameter takes memory only when it is first written to.
    """
    most = _MORE_PARAMETERS + (os.path.getsize(weights) if os.path.isfile(weights) else 0)
    found, thread = 0, threading.get_ident()

    def count(module: torch.nn.Module, name: str, parameter: torch.nn.Parameter | None) -> None:
        nonlocal found
        if parameter is not None and threading.get_ident() == thread:
            # A parameter tensor takes memory besides its numbers.
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
        raise ConfigurationError(f"{origin(folder)} has no {name}")
    if os.fspath(path).endswith(PUBLISHED_WEIGHTS):
        return read_published(path)
    check_torch_file(path)
    return _read_state_dict(path, *args, **kwargs)


_cached_archive = archival.cached_path


def _named_archive(archive_file: str | os.PathLike) -> Any:
    return _cached_archive(model_path(archive_file))


_weights_path = archival.get_weights_path


def _published_weights_path(folder: str | os.PathLike) -> str:
    """Returns the path of the published weights in a folder, or else of AllenNLP's weights."""
    published = os.path.join(folder, PUBLISHED_WEIGHTS)
    return published if os.path.exists(published) else _weights_path(folder)


_ARCHIVES_ARE_DATA = "An archive of a stranger is read as data."
_PUBLISHED = "A model is given by its name or repository, and its weights may be published."

CHANGES = (
    Change(archival, "cached_path", _named_archive, _PUBLISHED),
    Change(archival, "get_weights_path", _published_weights_path, _PUBLISHED),
    Change(archival, "Params", ArchivedParams, _ARCHIVES_ARE_DATA),
    Change(archival, "Meta", ArchivedMeta, _ARCHIVES_ARE_DATA),
    Change(archival, "extracted_archive", _extracted_archive, _ARCHIVES_ARE_DATA),
    Change(
        archival,
        "_load_dataset_readers",
        _in_one_line(archival._load_dataset_readers, 1),
        "An error in an archive has the archive's name.",
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
        "With 0, transformers raises an error in place of asking whether code may run: it would "
        "ask on the standard input, from which `predict -` reads its texts.",
        "transformers 4.49.0",
    ),
)
