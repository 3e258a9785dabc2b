"""Reads `config.json` and `meta.json` of an archive as plain JSON, and checks the config."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from allennlp.common import Params
from allennlp.common.checks import ConfigurationError as AllenNlpConfigurationError
from allennlp.common.meta import Meta
from allennlp.common.params import parse_overrides, with_overrides

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular
from elmo_tasks.common.json_text import parse_json
from elmo_tasks.common.printable import printable
from elmo_tasks.elmo.vocabulary_folder import check_inside
from elmo_tasks.in_allennlp.archive_config import NotAllowed, check_allowed

# If this environment variable is 1, an archive's config is read as AllenNLP reads it, unchecked.
TRUST = "ELMO_TASKS_TRUST_ARCHIVES"

# No config of a model is this large.
_MAX_CONFIG_BYTES = 10**7

# Maps each unpacked folder to its archive.
origins: dict[str, str] = {}


class ArchivedParams(Params):
    """Reads the `config.json` of an archive as plain JSON."""

    @classmethod
    def from_file(
        cls,
        params_file: str | os.PathLike,
        params_overrides: str | dict[str, Any] = "",
        ext_vars: dict | None = None,
    ) -> Params:
        if is_trusted():
            return Params.from_file(params_file, params_overrides, ext_vars)
        config = _read_object(Path(params_file))
        archive = origin(Path(params_file).parent)
        _check_config(config, archive)
        # The user's own changes may be jsonnet and may name any class, so they are not checked.
        if isinstance(params_overrides, dict):
            params_overrides = json.dumps(params_overrides)
        overrides = parse_overrides(params_overrides, ext_vars=ext_vars)
        return Params(with_overrides(config, overrides) if overrides else config)


class ArchivedMeta(Meta):
    @classmethod
    def from_path(cls, path: str | os.PathLike) -> Meta:
        version = _read_object(Path(path)).get("version")
        if not isinstance(version, str) or version.count(".") < 2:
            raise ConfigurationError(
                f"{origin(Path(path).parent)}: meta.json has the version {version!r:.80}"
            )
        return Meta(version)


def _read_object(path: Path) -> dict[str, Any]:
    """Returns the content of a JSON file of an archive."""
    with one_line_with_name(path.parent):
        if not path.exists():
            raise ConfigurationError(f"{path.parent} has no {path.name}")
        if not is_trusted():
            check_inside(path, path.parent, origin(path.parent))
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


def is_trusted() -> bool:
    return os.environ.get(TRUST) == "1"


def origin(folder: str | os.PathLike) -> str:
    return origins.get(os.fspath(folder), os.fspath(folder))


@contextmanager
def one_line_with_name(folder: str | os.PathLike) -> Iterator[None]:
    """
    Turns every error into one line that names the archive of the folder and says what is wrong.
    """
    folder, archive = os.fspath(folder), origin(folder)
    try:
        yield
    except Exception as error:
        text = " ".join(str(error).split()).replace(f"{folder}{os.sep}", f"{archive}: ")
        text = text.replace(folder, archive)
        if isinstance(error, ConfigurationError | AllenNlpConfigurationError):
            text = text if archive in text else f"{archive}: {text}"
            raise type(error)(text) from error.__cause__
        # A config can be wrong in many ways, and AllenNLP checks few of them.
        raise ConfigurationError(
            f"{archive} cannot be loaded: {type(error).__name__}: {text:.400}"
        ) from error


def _check_config(config: dict[str, Any], archive: str) -> None:
    for key in ("dataset_reader", "model"):
        if key not in config:
            raise ConfigurationError(f"{archive}: config.json has no {key}")
    try:
        check_allowed({**config, "model": without_files(config["model"])})
    except NotAllowed as refused:
        path, what = refused.args
        raise ConfigurationError(
            printable(
                f"{archive}: {path} in config.json {what}; an archive may only have what "
                f"SECURITY.md lists; if you trust whom it comes from, set {TRUST}=1"
            )
        ) from None


def without_files(model: Any) -> Any:
    """
    Returns the config of a model without the files that only its training needed. AllenNLP also
    leaves them out, except within lists.
    """
    if isinstance(model, list):
        return [without_files(each) for each in model]
    if not isinstance(model, dict):
        return model
    return {
        key: without_files(value)
        for key, value in model.items()
        if key not in ("pretrained_file", "initializer")
    }
