"""Checks what a command may write: no file of the user is lost unless the user says so."""

import glob
import os
import posixpath
import re
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.file_names import DATA_SUFFIXES
from elmo_tasks.common.files import check_compression, is_stream

Name = str | os.PathLike

# The files of a trained model, a biLM or a store, by their paths in its folder. Further files in
# such a folder, such as the metrics that somebody wrote there, do not belong to it.
_OF_MODEL = re.compile(
    r"(config|meta|metrics|mix|options|_about|_manifest)\.json|model\.tar\.gz|bilm\.libsonnet|"
    r"softmax_words\.txt|vocab\.txt|vocabulary/[^/]+|"
    rf"[^/]+(\.(onnx|pb|sqlite)|{'|'.join(map(re.escape, DATA_SUFFIXES))})"
)

# Protocols of fsspec that lead to local files, and second names of protocols.
_LOCAL = ("file", "local")
_SAME_PROTOCOL = {"s3a": "s3", "gcs": "gs"}


class _Location(NamedTuple):
    """
    The file, folder or address that a name leads to.

    # Parameters

    name: The name as the user gave it.
    path: The real path, or the address.
    id: The device and the inode of a file or folder that exists. All names of a file have the same
        id.
    """

    name: str
    path: str
    id: tuple[int, int] | None
    is_folder: bool = False


def check_outputs(
    files: Iterable[Name | None],
    inputs: Iterable[Name | None] = (),
    force: bool = False,
    folders: Iterable[Name] = (),
) -> None:
    """
    Refuses to write where a user's file would be lost. A command calls this function before it
    reads or computes anything.

    # Parameters

    files: The files that will be written. `None` stands for an option that was not given.
    inputs: The paths, glob patterns and addresses that will be read, or `-` for the standard input.
        A name that is no path, such as `base`, is ignored.
    force: Whether files that exist are replaced.
    folders: Folders that get further files. The command itself decides whether they may exist.

    # Raises

    `ConfigurationError`: An output is an input, perhaps by another name; an output folder has an
        input in it; an output is a file of a model or biLM in an input folder; two outputs are the
        same; or an output exists and `force` is not given.
    """
    names = [file for file in files if file is not None]
    sources = [input_file for name in inputs if name is not None for input_file in _read_at(name)]
    earlier_outputs: list[_Location] = []
    for output in map(_location, [*folders, *names]):
        for source in sources:
            _refuse_input(output, source)
        for earlier in earlier_outputs:
            if _are_same(output, earlier) and not is_stream(output.name):
                raise ConfigurationError(
                    f"{earlier.name} and {output.name} are the same file: give two names"
                )
        earlier_outputs.append(output)
    for name in names:
        refuse_existing(name, force)


def refuse_existing(file: Name, force: bool = False) -> None:
    """
    Raises `ConfigurationError` if the path is `-` or a folder, if its suffix is of a compression
    that is not written, or if a file exists and `force` is not given.
    """
    if os.fspath(file) == "-":
        raise ConfigurationError(
            "- is no name of an output: choose a file, or ./- for one of this name"
        )
    check_compression(file)
    path = _local_path(file)
    if path is None or is_stream(path):
        return
    # `NEW/../FILE` is found as soon as a command has made the folder NEW.
    paths = [name for name in (path, os.path.realpath(path)) if os.path.lexists(name)]
    if any(map(os.path.isdir, paths)):
        raise ConfigurationError(f"{file} is a folder: give the name of a file")
    if paths and not force:
        raise ConfigurationError(f"{file} exists; choose another name, or replace it with --force")


def paths_in(config: Any) -> Iterator[str]:
    """
    Yields each text in a config that may be the name of a file or folder. A text may also have
    several names with commas, or a file in an archive (`ARCHIVE!FILE`, `(ARCHIVE)#FILE`).
    """
    if isinstance(config, dict | list | tuple):
        for value in config.values() if isinstance(config, dict) else config:
            yield from paths_in(value)
    elif isinstance(config, str):
        yield config
        if "," in config:
            yield from map(str.strip, config.split(","))
        if "!" in config:
            yield config.partition("!")[0]
        if archive := re.match(r"\((.+)\)#", config):
            yield archive[1]


def is_model_file(path: Name, folder: Name) -> bool:
    """Returns whether a file in a folder has the name of a file of a model, a biLM or a store."""
    inside = os.path.relpath(path, folder).replace(os.sep, "/")
    is_vocabulary = os.path.basename(folder) == "vocabulary"
    return _OF_MODEL.fullmatch(f"{'vocabulary/' * is_vocabulary}{inside}") is not None


def inputs_in(folder: Name, inputs: Iterable[Name]) -> list[str]:
    """Returns the inputs that are a folder or lie in the folder, perhaps by another name."""
    location = _location(folder)
    sources = [source for name in inputs for source in _read_at(name)]
    # A hard link may be elsewhere.
    paths = [
        os.path.join(at, name) for at, _, names in os.walk(os.fspath(folder)) for name in names
    ]
    ids = {file.id for file in map(_location, paths)}
    return [
        source.name
        for source in sources
        if _are_same(source, location)
        or _holds(location, source)
        or (source.id and source.id in ids)
    ]


def _refuse_input(output: _Location, source: _Location) -> None:
    if _are_same(output, source):
        alias = "" if output.name == source.name else f" ({source.name})"
        raise ConfigurationError(f"{output.name} is an input{alias}: choose another output")
    if _holds(output, source):
        raise ConfigurationError(
            f"{output.name} is a folder with the input {source.name} in it: choose another output"
        )
    if source.is_folder and _is_part(output, source):
        raise ConfigurationError(
            f"{output.name} is a file of the input {source.name}: choose another output"
        )


def _location(name: Name) -> _Location:
    text, path = os.fspath(name), _local_path(name)
    if path is None:
        return _Location(text, _address(text), None)
    for spelling in (path, _real_path(path)):
        # `NEW/../FILE` is the same as FILE as soon as a command has made the folder NEW.
        with suppress(OSError, ValueError):
            return _Location(text, _real_path(path), *_id(os.stat(spelling)))
    return _Location(text, _real_path(path), None)


def _id(about: os.stat_result) -> tuple[tuple[int, int] | None, bool]:
    is_folder = stat.S_ISDIR(about.st_mode)
    # Nothing is lost by writing to the terminal or the pipe that is read.
    is_lasting = is_folder or stat.S_ISREG(about.st_mode)
    return (about.st_dev, about.st_ino) if is_lasting else None, is_folder


def _real_path(path: str) -> str:
    try:
        real = os.path.realpath(path)
    except ValueError:
        return path
    # Files that do not exist yet have no number by which their names could be compared.
    return real.casefold() if sys.platform in ("darwin", "win32") else real


def _read_at(name: Name) -> Iterator[_Location]:
    """
    Yields the locations that an input names: all files of a pattern; a folder and the files of its
    model.
    """
    text = os.fspath(name)
    if text == "-":
        # There may be no standard input.
        with suppress(OSError):
            yield _Location("-", "-", *_id(os.fstat(0)))
        return
    path = _local_path(text)
    if path is None:
        yield _location(text)
        return
    expanded = os.path.expanduser(path)
    paths = dict.fromkeys([text, expanded])
    if not os.path.lexists(expanded) and glob.has_magic(expanded):
        paths |= dict.fromkeys(glob.iglob(expanded, recursive=True))
    for location in map(_location, paths):
        if location.id is not None:
            yield location
        if location.is_folder:
            yield from map(_location, _files_of(location.path))


def _files_of(folder: str) -> Iterator[str]:
    """Yields the files of a model in a folder."""
    for inside in ("", "vocabulary/"):
        try:
            names = os.listdir(os.path.join(folder, inside))
        except OSError:
            continue
        for name in names:
            path = os.path.join(folder, inside, name)
            if is_model_file(path, folder):
                yield path


def _are_same(first: _Location, second: _Location) -> bool:
    return first.path == second.path or (first.id is not None and first.id == second.id)


def _holds(folder: _Location, inside: _Location) -> bool:
    """Returns whether a file or folder lies in a folder, at any depth."""
    if folder.id is None:
        return inside.path.startswith(f"{folder.path.rstrip('/')}/")
    parent = inside.path
    while folder.is_folder and (above := os.path.dirname(parent)) != parent:
        parent = above
        if parent == folder.path or _location(parent).id == folder.id:
            return True
    return False


def _is_part(output: _Location, folder: _Location) -> bool:
    """Returns whether an output would be a file of the model in a folder."""
    # An output that is a link may lead into the folder, or be in it.
    name = os.path.abspath(_local_path(output.name) or output.name)
    in_folder = os.path.join(_real_path(os.path.dirname(name)), os.path.basename(name))
    return any(is_model_file(path, folder.path) for path in (output.path, in_folder))


def _local_path(name: Name) -> str | None:
    """Returns the path of a local file, also of one at `file://`; `None` for other addresses."""
    text = os.fspath(name)
    # In a chain such as `zip://a.txt::file://b.zip`, the last address is where the bytes are.
    last = text.rpartition("::")[2]
    protocol, separator, path = last.partition("://")
    if not separator:
        return text if "://" not in text else last
    return path if protocol in _LOCAL else None


def _address(text: str) -> str:
    protocol, _, path = text.rpartition("::")[2].partition("://")
    path = posixpath.normpath(path).lstrip("/")
    return f"{_SAME_PROTOCOL.get(protocol, protocol)}://{path}"
