import glob
import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from allennlp.data import DatasetReader, Instance, Token, TokenIndexer
from allennlp.data.fields import TextField

from elmo_tasks.common.errors import check_positive
from elmo_tasks.common.files import file_stamp
from elmo_tasks.common.odd_lines import warn_of_odd_lines
from elmo_tasks.common.records import files_of_lines
from elmo_tasks.common.text import BEGIN_TOKEN, END_TOKEN
from elmo_tasks.common.text_files import corpus_files, read_lines, split_lines
from elmo_tasks.readers.indexers import CharIdsIndexer, WordIdIndexer
from elmo_tasks.readers.text_reader import PassageField, TextReader, passed_through, sentences_of


@DatasetReader.register("elmo_sentences")
class SentencesReader(TextReader):
    """
    Reads the text for a language model: one sentence on each line, its tokens separated by blanks.
    A path may be a glob pattern. The text is not held in memory. With `max_instances`, only the
    first `max_instances` lines are read, by all workers and processes together.

    With `reader`, the sentences are the distinct texts of that reader's instances, to train a biLM
    further on the text of a task (Peters et al. 2018, supplement A.1).

    An instance has the field `tokens`, with the boundaries `<S>` and `</S>` around the sentence.

    Registered as a `DatasetReader` with name "elmo_sentences".

    # Parameters

    max_tokens: Longer lines are cut into pieces of this many tokens.
    token_indexers: By default char ids for the biLM under the name `elmo`, and word ids for the
        softmax under the name `tokens`.
    reader: The reader of a task, which reads the path. Each `TextField` of its instances is a text.
        For SQuAD, only the passages are texts.
    """

    def __init__(
        self,
        max_tokens: int = 256,
        token_indexers: dict[str, TokenIndexer] = None,
        reader: DatasetReader = None,
        **kwargs,
    ) -> None:
        super().__init__(
            token_indexers or {"elmo": CharIdsIndexer(), "tokens": WordIdIndexer()},
            **kwargs,
        )
        check_positive("max_tokens", max_tokens)
        self.max_tokens = max_tokens
        self.reader = reader
        # The texts of a task's file, and when it was written.
        self._texts: dict[str, tuple[Any, list[str]]] = {}
        self._warned_paths: set[str] = set()

    def sentences(
        self, file_path: str, files_order: Iterable[int] = (), shard: bool = True
    ) -> Iterator[list[str]]:
        """
        Yields the sentences of a path, an address or a glob pattern, without boundaries. At the
        end, logs how many lines were empty and how many were cut.

        # Parameters

        files_order: The order of the pattern's files, as indices. Ignored with `max_instances`.
        shard: Whether a worker or process reads only its share of the lines.
        """
        lines: Iterator[str] = islice(self._lines(file_path, files_order), self.max_instances)
        if shard:
            lines = self.shard_iterable(lines)
        return split_lines(lines, self.max_tokens, file_path)

    def check(self, file_path: str) -> None:
        """
        Raises an error if there is no text to read. With `reader`, reads the texts of the task, and
        keeps these texts for the first epoch.
        """
        if self.reader is None:
            files_of_lines(file_path)
        else:
            self._task_texts(self.reader, file_path)

    def _lines(self, file_path: str, files_order: Iterable[int]) -> Iterator[str]:
        if self.reader is not None:
            texts = self._task_texts(self.reader, file_path)
            yield from warn_of_odd_lines(texts, file_path, self._warned_paths)
            return
        paths = files_of_lines(file_path)
        order = list(files_order) if self.max_instances is None else []
        for index in order or range(len(paths)):
            path = paths[index]
            yield from warn_of_odd_lines(read_lines(path), path, self._warned_paths)

    def files(self, file_path: str) -> list[str]:
        """Returns the files of a path, an address, a folder or a glob pattern."""
        return corpus_files(file_path) if self.reader is None else _files(file_path)

    def _task_texts(self, reader: DatasetReader, file_path: str) -> list[str]:
        files = _file_stamps(file_path)
        if self._texts.get(file_path, (None,))[0] != files:
            sentences = {
                " ".join(token.ensure_text() for token in tokens): None
                for instance in _read_whole(reader, file_path)
                for text in _texts(instance)
                for tokens in sentences_of(text)
            }
            self._texts[file_path] = files, list(sentences)
        return self._texts[file_path][1]

    def _read(self, file_path: str) -> Iterator[Instance]:
        for words in self.sentences(file_path):
            yield self.text_to_instance(words)

    def text_to_instance(self, words: list[str]) -> Instance:
        tokens = [Token(word) for word in (BEGIN_TOKEN, *words, END_TOKEN)]
        return Instance({"tokens": TextField(tokens)})


def _texts(instance: Instance) -> list[TextField]:
    texts = [field for field in instance.fields.values() if isinstance(field, TextField)]
    return [text for text in texts if isinstance(text, PassageField)] or texts


def _file_stamps(file_path: str) -> list[tuple[int, ...]]:
    """
    Returns numbers that change when the files of a path, a folder or a glob pattern are written.
    """
    return [file_stamp(file) for file in _files(file_path)]


def _files(file_path: str) -> list[str]:
    paths = sorted(glob.glob(file_path, recursive=True)) or [file_path]
    return [
        str(file)
        for path in paths
        for file in (sorted(Path(path).rglob("*")) if os.path.isdir(path) else [path])
    ]


def _read_whole(reader: DatasetReader, file_path: str) -> Iterator[Instance]:
    """
    Yields all instances of a file, even in a process or worker that would otherwise read only its
    share of them.
    """
    reader = passed_through(iter, reader)
    reader._distributed_info = None
    yield from reader.read(file_path)
