import json
import os
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Union

from allennlp.data import Instance, Vocabulary

from elmo_tasks.common.files import write_whole
from elmo_tasks.common.text import BEGIN_TOKEN, END_TOKEN

# The name begins with a dot because AllenNLP takes all other files of the folder for namespaces.
_COUNTS_FILE = ".counts.json"


@Vocabulary.register("elmo_counted", constructor="from_corpus")
class CountedVocabulary(Vocabulary):
    """
    A vocabulary with the numbers of sentences and tokens of the text that it was made from. The
    data loaders compute the length of an epoch from these counts.

    Registered as a `Vocabulary` with name "elmo_counted".

    # Parameters

    min_count, max_vocab_size: As for AllenNLP's `from_instances`. They choose the words that the
        softmax knows.
    directory (`str`): A folder or an archive with a vocabulary. Its words take the place of the
        words of the text, so that a new training run can go on with the softmax of the archive.
    """

    num_sentences: int | None = None
    num_tokens: int | None = None

    def _extend(self, counter: Any = None, *args: Any, **kwargs: Any) -> None:
        super()._extend(counter, *args, **kwargs)
        self._count(counter or {})

    def _count(self, counter: Mapping[str, Mapping[str, int]]) -> None:
        counts = counter.get("tokens")
        if counts:
            self.num_sentences = counts.get(END_TOKEN, 0)
            # The boundaries are not counted.
            self.num_tokens = sum(counts.values()) - self.num_sentences - counts.get(BEGIN_TOKEN, 0)

    def save_to_files(self, directory: str) -> None:
        super().save_to_files(directory)
        counts = {"sentences": self.num_sentences, "tokens": self.num_tokens}
        write_whole(counts_path(directory), json.dumps(counts))

    @classmethod
    def from_corpus(
        cls,
        instances: Iterable[Instance],
        serialization_dir: str = None,
        min_count: dict[str, int] = None,
        max_vocab_size: Union[int, dict[str, int]] = None,
        directory: str = None,
    ) -> "CountedVocabulary":
        """
        Makes the vocabulary of a text. A recovered training run gets the vocabulary that it saved.
        """
        folder = Path(serialization_dir or ".", "vocabulary")
        if serialization_dir and counts_path(folder).exists():
            return cls.from_files(folder)
        if directory is None:
            return cls.from_instances(instances, min_count=min_count, max_vocab_size=max_vocab_size)
        vocab = cls.from_files(directory)
        counter: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for instance in instances:
            instance.count_vocab_items(counter)
        vocab._count(counter)
        return vocab

    @classmethod
    def from_files(cls, directory: Any, *args: Any, **kwargs: Any) -> "CountedVocabulary":
        vocab = super().from_files(directory, *args, **kwargs)
        counts_file = counts_path(directory)
        if counts_file.exists():
            counts = json.loads(counts_file.read_text(encoding="utf-8"))
            vocab.num_sentences, vocab.num_tokens = counts["sentences"], counts["tokens"]
        return vocab


def counts_path(directory: str | os.PathLike) -> Path:
    """Returns the path of the file of counts, the last file of a vocabulary to be written."""
    return Path(directory) / _COUNTS_FILE
