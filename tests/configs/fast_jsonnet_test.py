"""Tests that jsonnet in Go, which evaluates the configs of the tests, is like the one in C++."""

import os

import _jsonnet
import pytest

from tests.helpers.configs import SHIPPED, config_path
from tests.helpers.fast_jsonnet import evaluate_in_cpp, evaluate_in_go


@pytest.mark.parametrize("folder", SHIPPED)
def test_the_configs_of_a_folder_are_the_same_in_both(folder: str) -> None:
    # The other variants differ from it in a line.
    text = f"import '{config_path(folder, SHIPPED[folder][-1])}'"

    assert evaluate_in_go("", text) == evaluate_in_cpp("", text)


def test_what_cannot_be_evaluated_has_the_message_of_the_one_in_cpp() -> None:
    text = "{ a: import 'missing.jsonnet' }"
    messages = []

    for evaluate in (evaluate_in_cpp, _jsonnet.evaluate_snippet):
        with pytest.raises(RuntimeError) as raised:
            evaluate("", text)
        messages.append(str(raised.value))

    assert messages[0] == messages[1]


@pytest.mark.fork
def test_a_process_that_was_forked_evaluates_too() -> None:
    _jsonnet.evaluate_snippet("", "{}")

    process = os.fork()
    if not process:
        os._exit(0 if _jsonnet.evaluate_snippet("", "1 + 1") == "2\n" else 1)

    assert os.waitpid(process, 0)[1] == 0
