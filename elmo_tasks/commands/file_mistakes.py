"""Says which file could not be read or written, and why."""

import errno
import gzip
import lzma
import re
import sys
import zlib
from types import FrameType

from elmo_tasks.commands.frames import file_of, local
from elmo_tasks.commands.going_on import has_checkpoint, how_to_go_on

# What AllenNLP raises for a file of word vectors that is missing, empty or damaged.
VECTOR_ERRORS = (
    EOFError,
    FileNotFoundError,
    StopIteration,
    UnicodeDecodeError,
    gzip.BadGzipFile,
    lzma.LZMAError,
    zlib.error,
)

# The word vectors that scripts/fetch_data.py can make.
_GLOVE = re.compile(r"glove\.(6B(?=\.100d\.120k\.txt\.gz$)|840B(?=\.300d\.txt$))")

# The names under which AllenNLP keeps the path of a file that it writes.
_PATHS = ("archive_file", "file_path", "filename", "path", "serialization_dir")


def file_error(error: OSError, frames: list[FrameType]) -> str:
    """Returns the message of an error of the file system, with what is kept if the disk is full."""
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    # A write to an open file does not name it.
    names = names or [name for key in _PATHS if (name := local(frames[::-1], key))][:1]
    message = error.strerror or str(error)
    if error.strerror and names:
        message = f"{' and '.join(names)}: {error.strerror}"
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        message, kept = f"{message}; make room", "what was complete is kept"
    elif any(frame.f_code.co_name == "_try_train" for frame in frames):
        kept = "the checkpoints are kept"
    else:
        return message
    arguments = sys.argv[1:]
    if arguments[:1] != ["train"] or has_checkpoint(arguments):
        message += f"; {kept}"
    return message + how_to_go_on(arguments)


def vector_file(frames: list[FrameType]) -> str | None:
    """Returns the file of word vectors that AllenNLP was reading."""
    for frame in frames:
        path = getattr(frame.f_locals.get("self"), "uri", None)
        if file_of(frame) == "embedding.py" and path is not None:
            return path
    return None


def vector_file_error(error: BaseException, path: str) -> str:
    """Returns the message of an error in a file of word vectors, with how to make the file."""
    known = _GLOVE.search(path)
    advice = f"; to make it: python scripts/fetch_data.py --glove {known[1]}" if known else ""
    match error:
        case FileNotFoundError():
            return f"file {path} not found{advice}"
        case StopIteration():
            return f"{path} is empty: expected a word and its numbers on each line{advice}"
        case UnicodeDecodeError():
            return f"{path} is not in UTF-8: {error}"
    return f"{path} is damaged: {error}{advice}"


def loaded_file(error: BaseException, frames: list[FrameType]) -> str | None:
    """Returns the file that `torch.load` could not read."""
    for frame in reversed(frames):
        if file_of(frame) == "serialization.py" and isinstance(frame.f_locals.get("f"), str):
            return frame.f_locals["f"]
    return None
