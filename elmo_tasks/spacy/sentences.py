from collections.abc import Iterable, Iterator
from typing import NamedTuple

from spacy.tokens import Doc


class DocSentence(NamedTuple):
    """
    A sentence of a doc, without white space tokens, as a biLM reads it.

    # Parameters

    doc: The index of the doc among the docs.
    indices: The indices of the tokens in the doc.
    words: The text of the tokens.
    """

    doc: int
    indices: list[int]
    words: list[str]


def of_docs(docs: Iterable[Doc]) -> Iterator[DocSentence]:
    """
    Yields the sentences of docs. Leaves out sentences without words. A doc without sentence
    boundaries is one sentence.
    """
    for index, doc in enumerate(docs):
        sentences = doc.sents if doc.has_annotation("SENT_START") else [doc[:]]
        for sentence in sentences:
            tokens = [token for token in sentence if not token.is_space]
            if tokens:
                yield DocSentence(index, [t.i for t in tokens], [t.text for t in tokens])
