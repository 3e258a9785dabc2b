import glob
import gzip
import logging
import lzma
from collections.abc import Iterable, Iterator
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import cached_path
from allennlp.data import DatasetReader, Instance, Token, TokenIndexer
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer, SingleIdTokenIndexer

logger = logging.getLogger(__name__)

# The boundaries as AllenNLP's character mapper knows them, and as bilm-tf's vocabularies do.
BEGIN_TOKEN, END_TOKEN = "<S>", "</S>"


@DatasetReader.register("elmo_sentences")
class SentencesReader(DatasetReader):
    """
    Text for a language model: one sentence a line, tokens between blanks, in plain files, `.gz` or
    `.xz`; a path may be a glob pattern. Nothing is held in memory.

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
        many lines were empty and how many were cut. `files_order` permutes the files of a glob.
        """
        paths = corpus_files(file_path)
        order = list(files_order) or range(len(paths))
        lines = (line for number in order for line in _lines(paths[number]))
        num_empty = num_cut = 0
        for line in self.shard_iterable(lines):
            words = line.split()
            if not words:
                num_empty += 1
            elif len(words) <= self.max_tokens:
                yield words
            else:
                num_cut += 1
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


def corpus_files(pattern: str) -> list[str]:
    """The files that a path, an address or a glob pattern names, sorted; at least one."""
    if not glob.has_magic(str(pattern)):
        return [str(cached_path(pattern))]
    paths = sorted(glob.glob(str(pattern), recursive=True))
    if not paths:
        raise ConfigurationError(f"no file matches {pattern}")
    return paths


def _lines(path: str) -> Iterator[str]:
    open_file: Any = {".gz": gzip.open, ".xz": lzma.open}.get(path[-3:], open)
    number = 0
    with open_file(path, "rb") as file:
        try:
            for number, line in enumerate(file, start=1):  # noqa: B007
                yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}:{number}: not UTF-8: {error.reason}") from error
        except (EOFError, lzma.LZMAError, gzip.BadGzipFile) as error:
            raise ValueError(f"{path}: cannot be unpacked after line {number}: {error}") from error
