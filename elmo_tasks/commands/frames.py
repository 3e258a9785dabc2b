"""Looks into the frames of a traceback."""

import os
import traceback
from types import FrameType


def frames_of(error: BaseException) -> list[FrameType]:
    """Returns the frames between which an error went up, the outermost first."""
    return [frame for frame, _ in traceback.walk_tb(error.__traceback__)]


def file_of(frame: FrameType) -> str:
    """Returns the name of the file of a frame's code, without its folder."""
    return os.path.basename(frame.f_code.co_filename)


def is_in(frame: FrameType | None, package: str) -> bool:
    """Returns whether the code of a frame is of a package."""
    name = "" if frame is None else frame.f_globals.get("__name__", "")
    return name.partition(".")[0] == package


def local(frames: list[FrameType], name: str) -> str | None:
    """Returns the first local variable with this name that is a path or another string."""
    for frame in frames:
        value = frame.f_locals.get(name)
        if isinstance(value, str | os.PathLike):
            return str(value)
    return None
