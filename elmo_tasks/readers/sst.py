import os
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from allennlp.common.file_utils import cached_path
from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, LabelField, MetadataField, TextField
from allennlp.data.token_indexers import SingleIdTokenIndexer, TokenIndexer
from allennlp.data.tokenizers import Token, Tokenizer

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.spacy_tokenizer import ElmoSpacyTokenizer

# The class of each of the treebank's labels, 0 to 4; a phrase without one is left out.
CLASSES: dict[str, tuple[str | None, ...]] = {
    "5-class": ("very negative", "negative", "neutral", "positive", "very positive"),
    "3-class": ("negative", "negative", "neutral", "positive", "positive"),
    "2-class": ("negative", "negative", None, "positive", "positive"),
}


@DatasetReader.register("elmo_sst")
class SstReader(DatasetReader):
    """
    Reads the Stanford Sentiment Treebank (Socher et al. 2013): a tree a line, such as
    `(3 (2 It) (4 (2 's) (4 good)))`, with a label from 0 (very negative) to 4 (very positive) at
    every node. The escapes of the Penn Treebank are undone in its words.

    Registered as a `DatasetReader` with name "elmo_sst".

    # Parameters

    granularity : `str`, optional (default = `'5-class'`)
        `5-class`, `3-class`, which joins the two labels on either side, or `2-class`, which drops
        what is neutral besides.
    min_phrase_tokens : `int`, optional
        For training: every node of at least so many tokens is an instance with its own label. By
        default whole sentences only, which is what a model is evaluated on.
    token_indexers : `dict[str, TokenIndexer]`, optional
        By default the words, as `tokens`.
    tokenizer : `Tokenizer`, optional (default = `ElmoSpacyTokenizer()`)
        For raw text, which a predictor gets; the trees are tokenized already.
    """

    def __init__(
        self,
        granularity: str = "5-class",
        min_phrase_tokens: int = None,
        token_indexers: dict[str, TokenIndexer] = None,
        tokenizer: Tokenizer = None,
        **kwargs,
    ) -> None:
        super().__init__(
            manual_distributed_sharding=True, manual_multiprocess_sharding=True, **kwargs
        )
        if granularity not in CLASSES:
            raise ConfigurationError(
                f"granularity must be one of {', '.join(CLASSES)}, not {granularity!r}"
            )
        if min_phrase_tokens is not None and min_phrase_tokens < 1:
            raise ConfigurationError(
                f"min_phrase_tokens must be 1 or more, not {min_phrase_tokens}"
            )
        self.classes = CLASSES[granularity]
        self.min_phrase_tokens = min_phrase_tokens
        self.token_indexers = token_indexers or {"tokens": SingleIdTokenIndexer()}
        self.tokenizer = tokenizer or ElmoSpacyTokenizer()

    def _read(self, file_path: str | os.PathLike) -> Iterable[Instance]:
        for number, line in self.shard_iterable(_numbered_lines(file_path)):
            try:
                tree = parse_tree(line.decode("utf-8"))
            except ValueError as error:
                raise ValueError(f"{file_path}:{number}: {error}") from error
            tokens = [Token(word) for word in tree.words]
            for node in self._chosen(tree):
                label = self.classes[node.label]
                if label is not None:
                    yield self.text_to_instance(tokens[node.start : node.end], label)

    def text_to_instance(self, tokens: list[Token], label: str | None = None) -> Instance:
        """
        # Parameters

        tokens : `list[Token]`
            At least one.
        label : `str`, optional
            The name of a class.
        """
        if not tokens:
            raise ValueError("a sentence must have at least one token")
        fields: dict[str, Field] = {
            "tokens": TextField(tokens),
            "metadata": MetadataField({"tokens": [token.text for token in tokens]}),
        }
        if label is not None:
            fields["label"] = LabelField(label)
        return Instance(fields)

    def apply_token_indexers(self, instance: Instance) -> None:
        instance["tokens"].token_indexers = self.token_indexers

    def _chosen(self, tree: "Tree") -> list["Node"]:
        if self.min_phrase_tokens is None:
            return [tree.root]
        return [node for node in tree.nodes if node.end - node.start >= self.min_phrase_tokens]


class Node(NamedTuple):
    """
    # Parameters

    label : `int`
        0 to 4.
    start, end : `int`
        It covers `words[start:end]` of its tree.
    """

    label: int
    start: int
    end: int


class Tree(NamedTuple):
    """
    # Parameters

    words : `list[str]`
        Its leaves, escapes undone.
    nodes : `list[Node]`
        Leaves included; children before their parent.
    """

    words: list[str]
    nodes: list[Node]

    @property
    def root(self) -> Node:
        return self.nodes[-1]


# A leaf, the beginning of a node that has children, or the end of one. Only the ASCII space
# separates: some leaves of the treebank contain a no-break space.
_PIECE = re.compile(r" *(?:\(([0-4])(?: +([^() ]+) *\)| *(?=\())|\))")

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


def parse_tree(line: str) -> Tree:
    """Raises `ValueError` where the line is not one whole tree."""
    words: list[str] = []
    nodes: list[Node] = []
    opened: list[tuple[int, int]] = []
    line = line.rstrip(" \r\n")
    place = 0
    while place < len(line):
        piece = _PIECE.match(line, place)
        if piece is None:
            raise ValueError(
                f"column {place + 1}: expected a node such as (3 good), with a label from 0 to 4 "
                f"and a word or nodes in it, not {line[place : place + 20]!r}"
            )
        if nodes and not opened:
            raise ValueError(f"column {place + 1}: the tree has ended before this bracket")
        label, word = piece.groups()
        if word is not None:
            nodes.append(Node(int(label), len(words), len(words) + 1))
            words.append(unescape(word))
        elif label is not None:
            opened.append((int(label), len(words)))
        elif opened:
            nodes.append(Node(*opened.pop(), len(words)))
        else:
            raise ValueError(f"column {place + 1}: this bracket closes nothing")
        place = piece.end()
    if opened or not nodes:
        raise ValueError(f"the tree ends before {len(opened)} of its brackets are closed")
    return Tree(words, nodes)


def unescape(word: str) -> str:
    return _ESCAPES.get(word) or word.replace("\\/", "/").replace("\\*", "*")


def _numbered_lines(file_path: str | os.PathLike) -> Iterator[tuple[int, bytes]]:
    """Those that are not blank; bytes, so that one that is not UTF-8 is found with its number."""
    blank = True
    with open(cached_path(file_path), "rb") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                blank = False
                yield number, line
    if blank:
        raise ValueError(f"{file_path} is empty: expected a tree on every line")
