import glob
import gzip
import logging
import lzma
import os
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from allennlp.common.file_utils import cached_path
from allennlp.data import DatasetReader, Instance, Token, TokenIndexer
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer, SingleIdTokenIndexer

from elmo_tasks.common.errors import ConfigurationError

logger = logging.getLogger(__name__)

# The boundaries as AllenNLP's character mapper knows them, and as bilm-tf's vocabularies do.
BEGIN_TOKEN, END_TOKEN = "<S>", "</S>"

# By the first two bytes of a file, neither of which text in UTF-8 begins with: an address that was
# fetched lies in the cache under a name without a suffix.
_PACKED: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"\xfd7": lzma.open}


@DatasetReader.register("elmo_sentences")
class SentencesReader(DatasetReader):
    """
    Text for a language model: one sentence a line, tokens between blanks, in plain files, `.gz` or
    `.xz`; a path may be a glob pattern. Nothing is held in memory. With `max_instances`, the first
    lines alone are read, of all workers and ranks together.

    An instance has the field `tokens`, with the boundaries `<S>` and `</S>` around the sentence.

    Registered as a `DatasetReader` with name "elmo_sentences".

    # Parameters

    max_tokens : `int`, optional (default = `256`)
        A longer line is cut into pieces of this many tokens.
    token_indexers : `dict[str, TokenIndexer]`, optional
        By default char ids for the biLM, as `elmo`, and word ids for the softmax, as `tokens`.
    """

    def __init__(
        self,
        max_tokens: int = 256,
        token_indexers: dict[str, TokenIndexer] = None,
        **kwargs,
    ) -> None:
        super().__init__(
            manual_distributed_sharding=True, manual_multiprocess_sharding=True, **kwargs
        )
        if max_tokens < 1:
            raise ConfigurationError(f"max_tokens must be at least 1, not {max_tokens}")
        self.max_tokens = max_tokens
        self.token_indexers = token_indexers or {
            "elmo": ELMoTokenCharactersIndexer(),
            "tokens": SingleIdTokenIndexer(),
        }

    def sentences(self, file_path: str, files_order: Iterable[int] = ()) -> Iterator[list[str]]:
        """
        The sentences of this worker's and rank's share, without boundaries. Says at the end how
        many lines were empty and how many were cut. `files_order` permutes the files of a glob,
        unless only the first lines are read.
        """
        paths = corpus_files(file_path)
        order = list(files_order) if self.max_instances is None else []
        lines = (
            line for number in order or range(len(paths)) for line in read_lines(paths[number])
        )
        num_empty = num_cut = 0
        for line in self.shard_iterable(islice(lines, self.max_instances)):
            words = line.split()
            num_empty += not words
            num_cut += len(words) > self.max_tokens
            for start in range(0, len(words), self.max_tokens):
                yield words[start : start + self.max_tokens]
        if num_empty or num_cut:
            logger.warning(
                "%s: %d empty lines left out, %d lines of more than %d tokens cut into pieces",
                file_path,
                num_empty,
                num_cut,
                self.max_tokens,
            )

    def _read(self, file_path: str) -> Iterator[Instance]:
        for words in self.sentences(file_path):
            yield self.text_to_instance(words)

    def text_to_instance(self, words: list[str]) -> Instance:
        tokens = [Token(word) for word in (BEGIN_TOKEN, *words, END_TOKEN)]
        return Instance({"tokens": TextField(tokens)})

    def apply_token_indexers(self, instance: Instance) -> None:
        instance.fields["tokens"].token_indexers = self.token_indexers  # type: ignore


def corpus_files(pattern: str | os.PathLike) -> list[str]:
    """The files that a path, an address or a glob pattern names, sorted; at least one."""
    matches = glob.glob(str(pattern), recursive=True) if glob.has_magic(str(pattern)) else []
    # An address may have a question mark in it.
    return sorted(filter(os.path.isfile, matches)) or [str(cached_path(pattern))]


def read_lines(path: str) -> Iterator[str]:
    """The lines of a file of UTF-8, which may be packed; raises `ValueError` with what is wrong."""
    with open(path, "rb") as file:
        open_file = _PACKED.get(file.read(2), open)
    number = 0
    with open_file(path, "rb") as file:
        try:
            for number, line in enumerate(file, start=1):  # noqa: B007
                yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}:{number}: not UTF-8: {error.reason}") from error
        except (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"{path}: cannot be unpacked after line {number}: {error}") from error
