"""Streams files from the addresses that fsspec knows, such as `s3://bucket/text.gz`."""

from typing import Any, BinaryIO

# Files at these addresses are fetched, not streamed (see `local_path`).
_FETCHED = ("http", "https", "hf")


def files_at(address: str) -> list[str] | None:
    """
    Returns the sorted addresses of the files that an address or a glob pattern names, or `None` for
    files that are not streamed: local files, and those at http(s) and hf addresses and addresses
    that fsspec cannot open. Raises `FileNotFoundError` if there is no such file.
    """
    system, path = _file_system(address)
    if system is None:
        return None
    # Without a wildcard, `glob` returns the address itself if there is such a file.
    found = sorted(map(str, system.glob(path)))
    if not found:
        raise FileNotFoundError(f"file {address} not found")
    return [system.unstrip_protocol(name) for name in found]


def open_at(address: str) -> BinaryIO | None:
    """Opens the file at an address as a stream, or returns `None` if it is not streamed."""
    system, path = _file_system(address)
    return None if system is None else system.open(path, "rb")


def _file_system(address: str) -> tuple[Any, str]:
    protocol, separator, _ = address.partition("://")
    if not separator or protocol in _FETCHED:
        return None, address
    # fsspec is always installed, because PyTorch requires it.
    import fsspec

    try:
        return fsspec.core.url_to_fs(address)
    except (ImportError, ValueError):
        # The package for this protocol is not installed, or there is no such protocol.
        return None, address
