"""
Checks an HDF5 file, which may be damaged or made to do harm, without following its links. Of its
numbers, only those compressed with `gzip` are read.
"""

import math
import os
import zlib

import h5py

# The most items that are listed, and the most parts of a path, as many as in
# `RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell/B`.
_MAX_ITEMS = 2_000
_MAX_DEPTH = 6

# More chunks than this take minutes to read. h5py cuts the largest released weights into 1,200.
_MAX_CHUNKS = 10_000

# A chunk that is larger than its dataset may have at most this many bytes.
_SMALL_CHUNK = 2**20

# A dataset may be compressed with these filters, each used once. Only `gzip` can hide more data
# than the shape says, so its data are decompressed as a check.
_FILTERS = {
    h5py.h5z.FILTER_DEFLATE: "gzip",
    h5py.h5z.FILTER_SHUFFLE: "shuffle",
    h5py.h5z.FILTER_FLETCHER32: "fletcher32",
}


def item_names(file: h5py.File) -> list[str]:
    """
    Returns the sorted names of a file's datasets and links, and of groups that are too deep to be
    opened.

    # Raises

    `ValueError`: The file has more than 2,000 items.
    """
    names: list[str] = []
    groups = [("", file["/"])]
    num_items = 0
    while groups:
        prefix, group = groups.pop()
        num_items += len(group)
        if num_items > _MAX_ITEMS:
            raise ValueError(f"it has more than {_MAX_ITEMS:,} items")
        for part in group:
            # A name may be bytes, since HDF5 does not check that it is UTF-8.
            name = part if isinstance(part, str) else part.decode("utf-8", "backslashreplace")
            item = group[part] if _is_hard(group, part) else None
            if isinstance(item, h5py.Group) and prefix.count("/") < _MAX_DEPTH - 1:
                groups.append((f"{prefix}{name}/", item))
            else:
                names.append(f"{prefix}{name}")
    return sorted(names)


def find_item(file: h5py.File, name: str) -> h5py.HLObject | str | None:
    """
    Returns the dataset or group at a path in a file, or `None` if the path does not exist. If the
    path leads over a link, returns a text that says so, since a link may point to another file.
    """
    item: h5py.HLObject = file["/"]
    parts = name.split("/")
    for depth, part in enumerate(parts, start=1):
        if not isinstance(item, h5py.Group) or not item.id.links.exists(part.encode()):
            return None
        if not _is_hard(item, part):
            return f"{'/'.join(parts[:depth])} is a link; links are not followed"
        item = item[part]
    return item


def _is_hard(group: h5py.Group, part: str | bytes) -> bool:
    """Returns whether a name in a group stands for an item of the file, and not for a link."""
    name = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
    return group.id.links.get_info(name).type == h5py.h5l.TYPE_HARD


def storage_problem(
    dataset: h5py.Dataset, name: str, shape: tuple[int, ...] | None = None
) -> str | None:
    """
    Returns why the numbers of a dataset cannot be read, or `None`. They must be in the file itself
    and, decompressed, not be more than the shape says.
    """
    if dataset.shape is None:
        return f"{name} is empty and has no shape"
    if dataset.dtype.kind not in "fiu":
        return f"{name} holds {dataset.dtype}, which are not numbers"
    if shape is not None and dataset.shape != shape:
        return f"{name} has shape {dataset.shape}, but the options ask for {shape}"
    if dataset.is_virtual or dataset.external:
        return f"{name} has its numbers in another file or dataset"
    return _compression_problem(dataset, name)


def _compression_problem(dataset: h5py.Dataset, name: str) -> str | None:
    stored = dataset.id.get_storage_size()
    if stored > os.path.getsize(dataset.file.filename):
        return f"{name} is larger than the file"
    if dataset.chunks is None:
        num_bytes = dataset.size * dataset.dtype.itemsize
        return None if stored == num_bytes else f"{name} holds {stored:,} of {num_bytes:,} bytes"
    plist = dataset.id.get_create_plist()
    filters = [plist.get_filter(index)[0] for index in range(plist.get_nfilters())]
    if len(set(filters)) < len(filters) or not _FILTERS.keys() >= set(filters):
        return f"{name} is compressed with other filters than {', '.join(_FILTERS.values())}"
    lengths = [math.ceil(n / chunk) for n, chunk in zip(dataset.shape, dataset.chunks)]
    num_chunks = math.prod(lengths)
    if num_chunks > _MAX_CHUNKS:
        return f"{name} is cut into {num_chunks:,} chunks; at most {_MAX_CHUNKS:,} are read"
    if dataset.id.get_num_chunks() != num_chunks:
        return f"{name} holds {dataset.id.get_num_chunks():,} of {num_chunks:,} chunks"
    return _chunk_problem(dataset, name, h5py.h5z.FILTER_DEFLATE in filters)


def _chunk_problem(dataset: h5py.Dataset, name: str, is_compressed: bool) -> str | None:
    chunk_bytes = math.prod(dataset.chunks) * dataset.dtype.itemsize
    most = max(dataset.size * dataset.dtype.itemsize, _SMALL_CHUNK)
    if chunk_bytes > most:
        return f"{name} has chunks of {chunk_bytes:,} bytes, more than the whole dataset"
    if not is_compressed:
        return None
    for place in dataset.iter_chunks():
        offset = tuple(part.start for part in place)
        if dataset.id.get_chunk_info_by_coord(offset).size > most:
            return f"{name} has a compressed chunk that is larger than the whole dataset"
        compressed = dataset.id.read_direct_chunk(offset)[1]
        try:
            # HDF5 would decompress without a bound. A checksum of 4 bytes may follow the chunk.
            content = zlib.decompressobj().decompress(compressed, chunk_bytes + 5)
        except zlib.error as error:
            return f"{name} cannot be decompressed ({error})"
        if len(content) > chunk_bytes + 4:
            return f"{name} has more data than its shape {dataset.shape} says"
    return None
