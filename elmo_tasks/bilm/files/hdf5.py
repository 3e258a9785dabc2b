"""Checks an HDF5 file, which may be damaged or made to do harm, without following its links."""

import h5py

# The most items that are listed. Hard links may make a circle of groups.
_MAX_ITEMS = 2_000


def items_of(file: h5py.File) -> dict[str, h5py.HLObject | None]:
    """
    Returns what a file has beside groups, by its path, in alphabetical order: datasets, and `None`
    for each link, which may point to another file.

    # Raises

    `ValueError`: The file has more than 2,000 items.
    """
    items: dict[str, h5py.HLObject | None] = {}
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
            if isinstance(item, h5py.Group):
                groups.append((f"{prefix}{name}/", item))
            else:
                items[f"{prefix}{name}"] = item
    return dict(sorted(items.items()))


def _is_hard(group: h5py.Group, part: str | bytes) -> bool:
    """Returns whether a name in a group stands for an item of the file, and not for a link."""
    name = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
    return group.id.links.get_info(name).type == h5py.h5l.TYPE_HARD


def storage_problem(dataset: h5py.Dataset, shape: tuple[int, ...]) -> str | None:
    """
    Returns why the numbers of a dataset cannot be read, or `None`. They must be in the file itself,
    in one piece and not compressed, so that they are no more than the shape says.
    """
    if dataset.shape is None:
        return "is empty and has no shape"
    if dataset.dtype.kind not in "fiu":
        return f"holds {dataset.dtype}, which are not numbers"
    if dataset.shape != shape:
        return f"has shape {dataset.shape}, but the options ask for {shape}"
    if dataset.is_virtual or dataset.external:
        return "has its numbers in another file or dataset"
    if dataset.chunks is not None:
        return "is compressed or cut into chunks"
    stored, num_bytes = dataset.id.get_storage_size(), dataset.size * dataset.dtype.itemsize
    return None if stored == num_bytes else f"holds {stored:,} of {num_bytes:,} bytes"
