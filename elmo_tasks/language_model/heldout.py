"""Warns about a training run that is validated on its own text."""

import logging
import os
from contextlib import suppress
from itertools import zip_longest
from typing import Any

from elmo_tasks.common.text import listed
from elmo_tasks.common.text_files import read_lines
from elmo_tasks.language_model.corpus_loader import CorpusLoader

logger = logging.getLogger(__name__)


def say_what_is_read_twice(training: CorpusLoader, validation: Any) -> None:
    """Logs which files of the held-out text are among the files of the training text, if any."""
    if not isinstance(validation, CorpusLoader):
        return
    training_files = training.reader.files(training.data_path)
    twice = [
        f"{file} is {other}" if file != other else file
        for file in validation.reader.files(validation.data_path)
        for other in [next((each for each in training_files if _is_same(file, each)), None)]
        if other is not None
    ]
    if twice:
        logger.warning(
            "the held-out text is training text, too (%s), so that its perplexity is not that of "
            "unseen text: hold out other sentences",
            listed(twice),
        )


def _is_same(file: str, other: str) -> bool:
    """Returns whether two paths name one file, or files of the same lines, perhaps compressed."""
    if not (os.path.isfile(file) and os.path.isfile(other)):
        # Addresses that are streamed.
        return file == other
    if os.path.samefile(file, other):
        return True
    with suppress(ValueError):
        # The loaders of the training run say which line cannot be read.
        return all(one == two for one, two in zip_longest(read_lines(file), read_lines(other)))
    return False
