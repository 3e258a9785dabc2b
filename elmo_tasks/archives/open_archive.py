"""Opens trained models as data: no code that an archive names is run (see SECURITY.md)."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError as AllenNlpConfigurationError
from allennlp.common.params import parse_overrides, with_overrides
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Archive, Model
from torch.nn.modules.module import register_module_parameter_registration_hook

from elmo_tasks.archives.check_config import NotAllowed, check_config
from elmo_tasks.archives.known_models import model_path
from elmo_tasks.archives.published_weights import read_published
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_folder, local_path
from elmo_tasks.common.file_names import PUBLISHED_WEIGHTS
from elmo_tasks.common.progress import working
from elmo_tasks.common.tensors import read_tensors
from elmo_tasks.common.text import parse_json, printable
from elmo_tasks.common.unpacking import unpacked
from elmo_tasks.elmo.from_config import with_kept_options

# A model may have this many parameters that are not in its file. A published model may name a biLM
# in place of the biLM's parameters, up to 94 million.
_MORE_PARAMETERS = 2 * 10**8

# The advice about most of the things that an archive may not have.
_OF_A_CLASS = "a class of your own needs --include-package"

# The memory that a parameter tensor takes besides its numbers, expressed as a count of numbers.
_OVERHEAD = 20_000


def open_archive(
    name: str | os.PathLike,
    cuda_device: int = -1,
    overrides: str | dict[str, Any] = "",
) -> Archive:
    """
    Opens a trained model as AllenNLP's `load_archive` does. Runs no code, reads no file and fetches
    no address that the model's files name. Raises `ConfigurationError` if its files cannot be used.

    # Parameters

    name: The name, path or address of a trained model (see `model_path`).
    cuda_device: The index of the GPU; -1 for the CPU.
    overrides: The user's changes to the config, which may name any class.
    """
    with working(f"opening {name}"):
        return _open_as_named(name, cuda_device, overrides)


def _open_as_named(
    name: str | os.PathLike, cuda_device: int, overrides: str | dict[str, Any]
) -> Archive:
    path = model_path(name)
    is_folder = os.path.isdir(path)
    with nullcontext(path) if is_folder else unpacked(local_path(path)) as folder:
        try:
            return _open(Path(folder), cuda_device, overrides)
        # A config can be wrong in many ways, and AllenNLP checks few of them.
        except Exception as error:
            text = " ".join(str(error).split()).replace(f"{folder}{os.sep}", f"{name}: ")
            is_meant = isinstance(error, ConfigurationError | AllenNlpConfigurationError)
            kind = "" if is_meant else f"{type(error).__name__}: "
            text = text.replace(folder, str(name))
            start = "" if text.startswith(str(name)) else f"{name}: "
            raise ConfigurationError(printable(f"{start}{kind}{text:.1000}")) from error


def _open(folder: Path, cuda_device: int, overrides: str | dict[str, Any]) -> Archive:
    check_folder(folder)
    config = _read_object(folder / "config.json")
    for key in ("dataset_reader", "model"):
        if key not in config:
            raise ConfigurationError(f"config.json has no {key}")
    config["model"] = with_kept_options(config["model"], folder)
    try:
        check_config({**config, "model": _without_files(config["model"])})
    except NotAllowed as refused:
        path, problem, *advice = refused.args
        raise ConfigurationError(
            f"{path} in config.json {problem}, which an archive may not have (see "
            f"SECURITY.md); {advice[0] if advice else _OF_A_CLASS}; `allennlp` does not check "
            "what an archive names"
        ) from None
    if overrides:
        text = json.dumps(overrides) if isinstance(overrides, dict) else overrides
        config = with_overrides(config, parse_overrides(text))
    readers = [
        DatasetReader.from_params(Params(config).duplicate()[field], serialization_dir=str(folder))
        for field in ("dataset_reader", "validation_dataset_reader")
        if field in config
    ]
    # The weights in a folder of `elmo-tasks pack`, in an archive, or of a training run's best
    # epoch.
    paths = [folder / name for name in (PUBLISHED_WEIGHTS, "weights.th", "best.th")]
    weights = next((path for path in paths if path.exists()), paths[-1])
    with _bounded_parameters(weights):
        model = _make_model(config, folder)
    if cuda_device >= 0:
        model.cuda(cuda_device)
    model.extend_embedder_vocab()
    is_published = weights.name == PUBLISHED_WEIGHTS
    model.load_state_dict(read_published(weights, model) if is_published else read_tensors(weights))
    return Archive(model, Params(config), readers[0], readers[-1], meta=None)


def _read_object(path: Path) -> dict[str, Any]:
    """Returns the content of a JSON file of an archive."""
    if not path.exists():
        raise ConfigurationError(f"there is no {path.name}")
    try:
        content = parse_json(path.read_bytes())
    except ValueError as error:
        raise ConfigurationError(f"{path.name} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise ConfigurationError(f"{path.name} is not a JSON object, but {content!r:.40}")
    return content


def _without_files(model: Any) -> Any:
    """
    Returns the config of a model without its store, and without the files that its training run
    read.
    """
    if isinstance(model, list):
        return [_without_files(item) for item in model]
    if not isinstance(model, dict):
        return model
    left_out = {"pretrained_file", "initializer"} | ({"store"} if "options" in model else set())
    return {key: _without_files(value) for key, value in model.items() if key not in left_out}


def _make_model(config: dict[str, Any], folder: Path) -> Model:
    vocabulary = folder / "vocabulary"
    # If `vocabulary` were a file, AllenNLP would unpack it into its cache, without bounds.
    if not vocabulary.is_dir():
        raise ConfigurationError("there is no folder named vocabulary")
    fields = config.get("vocabulary", {})
    kind, _ = Vocabulary.resolve_class_name(fields.get("type", "from_instances"))
    tokens = {name: fields[name] for name in ("padding_token", "oov_token") if name in fields}
    vocab = kind.from_files(str(vocabulary), **tokens)
    model = Params(_without_files(config["model"]))
    return Model.from_params(model, vocab=vocab, serialization_dir=str(folder))


@contextmanager
def _bounded_parameters(weights: Path) -> Iterator[None]:
    """
    Refuses a model that asks for many more parameters than its file of weights has. A parameter
    takes memory only when it is first written to, which is after this check.
    """
    most = _MORE_PARAMETERS + (weights.stat().st_size if weights.is_file() else 0)
    num_numbers, thread = 0, threading.get_ident()

    def count(module: torch.nn.Module, name: str, parameter: torch.nn.Parameter | None) -> None:
        nonlocal num_numbers
        if parameter is not None and threading.get_ident() == thread:
            num_numbers += parameter.numel() + _OVERHEAD
            if num_numbers > most:
                raise ConfigurationError(
                    f"the model asks for {num_numbers:,} numbers or more, which is far more than "
                    "its weights have"
                )

    hook = register_module_parameter_registration_hook(count)
    try:
        yield
    finally:
        hook.remove()
