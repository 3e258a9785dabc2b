"""Work in processes of their own, for the tests of what several processes share."""

import os
import sys
import traceback
from collections.abc import Callable


def start(work: Callable[[], object]) -> int:
    """Does the work in a fork of this process, which ends with 0 if it did well."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    return pid


def end(pid: int) -> int:
    """How the process ended: its exit status, or minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def run(work: Callable[[], object]) -> int:
    return end(start(work))
