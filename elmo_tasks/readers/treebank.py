import re
from typing import NamedTuple


class Node(NamedTuple):
    """A node of a tree: it has a label from 0 to 4 and covers `words[start:end]` of its tree."""

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

    @property
    def root(self) -> Node:
        return self.nodes[-1]


# A leaf, or the beginning or the end of a node that has children. Only the ASCII space separates:
# some leaves of the treebank contain a no-break space.
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
    """
    Parses a tree such as `(3 (2 It) (4 (2 's) (4 good)))`. Raises `ValueError` with the column if
    the line is not exactly one tree.
    """
    words: list[str] = []
    nodes: list[Node] = []
    opened: list[tuple[int, int]] = []
    line = line.rstrip(" \r\n")
    position = 0
    while position < len(line):
        column = position + 1
        piece = _PIECE.match(line, position)
        if piece is None:
            raise ValueError(
                f"column {column}: expected a node such as (3 good), with a label from 0 to 4 "
                f"and a word or nodes in it, not {line[position : position + 20]!r}"
            )
        if nodes and not opened:
            raise ValueError(f"column {column}: the tree has ended before this bracket")
        label, word = piece.groups()
        if word is not None:
            nodes.append(Node(int(label), len(words), len(words) + 1))
            words.append(unescape(word))
        elif label is not None:
            opened.append((int(label), len(words)))
        elif opened:
            nodes.append(Node(*opened.pop(), len(words)))
        else:
            raise ValueError(f"column {column}: this bracket closes nothing")
        position = piece.end()
    if opened or not nodes:
        raise ValueError(f"the tree ends before {len(opened)} of its brackets are closed")
    return Tree(words, nodes)


def unescape(word: str) -> str:
    """Undoes the escapes of the Penn Treebank, such as `-LRB-` for an opening bracket."""
    return _ESCAPES.get(word) or word.replace("\\/", "/").replace("\\*", "*")
