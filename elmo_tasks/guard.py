"""
Makes AllenNLP read the archives of models as data.

AllenNLP 2.10.1 unpacks the members of an archive wherever they say, evaluates `config.json` as
jsonnet, which may read files and environment variables, and imports and calls whatever a `type`
with a dot names. SECURITY.md says what this module does about each. A model may also be given by
its name or its repository, and its weights may be published (see `publish/published_weights.py`).
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from allennlp.common import Params, Registrable
from allennlp.common.checks import ConfigurationError as AllenNlpConfigurationError
from allennlp.common.meta import Meta
from allennlp.common.params import parse_overrides, with_overrides
from allennlp.models import Model, archival
from allennlp.nn import util
from cached_path import _cached_path

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular
from elmo_tasks.common.json_text import parse_json
from elmo_tasks.common.torch_file import check_torch_file
from elmo_tasks.common.unpacking import check_members, unpacked
from elmo_tasks.elmo.known_models import model_path
from elmo_tasks.publish.published_weights import PUBLISHED_WEIGHTS, read_published

T = TypeVar("T")

# With this environment variable at 1, an archive's config is what it is for AllenNLP.
TRUST = "ELMO_TASKS_TRUST_ARCHIVES"

# Keys that an archive's config may not have, and what they do.
_REFUSED = {
    "include_package": "imports a package",
    "trust_remote_code": "runs code from the internet",
    "evalb_directory_path": "runs a program",
    "serialization_dir": "chooses a folder to write to",
    "data_path": "chooses the data of `evaluate`",
}

# No config of a model is this large.
_MAX_CONFIG_BYTES = 10**7

# Every string with a dot in the configs of the archives that this process has read, and where it
# is. AllenNLP would import it as the name of a class.
_dotted: dict[str, str] = {}

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
        if os.environ.get(TRUST) == "1":
            return Params.from_file(params_file, params_overrides, ext_vars)
        config = _read_object(Path(params_file))
        archive = _origin(Path(params_file).parent)
        _refuse_keys(config, archive)
        for path, value in _strings(config):
            if "." in value:
                _dotted[value] = f"{archive}: {path}"
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
    where = f"{_origin(path.parent)}: {path.name}"
    if not path.exists():
        raise ConfigurationError(f"{_origin(path.parent)} has no {path.name}")
    check_regular(path)
    if path.stat().st_size > _MAX_CONFIG_BYTES:
        raise ConfigurationError(f"{where} has more than {_MAX_CONFIG_BYTES:,} bytes")
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ConfigurationError(f"{where} is not JSON: {error}") from error
    if not isinstance(content, dict):
        raise ConfigurationError(f"{where} is not a JSON object, but {content!r:.40}")
    return content


def _origin(folder: str | os.PathLike) -> str:
    return _origins.get(os.fspath(folder), os.fspath(folder))


def _refuse_keys(config: dict[str, Any], archive: str) -> None:
    for key in ("dataset_reader", "model"):
        if key not in config:
            raise ConfigurationError(f"{archive}: config.json has no {key}")
    for path, key, value in _items(config):
        # Loading makes no trainer.
        if key in _REFUSED and value and not path.startswith("trainer."):
            raise ConfigurationError(
                f"{archive}: {path} in config.json {_REFUSED[key]}, so the archive is not loaded; "
                f"if you trust whom it comes from, set {TRUST}=1"
            )


def _items(value: Any, path: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yields the path, the key and the value of every item in a config."""
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for key, child in pairs:
        yield f"{path}{key}", str(key), child
        yield from _items(child, f"{path}{key}.")


def _strings(config: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yields the path and the text of every string in a config, keys included."""
    for path, key, value in _items(config):
        yield path, key
        if isinstance(value, str):
            yield path, value


_resolve: Callable[..., Any] = Registrable.resolve_class_name.__func__  # type: ignore[attr-defined]


def _resolve_registered(cls: type[Registrable], name: str) -> Any:
    """Returns a class by its name, unless an archive names a class that nobody registered."""
    if name in _dotted and not _is_registered(cls, name) and os.environ.get(TRUST) != "1":
        raise ConfigurationError(
            f"{_dotted[name]} in config.json names {name}, which AllenNLP would import and call; "
            "an archive may only name classes that are registered; if you trust whom it comes "
            f"from, set {TRUST}=1"
        )
    return _resolve(cls, name)


def _is_registered(cls: type[Registrable], name: str) -> bool:
    """
    Returns whether a name is registered, or is the path of a class that is registered by another
    name. Imports nothing.
    """
    registry = Registrable._registry.get(cls, {})
    module, _, attribute = name.rpartition(".")
    found = vars(sys.modules.get(module, object)).get(attribute)
    return name in registry or any(found is known for known, _ in registry.values())


@contextmanager
def _extracted_archive(
    resolved_archive_file: str | os.PathLike, cleanup: bool = True
) -> Iterator[str]:
    with unpacked(resolved_archive_file, keep=not cleanup) as folder:
        _origins[folder] = os.fspath(resolved_archive_file)
        yield folder


def _in_one_line(load: Callable[..., T], folder_index: int) -> Callable[..., T]:
    """
    Returns a function that does what a function of AllenNLP does, but raises `ConfigurationError`
    with the name of the archive for whatever does not fit in it.
    """

    @wraps(load)
    def loaded(*args: Any) -> T:
        try:
            return load(*args)
        except (ConfigurationError, AllenNlpConfigurationError):
            raise
        # A config can be wrong in any way, and AllenNLP checks little.
        except Exception as error:
            raise ConfigurationError(
                f"{_origin(args[folder_index])} cannot be loaded: {type(error).__name__}: "
                f"{' '.join(str(error).split()):.400}"
            ) from error

    return loaded


_load_model = archival._load_model


def _load_without_files(config: Params, *args: Any) -> Model:
    """
    Loads a model without the files that only its training needed. AllenNLP leaves them out too, but
    not within lists.
    """
    model = config.params.get("model")
    for value in [model, *(child for _, _, child in _items(model))]:
        if isinstance(value, dict):
            value.pop("pretrained_file", None)
            value.pop("initializer", None)
    return _load_model(config, *args)


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


def _packed_weights_path(folder: str | os.PathLike) -> str:
    """Returns the path of the weights in a folder, which may be packed."""
    packed = os.path.join(folder, PUBLISHED_WEIGHTS)
    return packed if os.path.exists(packed) else _weights_path(folder)


archival.cached_path = _named_archive
archival.get_weights_path = _packed_weights_path
archival.Params = _ArchivedParams
archival.Meta = _ArchivedMeta
archival.extracted_archive = _extracted_archive
archival._load_dataset_readers = _in_one_line(archival._load_dataset_readers, 1)
archival._load_model = _in_one_line(_load_without_files, 2)
util.read_state_dict = _read_checked_state_dict
Registrable.resolve_class_name = classmethod(_resolve_registered)  # type: ignore[method-assign]
_cached_path.check_tarfile = lambda tar: check_members(tar, tar.name)
