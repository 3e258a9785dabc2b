"""Reads documents with coreference from JSON lines in the format of e2e-coref."""

import os
from collections.abc import Iterator
from itertools import chain
from typing import Any

from elmo_tasks.common.records import read_records
from elmo_tasks.common.text_files import at_line

# The words `words[start:end]` of a document.
Span = tuple[int, int]

_EXAMPLE = (
    '{"doc_key": "nw/1", "sentences": [["Ann", "left"]], "clusters": [[[0, 0]]]}, where a mention '
    "is its first and its last word in the document"
)


def read_json_lines(file_path: str | os.PathLike) -> Iterator[dict[str, Any]]:
    """
    Yields the fields of a `CorefDocument` for each line. A line is a JSON object. It has
    `sentences`, which are lists of words, and `clusters` of mentions; a mention is the indices of
    its first and its last word in the document. It may have `doc_key`, and `speakers`, one for each
    word or each sentence. Raises `ValueError` with file and line if a line has another shape.
    """
    for record in read_records(file_path, "json"):
        with at_line(file_path, record.line):
            yield _document(record.values, str(record.line))


def _document(values: dict[str, Any], line: str) -> dict[str, Any]:
    sentences, clusters = values.get("sentences"), values.get("clusters")
    if not isinstance(sentences, list) or not sentences or not isinstance(clusters, list):
        raise ValueError(f"expected {_EXAMPLE}, but got {values!r:.80}")
    if "subtoken_map" in values:
        raise ValueError(
            "the sentences consist of parts of words (subtoken_map); give sentences of words"
        )
    for sentence in sentences:
        if not _is_list(sentence) or not all(isinstance(word, str) and word for word in sentence):
            raise ValueError(f"a sentence must be a list of words, not {sentence!r:.80}")
    num_words = sum(map(len, sentences))
    if not num_words:
        raise ValueError("the document has no word")
    return {
        "name": str(values.get("doc_key") or line),
        "sentences": [sentence for sentence in sentences if sentence],
        "speakers": speakers_of(values.get("speakers"), sentences),
        "clusters": [_mentions(cluster, num_words) for cluster in clusters],
    }


def speakers_of(speakers: Any, sentences: list[list[str]]) -> list[str]:
    """
    Returns the speaker of each word. `speakers` has a name for each sentence, or for each sentence
    a list with a name for each word.
    """
    if speakers is None:
        return [""] * sum(map(len, sentences))
    if _is_list(speakers) and len(speakers) == len(sentences):
        rows = [
            row if _is_list(row) else [row] * len(sentence)
            for row, sentence in zip(speakers, sentences)
        ]
        if [*map(len, rows)] == [*map(len, sentences)]:
            return ["" if name is None else str(name) for name in chain.from_iterable(rows)]
    raise ValueError(
        f"speakers must be {len(sentences)} names, one for each sentence, or as many lists of "
        f"names, one for each word, but is {speakers!r:.80}"
    )


def _mentions(cluster: Any, num_words: int) -> list[Span]:
    spans: list[Span] = []
    for mention in cluster if _is_list(cluster) else [cluster]:
        match mention:
            case [int(first), int(last)] if 0 <= first <= last < num_words:
                spans.append((first, last + 1))
            case _:
                raise ValueError(
                    "a mention must be the indices of its first and last word, from 0 to "
                    f"{num_words - 1}, not {mention!r:.80}"
                )
    if len(set(spans)) != len(spans):
        raise ValueError(f"a cluster has a mention twice: {cluster!r:.80}")
    return sorted(spans, key=lambda span: span[::-1])


def _is_list(value: Any) -> bool:
    return isinstance(value, list)
