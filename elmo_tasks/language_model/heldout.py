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
        f"{file} is {training_file}" if file != training_file else file
        for file in validation.reader.files(validation.data_path)
        for training_file in [next((path for path in training_files if _is_same(file, path)), None)]
        if training_file is not None
    ]
    if twice:
        logger.warning(
            "the held-out text is training text, too (%s), so that its perplexity is not that of "
            "unseen text: hold out other sentences",
            listed(twice),
        )


def _is_same(file: str, other_file: str) -> bool:
    """
    Returns whether two paths name the same file, or two files with the same lines. The files may be
    compressed.
    """
    if not (os.path.isfile(file) and os.path.isfile(other_file)):
        # Addresses that are streamed.
        return file == other_file
    if os.path.samefile(file, other_file):
        return True
    with suppress(ValueError):
        # The loaders of the training run say which line cannot be read.
        return all(
            line == other_line
            for line, other_line in zip_longest(read_lines(file), read_lines(other_file))
        )
    return False
