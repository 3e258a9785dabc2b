import json
import os
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

    # Parameters

    about: What the lines depend on besides the text.
    begin_anew: Whether an existing file is overwritten.

    # Raises

    `ConfigurationError`: The file exists, or was begun with another `about`.
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

    def write(self, header: str, lines: Iterable[str], sentences: "Hashed") -> None:
        """
        Writes `lines`, an item for each sentence after the first `num_done`. They are made from
        `sentences`.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with open(self._partial, "ab") as file:
            file.truncate(self._num_bytes)
            new, size = [] if self.num_done else [header], 0
            for number, text in enumerate(lines, start=self.num_done + 1):
                new.append(text)
                size += len(text)
                if size >= _CHARACTERS:
                    self._save(file, new, number, sentences)
                    new, size = [], 0
            file.write("".join(new).encode())
            os.fsync(file.fileno())
        self._partial.replace(self.path)
        self._record.unlink(missing_ok=True)

    def check(self, sentences: Iterable[list[str]]) -> "Hashed":
        """
        Returns the sentences. Reading them raises an error if an already scored sentence has
        changed.
        """
        return Hashed(sentences, self.num_done, self._hash, self._partial)

    def _save(self, file: BinaryIO, new: list[str], number: int, sentences: "Hashed") -> None:
        file.write("".join(new).encode())
        file.flush()
        os.fsync(file.fileno())
        done = {"sentences": number, "bytes": file.tell(), "hash": sentences.hash_of(number)}
        write_whole(self._record, json.dumps({**done, "about": self._about}))

    def _done(self) -> dict:
        """Returns the record of an earlier run that can go on, or an empty record."""
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


class Hashed:
    """Sentences with a running hash, which must be `expected` after `num_done` sentences."""

    def __init__(
        self, sentences: Iterable[list[str]], num_done: int, expected: str, path: Path
    ) -> None:
        self._sentences, self._num_done, self._expected = sentences, num_done, expected
        self._path = path
        self._hashes: dict[int, str] = {}

    def __iter__(self) -> Iterator[list[str]]:
        digest = blake2b(digest_size=16)
        for number, words in enumerate(self._sentences, start=1):
            digest.update(" ".join(words).encode() + b"\n")
            if number > self._num_done:
                self._hashes[number] = digest.hexdigest()
            elif number == self._num_done and digest.hexdigest() != self._expected:
                raise ConfigurationError(
                    f"the text has changed since {self._path} was begun; use --force to begin anew"
                )
            yield words

    def hash_of(self, number: int) -> str:
        """Returns the hash of the first `number` sentences, and drops earlier hashes."""
        self._hashes = {each: found for each, found in self._hashes.items() if each >= number}
        return self._hashes[number]


def _difference(old: dict[str, str], new: dict[str, str]) -> str:
    return ", ".join(
        f"{name} {old.get(name)}, now {new[name]}" for name in new if old.get(name) != new[name]
    )
