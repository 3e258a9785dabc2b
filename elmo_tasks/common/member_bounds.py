import os
from pathlib import PurePosixPath

from elmo_tasks.common.errors import ConfigurationError

MAX_MEMBERS = 10_000

# The maximum number of parts of a member's path, and of bytes of a part, as in file systems.
_MAX_PARTS, _MAX_PART = 20, 255

# A member counts this many bytes more, because of its header in a tar file.
_HEADER = 512


class MemberBounds:
    """
    Counts the members of an archive, and refuses members that must not be unpacked.

    # Parameters

    archive: The path of the archive, for messages.
    most: The maximum size of all members together, in bytes.
    """

    def __init__(self, archive: str | os.PathLike, most: int) -> None:
        self._archive = archive
        self._most = most
        self._num_bytes = 0
        self._num_members = 0

    def path_of(self, name: str, size: int, is_plain: bool) -> PurePosixPath:
        """
        Counts a member, and returns its path in the folder that the archive is unpacked to.

        # Parameters

        name: The name of the member.
        size: The number of its bytes when it is unpacked.
        is_plain: Whether it is a file or a folder, and not a link or a device.

        # Raises

        `ConfigurationError`: The member must not be unpacked; the message names it.
        """
        path = PurePosixPath(name)
        self._num_bytes += _HEADER + size
        self._num_members += 1
        problem = None
        if not is_plain:
            problem = "is neither a file nor a folder"
        elif path.is_absolute() or ".." in path.parts or "\0" in name:
            problem = "would lie outside the folder that it is unpacked to"
        elif len(path.parts) > _MAX_PARTS or any(
            len(os.fsencode(part)) > _MAX_PART for part in path.parts
        ):
            problem = f"has more than {_MAX_PARTS} parts, or one of more than {_MAX_PART} bytes"
        elif size < 0 or self._num_bytes > self._most:
            problem = f"of {size:,} bytes makes it unpack to more than {self._most:,} bytes"
        elif self._num_members > MAX_MEMBERS:
            problem = f"is one of more than {MAX_MEMBERS:,}"
        if problem:
            raise ConfigurationError(
                f"{self._archive} is not unpacked: its member {name!r:.200} {problem}"
            )
        return path
