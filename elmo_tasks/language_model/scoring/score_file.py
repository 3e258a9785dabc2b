import json
import os
from collections import deque
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import BinaryIO

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import write_whole

# The file is saved each time that it has this many new characters.
_CHARACTERS = 1 << 20


class ScoreFile:
    """
    Writes lines for a stream of sentences to `PATH.partial`, which becomes `PATH` in the end.
    `PATH.partial.json` has what a stopped run needs to go on: the number of complete sentences, the
    bytes of their lines, and a hash of the sentences.

    `about` is what the lines depend on besides the text. Raises `ConfigurationError` if the file
    exists or was begun with another `about`, unless `begin_anew`.
    """

    def __init__(self, path: Path, about: dict[str, str], begin_anew: bool) -> None:
        self.path = path
        self._partial = path.with_name(f"{path.name}.partial")
        self._record = path.with_name(f"{path.name}.partial.json")
        self._about = about
        if path.exists() and not begin_anew:
            raise ConfigurationError(f"{path} exists; choose another file, or use --force")
        done = {} if begin_anew else self._done()
        self.num_done: int = done.get("sentences", 0)
        self._num_bytes: int = done.get("bytes", 0)
        self._hash: str = done.get("hash", "")
        # For each sentence that was read and has no line yet, the hash of the text up to it.
        self._hashes: deque[str] = deque()

    def check(self, sentences: Iterable[list[str]]) -> Iterator[list[str]]:
        """Yields the sentences. Raises an error if an already scored sentence has changed."""
        digest = blake2b(digest_size=16)
        for number, words in enumerate(sentences, start=1):
            digest.update(" ".join(words).encode() + b"\n")
            if number > self.num_done:
                self._hashes.append(digest.hexdigest())
            elif number == self.num_done and digest.hexdigest() != self._hash:
                raise ConfigurationError(
                    f"the text has changed since {self._partial} was begun; use --force to begin "
                    "anew"
                )
            yield words

    def write(self, header: str, lines: Iterable[str]) -> None:
        """Writes an item of `lines` for each sentence of `check` after the first `num_done`."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self._partial, "ab") as file:
            file.truncate(self._num_bytes)
            new, size = [] if self.num_done else [header], 0
            for number, text in enumerate(lines, start=self.num_done + 1):
                new.append(text)
                size += len(text)
                # The hash of all sentences up to this one.
                self._hash = self._hashes.popleft()
                if size >= _CHARACTERS:
                    self._save(file, new, number)
                    new, size = [], 0
            file.write("".join(new).encode())
            os.fsync(file.fileno())
        self._partial.replace(self.path)
        self._record.unlink(missing_ok=True)

    def _save(self, file: BinaryIO, new: list[str], number: int) -> None:
        file.write("".join(new).encode())
        file.flush()
        os.fsync(file.fileno())
        done = {"sentences": number, "bytes": file.tell(), "hash": self._hash}
        write_whole(self._record, json.dumps({**done, "about": self._about}))

    def _done(self) -> dict:
        """Returns the record of an earlier run that can go on, if any."""
        try:
            done = json.loads(self._record.read_text(encoding="utf-8"))
            is_there = self._partial.stat().st_size >= done["bytes"]
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return {}
        if done.get("about") != self._about:
            raise ConfigurationError(
                f"{self._partial} was begun with other settings: "
                f"{_difference(done['about'], self._about)}; use --force to begin anew"
            )
        return done if is_there else {}


def _difference(old: dict[str, str], new: dict[str, str]) -> str:
    return ", ".join(
        f"{name} {old.get(name)}, now {new[name]}" for name in new if old.get(name) != new[name]
    )
