import logging
import os
import re
import string
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, LabelField, MetadataField, TextField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Token, Tokenizer

from elmo_tasks.common.errors import check_choice, check_positive
from elmo_tasks.common.loud_words import plain_word
from elmo_tasks.common.text_files import at_line, numbered_lines
from elmo_tasks.readers.text_reader import TextReader, add_origin
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer

logger = logging.getLogger(__name__)

# The classes of the treebank's labels 0 to 4. Phrases without a class are left out.
CLASSES: dict[str, tuple[str | None, ...]] = {
    "5-class": ("very negative", "negative", "neutral", "positive", "very positive"),
    "3-class": ("negative", "negative", "neutral", "positive", "positive"),
    "2-class": ("negative", "negative", None, "positive", "positive"),
}

# A leaf, or the beginning or the end of a node that has children. Only the ASCII space separates:
# some leaves of the treebank contain a no-break space.
_PIECE = re.compile(r" *(?:\(([0-4])(?: +([^() ]+) *\)| *(?=\())|\))")

# The escapes of the Penn Treebank. Slashes and stars have a backslash before them.
_ESCAPES = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "``": '"',
    "''": '"',
    "`": "'",
}


class Node(NamedTuple):
    """A node of a tree. It has a label from 0 to 4, and covers `words[start:end]` of its tree."""

    label: int
    start: int
    end: int


class Tree(NamedTuple):
    """
    A tree of the Stanford Sentiment Treebank: the words at its leaves, without escapes, and all
    nodes, leaves included. Children come before their parent.
    """

    words: list[str]
    nodes: list[Node]


@DatasetReader.register("elmo_sst")
class SstReader(TextReader):
    """
    Reads the Stanford Sentiment Treebank (Socher et al. 2013): one tree on each line, such as
    `(3 (2 It) (4 (2 's) (4 good)))`, with a label from 0 (very negative) to 4 (very positive) at
    every node. Escapes of the Penn Treebank, such as `-LRB-`, are undone.

    An instance has the fields `tokens`, `label` and `metadata`. The words are `metadata["tokens"]`;
    the model reads loud ones in their plain form, sooo as so and GREAT as great.

    Registered as a `DatasetReader` with name "elmo_sst".

    # Parameters

    granularity: `5-class`; `3-class`, which joins the two negative and the two positive labels; or
        `2-class`, which also leaves out neutral phrases and counts them in the log.
    min_phrase_tokens: For training: every node of at least this many tokens is an instance with its
        own label. By default, as for an evaluation, only whole sentences are instances.
    token_indexers: By default word ids under the name `tokens`.
    tokenizer (default `ElmoSpacyTokenizer()`): Used by predictors for raw text.
    """

    def __init__(
        self,
        granularity: str = "5-class",
        min_phrase_tokens: int = None,
        token_indexers: dict[str, TokenIndexer] = None,
        tokenizer: Tokenizer = None,
        **kwargs,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        check_choice("granularity", granularity, CLASSES)
        check_positive("min_phrase_tokens", min_phrase_tokens)
        self.classes = CLASSES[granularity]
        self.min_phrase_tokens = min_phrase_tokens
        self.tokenizer = tokenizer or ElmoSpacyTokenizer()

    def _read(self, file_path: str | os.PathLike) -> Iterable[Instance]:
        num_neutral = 0
        for line_number, line in self.shard_iterable(numbered_trees(file_path)):
            with at_line(file_path, line_number):
                tree = parse_tree(line)
            tokens = [Token(word) for word in tree.words]
            for node in self._phrases(tree):
                label = self.classes[node.label]
                if label is None:
                    num_neutral += 1
                else:
                    instance = self.text_to_instance(tokens[node.start : node.end], label)
                    yield add_origin(instance, line_number)
        if num_neutral:
            logger.info("%s: dropped %d neutral phrases", file_path, num_neutral)

    def text_to_instance(self, tokens: list[Token], label: str | None = None) -> Instance:
        """Makes an instance of at least one token. The label is the name of a class."""
        if not tokens:
            raise ValueError("a sentence must have at least one token")
        fields: dict[str, Field] = {
            "tokens": TextField([Token(plain_word(token.ensure_text())) for token in tokens]),
            "metadata": MetadataField({"tokens": [token.text for token in tokens]}),
        }
        if label is not None:
            fields["label"] = LabelField(label)
        return Instance(fields)

    def _phrases(self, tree: Tree) -> list[Node]:
        if self.min_phrase_tokens is None:
            return [tree.nodes[-1]]
        return [node for node in tree.nodes if node.end - node.start >= self.min_phrase_tokens]


def parse_tree(line: str) -> Tree:
    """
    Parses a tree such as `(3 (2 It) (4 (2 's) (4 good)))`. Raises `ValueError` with the column if
    the line is not exactly one tree.
    """
    words: list[str] = []
    nodes: list[Node] = []
    open_nodes: list[tuple[int, int]] = []
    line = line.rstrip(" \r\n")
    position = 0
    while position < len(line):
        column = position + 1
        piece = _PIECE.match(line, position)
        if piece is None:
            is_no_tree = position == 0 and not line.startswith("(")
            advice = "; for a table of texts with labels use elmo-tasks new classify" * is_no_tree
            raise ValueError(
                f"column {column}: expected a node such as (3 good), with a label from 0 to 4 "
                f"and a word or nodes in it, not {line[position : position + 20]!r}{advice}"
            )
        if nodes and not open_nodes:
            raise ValueError(f"column {column}: the tree has ended before this bracket")
        label, word = piece.groups()
        if word is not None:
            nodes.append(Node(int(label), len(words), len(words) + 1))
            words.append(_ESCAPES.get(word) or word.replace("\\/", "/").replace("\\*", "*"))
        elif label is not None:
            open_nodes.append((int(label), len(words)))
        elif open_nodes:
            nodes.append(Node(*open_nodes.pop(), len(words)))
        else:
            raise ValueError(f"column {column}: this bracket closes nothing")
        position = piece.end()
    if open_nodes or not nodes:
        raise ValueError(f"the tree ends before {len(open_nodes)} of its brackets are closed")
    return Tree(words, nodes)


def numbered_trees(file_path: str | os.PathLike) -> Iterator[tuple[int, str]]:
    """Yields each line that is not blank, with its number."""
    blank = True
    for line_number, line in numbered_lines(file_path):
        if line.strip(string.whitespace):
            blank = False
            yield line_number, line
    if blank:
        raise ValueError(f"{file_path}:1: the file is empty: expected a tree on every line")
