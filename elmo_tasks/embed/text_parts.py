from collections.abc import Iterator
from typing import Any

from tqdm import tqdm

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.parts import MANIFEST, Parts
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.embed.parts import EmbedPart, Engine, Part, cut

# The manifest lists at most this many lines that cannot be read, and counts all of them.
_LISTED = 10_000


class TextParts:
    """
    Embeds a text part by part. The text is read once, as a stream. Parts that an earlier run with
    the same settings wrote are not computed again. A line that cannot be read is left out, counted,
    and listed in the manifest; its index stays unused.

    # Parameters

    part_tokens, suffix: As `num_tokens` and `suffix` of `cut`.
    index: Gets the index of each sentence by its text.
    """

    def __init__(
        self,
        corpus: Corpus,
        parts: Parts,
        part_tokens: int | None,
        suffix: str,
        index: dict[str, str] | None = None,
    ) -> None:
        self._corpus = corpus
        self._parts = parts
        self._cut_by = part_tokens, suffix
        self._index = index
        self._bad: list[dict[str, Any]] = []
        self._num_bad = 0
        self.files: list[dict[str, Any]] = []
        self.num_sentences = self.num_tokens = 0

    def embed(self, work: EmbedPart, engine: Engine) -> int:
        """Computes the missing parts. Returns their number."""
        num_computed = 0
        with tqdm(unit=" tokens", desc="embedding") as progress:
            for num_tokens in engine(work, self._missing(progress)):
                progress.update(num_tokens)
                num_computed += 1
        if not self.files:
            raise ConfigurationError(f"{self._corpus} has no line that can be embedded")
        return num_computed

    def finish(self) -> dict[str, Any]:
        """Writes and returns the manifest, and tells of lines that could not be read."""
        manifest = {
            "texts": self._corpus.files,
            "num_sentences": self.num_sentences,
            "num_tokens": self.num_tokens,
            "num_bad_lines": self._num_bad,
            "bad_lines": self._bad,
            "parts": self.files,
        }
        self._parts.finish(len(self.files), manifest)
        if self._bad:
            first = self._bad[0]
            print(
                f"{self._num_bad:,} lines could not be read and are left out; {MANIFEST} lists "
                f"them. The first is {first['file']}:{first['line']}: {first['fault']}"
            )
        return {"complete": True, **self._parts.about, **manifest}

    def _missing(self, progress: tqdm) -> Iterator[Part]:
        """Yields the missing parts. Moves the progress bar over the others."""
        num_there, said = 0, False

        def say() -> None:
            if num_there and not said:
                folder = self._parts.folder
                progress.write(f"{num_there:,} lines are in {folder}: going on from there")

        for part in cut(self._sentences(), *self._cut_by):
            self.num_sentences += len(part.ids)
            self.num_tokens += part.num_tokens
            counts = {"num_sentences": len(part.ids), "num_tokens": part.num_tokens}
            self.files.append({"file": part.name, **counts})
            # This is an estimate until the whole text has been read.
            progress.total = int(self.num_tokens / max(self._corpus.share_read, 1e-9))
            if not self._parts.has(part):
                say()
                said = True
                yield part
                continue
            num_there += len(part.ids)
            # Parts found on disk do not count in the bar's speed.
            progress.initial += part.num_tokens
            progress.update(part.num_tokens)
        say()

    def _sentences(self) -> Iterator[tuple[int, list[str]]]:
        for index, line in enumerate(self._corpus):
            if line.fault is not None:
                self._num_bad += 1
                if self._num_bad <= _LISTED:
                    self._bad.append({"file": line.file, "line": line.number, "fault": line.fault})
                continue
            if self._index is not None:
                self._index[line.text] = str(index)
            yield index, line.text.split()
