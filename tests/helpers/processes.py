"""Runs work in processes of its own, and kills them."""

import multiprocessing.util
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

import pytest


def start(work: Callable[[], object]) -> int:
    """Runs `work` in a fork of this process, and returns the id of the fork."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        except BaseException:
            traceback.print_exc()
        finally:
            # Work may have closed its streams, as multiprocessing's resource tracker does. An error
            # here would send the fork on with the tests of this process.
            with suppress(ValueError, OSError):
                sys.stdout.flush()
                sys.stderr.flush()
            os._exit(status)
    return pid


def end(pid: int) -> int:
    """
    Waits for the end of a process. Returns 0 if its work ended well, 1 if the work raised an error,
    and minus the signal if a signal killed the process.
    """
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def run(work: Callable[[], object]) -> int:
    """Runs `work` in a fork of this process, and returns what `end` returns."""
    return end(start(work))


def run_until_signalled(work: Callable[[Callable[[], object]], object], num_signals: int) -> int:
    """
    Runs `work(signal)` in a fork of this process, and kills the fork as soon as it has called
    `signal` `num_signals` times. What the fork is doing when the kill arrives is left to chance.
    Returns what `end` returns.
    """
    reader, writer = os.pipe()

    def signalling() -> None:
        # Without a reader, `signal` raises an error: the fork ends if this process does.
        os.close(reader)
        work(lambda: os.write(writer, b"."))

    pid = start(signalling)
    os.close(writer)
    try:
        for _ in range(num_signals):
            os.read(reader, 1)
    finally:
        # A fork that writes to a pipe without a reader would end by itself.
        os.kill(pid, signal.SIGKILL)
        os.close(reader)
        status = end(pid)
    return status


@contextmanager
def spawned_as_forks() -> Iterator[None]:
    """
    Lets the processes that `multiprocessing` spawns be forks, which need not import PyTorch and
    AllenNLP again. All that a process gets is still pickled, and a fork has no other open file.
    """

    def spawn(path: str, arguments: Sequence[str], descriptors: Sequence[int]) -> int:
        def work() -> None:
            for name in os.listdir("/proc/self/fd"):
                if int(name) > 2 and int(name) not in descriptors:
                    with suppress(OSError):
                        os.close(int(name))
            sys.argv = list(arguments[arguments.index("-c") :])
            _, command, *_ = sys.argv
            del sys.argv[1]
            exec(command)

        return start(work)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multiprocessing.util, "spawnv_passfds", spawn)
        yield
