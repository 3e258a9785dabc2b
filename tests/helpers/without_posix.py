"""
Takes away what Windows lacks: `python -m pytest -p tests.helpers.without_posix` (`make portable`).
Tests that fork themselves or ask for a POSIX system by name are skipped.
"""

import multiprocessing
import multiprocessing.context
import os
import re
import sys
from traceback import walk_tb
from typing import Any

import _pytest.tmpdir

# These have a second way on Windows, but choose when they are imported.
import filelock  # noqa: F401
import pytest
import torch.multiprocessing  # noqa: F401

_GONE = (
    [(os, name) for name in ("fork", "forkpty", "getuid", "geteuid", "getgid")]
    + [(os, name) for name in ("pread", "pwrite", "register_at_fork", "sched_getaffinity")]
    + [(os, name) for name in ("O_NOFOLLOW", "O_CLOEXEC", "mkfifo", "killpg", "setsid")]
)
_MODULES = ("fcntl", "resource", "pwd", "grp", "termios")
_IS_GONE = re.compile(
    rf"module 'os' has no attribute '({'|'.join(name for _, name in _GONE)})'|"
    rf"import of ({'|'.join(_MODULES)}) halted|cannot find context for 'fork'"
)


class _NoForks(multiprocessing.context.DefaultContext):
    def get_all_start_methods(self) -> list[str]:
        return ["spawn"]

    def get_context(self, method: str | None = None) -> Any:
        if method == "fork":
            raise ValueError("cannot find context for 'fork'")
        return super().get_context(method or "spawn")


def pytest_configure() -> None:
    for module in _MODULES:
        sys.modules[module] = None  # type: ignore[assignment]
    for owner, name in _GONE:
        if hasattr(owner, name):
            delattr(owner, name)
    _pytest.tmpdir.get_user_id = lambda: None
    without = _NoForks(multiprocessing.get_context("spawn"))
    multiprocessing.get_context = without.get_context  # type: ignore[method-assign]
    multiprocessing.get_all_start_methods = without.get_all_start_methods  # type: ignore


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("fork"):
            item.add_marker(pytest.mark.skip(reason="needs forks"))


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Any:
    """Skips a file of tests that itself, and not the package, imports what is gone."""
    report = (yield).get_result()
    gone = "halted; None in sys.modules" in report.longreprtext
    if report.failed and gone and "\nelmo_tasks/" not in report.longreprtext:
        report.outcome = "skipped"
        report.longrepr = (str(collector.path), 0, "Skipped: the tests need POSIX")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Any:
    _skip_if_the_test_needs_what_is_gone((yield))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Any:
    _skip_if_the_test_needs_what_is_gone((yield))


def _skip_if_the_test_needs_what_is_gone(outcome: Any) -> None:
    """Skips a test that itself, and not the package, uses what is gone."""
    if outcome.excinfo is None:
        return
    error, trace = outcome.excinfo[1:]
    files = [frame.f_code.co_filename for frame, _ in walk_tb(trace)]
    in_package = any(f"{os.sep}elmo_tasks{os.sep}" in file for file in files)
    if not in_package and _IS_GONE.search(str(error)):
        outcome.force_exception(pytest.skip.Exception(f"the test needs POSIX: {error}"))
