import functools
from collections.abc import Callable
from typing import Any

from allennlp.common import logging as allennlp_logging


def call_after_logging(function: Callable[[], None]) -> None:
    """
    Calls a function each time that AllenNLP has set up the log files of a training. Setting them up
    replaces the hook for errors and the handlers of the console.
    """
    prepare = allennlp_logging.prepare_global_logging

    @functools.wraps(prepare)
    def prepare_and_call(*args: Any, **kwargs: Any) -> None:
        prepare(*args, **kwargs)
        function()

    allennlp_logging.prepare_global_logging = prepare_and_call
