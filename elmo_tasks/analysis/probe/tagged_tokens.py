import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
from tqdm import tqdm

from elmo_tasks.common.columns import check_columns
from elmo_tasks.common.records import read_records
from elmo_tasks.elmo.sentence_layers import SentenceLayers


class GoldSentence(NamedTuple):
    """
    A sentence with the gold tags of its tokens. A token may have one tag, none or several. Tokens
    with the same key (the lemma, or the token itself) count as one word.
    """

    words: list[str]
    keys: list[str]
    tags: list[tuple[str, ...]]


@dataclass(frozen=True)
class ColumnReader:
    """
    Reads tags of any kind from files in columns (see `sentence_columns`).

    # Parameters

    columns: The names of all columns of the file, in their order; one of them is `word`.
    tag_column: The name of the column with the tags.
    lemma_column: The name of a column with lemmas, such as `play` for `playing`. Tokens with the
        same lemma count as one word. By default each word is its own lemma.
    untagged: The value of the tag column for a token without a tag, such as `_`.
    tag_separator: The string between several tags of a token, such as `|`. By default tags are not
        split.
    """

    columns: list[str]
    tag_column: str
    lemma_column: str | None = None
    untagged: str | None = None
    tag_separator: str | None = None

    def __post_init__(self) -> None:
        check_columns(self.columns, self._column_names)

    @property
    def _column_names(self) -> tuple[str, str, str]:
        return "word", self.lemma_column or "word", self.tag_column

    def read(self, file_path: str | os.PathLike) -> Iterator[GoldSentence]:
        """Yields the sentences of a file. Raises `ValueError` if no token has a tag."""
        has_tags = False
        for record in read_records(file_path, "columns", self.columns):
            words, keys, tags = (record.values[name] for name in self._column_names)
            gold = [self._tag_parts(tag) for tag in tags]
            has_tags = has_tags or any(gold)
            yield GoldSentence(words, keys, gold)
        if not has_tags:
            raise ValueError(
                f"{file_path} has no token with a tag; expected one token a line, with tags"
            )

    def _tag_parts(self, tag: str) -> tuple[str, ...]:
        if tag == self.untagged:
            return ()
        return tuple(filter(None, tag.split(self.tag_separator) if self.tag_separator else [tag]))


class TaggedTokens(NamedTuple):
    """
    The tokens of a file that have a tag, and their layers: shape (tokens, num_layers, 2 *
    projection_dim), in float16.
    """

    keys: list[str]
    tags: list[tuple[str, ...]]
    layers: torch.Tensor


def embed(sentence_layers: SentenceLayers, sentences: Iterable[GoldSentence]) -> TaggedTokens:
    """Returns the tagged tokens of sentences, with the layers that the biLM computes for them."""
    sentences = list(sentences)
    tokens = TaggedTokens([], [], torch.empty(0))
    vectors = []
    layers_of = sentence_layers.of_tokens([sentence.words for sentence in sentences])
    for sentence, layers in zip(tqdm(sentences, desc="layers", unit=" sentences"), layers_of):
        tagged = [position for position, tag in enumerate(sentence.tags) if tag]
        tokens.keys.extend(sentence.keys[position] for position in tagged)
        tokens.tags.extend(sentence.tags[position] for position in tagged)
        vectors.append(layers[:, tagged].transpose(0, 1).half())
    return tokens._replace(layers=torch.cat(vectors))
