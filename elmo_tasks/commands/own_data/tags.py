"""
Chooses the tags of a user's file that a training run reads, and finds out whether they mark spans.
"""

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import islice

from elmo_tasks.common.columns import sentence_columns
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import read_records
from elmo_tasks.common.rows import LeftOut
from elmo_tasks.common.span_tags import usual_tags
from elmo_tasks.common.text import listed
from elmo_tasks.common.text_files import numbered_lines
from elmo_tasks.readers.tag import TagReader
from elmo_tasks.readers.tag_file import TaggedSentence, tagged_kind
from elmo_tasks.readers.tag_scheme import TagScheme

# Names of fields with a list of tags or of spans. The first one that a file has is chosen.
_FIELDS = (
    "tags ner_tags bio_tags iob_tags spans entities label labels ner ner_labels upos pos_tags pos "
    "xpos chunk_tags annotations completions"
).split()

# If the tags that mark no spans are fewer by this factor than the tags that do, they are a slip.
_SLIPS = 4

# The number of sentences that tell which column has the tags.
_MOST_LOOKED_AT = 1000

# The most words of a sentence that are shown.
_MOST_SHOWN = 20


def choose_tags(
    path: str | os.PathLike, column: str | None, language: str, may_be_spans: bool = True
) -> TagReader:
    """
    Returns a reader of the tags of a file. Without `column`, the tags are in the column `upos` of
    CoNLL-U, in the field of JSON that has tags or spans, or in the column `tag` of other files (see
    `sentence_columns`).

    The tags mark spans if each tag is O or has a prefix (B, I, E, S, U, L, M or W). They also mark
    spans if most tags are O and no tag has a prefix. Otherwise, or if `may_be_spans` is `False`,
    each word has a tag of its own.

    # Raises

    `ConfigurationError`: The file has no tags, or no such column; or most tags mark spans, but a
        few do not.
    """
    columns = None
    kind = tagged_kind(path)
    if kind == "json":
        column = column or _field(path)
    elif kind == "conllu":
        column = column or "upos"
    else:
        columns, tags = _columns(path)
        column = column or tags
    reader = TagReader(column, columns=columns, language=language)
    sentences = list(reader.sentences(path, LeftOut()))
    if not any(sentence.tags for sentence in sentences):
        raise ConfigurationError(f"{path} has no token")
    reader.spans = may_be_spans and _mark_spans(path, sentences)
    return reader


def about_tags(
    reader: TagReader, path: str | os.PathLike, sentences: Sequence[TaggedSentence]
) -> list[str]:
    """
    Returns lines that describe the tags of a file and show its first sentence as the model reads
    it. Raises `ValueError` with file and line if the tags of a sentence do not mark spans.
    """
    counts = Counter(tag for sentence in sentences for tag in sentence.tags)
    usual = usual_tags(counts)
    tags = reader.learnt_tags(path, sentences)
    if not reader.spans:
        about = "Each word has a tag of its own; the metric is the accuracy."
        span_tags = [tag for tag in counts if usual.get(tag, "O") != "O"]
        odd = [tag for tag in counts if tag not in usual]
        if span_tags and odd:
            about += f" Of the tags, {listed(span_tags)} could mark spans, but not {listed(odd)}."
    elif usual.keys() <= {"O"}:
        about = (
            "The tags mark spans, though they have no prefixes such as B-: neighbours with the "
            "same tag are one span. The metric is F1 (with --no-spans, the accuracy of each tag)."
        )
    else:
        scheme = TagScheme.of(sentence.tags for sentence in sentences)
        about = (
            f"The tags mark spans ({scheme.name}), which the model learns in BIOUL and writes as "
            "here; the metric is F1."
        )
        if odd_tag := next((tag for tag in counts if usual[tag] != tag), None):
            about += f" {odd_tag} is read as {usual[odd_tag]}."
    words = [f"{word} ({tag})" for word, tag in zip(sentences[0].words, tags[0])]
    sample = " ".join(words[:_MOST_SHOWN]) + " ..." * (len(words) > _MOST_SHOWN)
    return [about, f"The first sentence: {sample}"]


def _mark_spans(path: str | os.PathLike, sentences: Iterable[TaggedSentence]) -> bool:
    places: dict[str, list[int]] = {}
    for sentence in sentences:
        for line, tag in zip(sentence.lines, sentence.tags):
            places.setdefault(tag, []).append(line)
    usual = usual_tags(places)
    num_all = sum(map(len, places.values()))
    num_spans = sum(len(places[tag]) for tag, span_tag in usual.items() if span_tag != "O")
    odd = {tag: lines for tag, lines in places.items() if tag not in usual}
    if not num_spans:
        return len(places) > 1 and 2 * len(places.get("O", ())) > num_all
    num_odd = sum(map(len, odd.values()))
    if num_odd and _SLIPS * num_odd <= num_spans:
        names = listed([f"{tag!r} (line {lines[0]}{_more(lines)})" for tag, lines in odd.items()])
        first = min(lines[0] for lines in odd.values())
        fitting = next(tag for tag in places if usual.get(tag, "O") != "O")
        raise ConfigurationError(
            f"{path}:{first}: {num_odd:,} of {num_all:,} tags are not tags of spans such as "
            f"{fitting}: {names}; correct them, or learn a tag for each word with --no-spans"
        )
    return not odd and len(places) > 1


def _more(lines: Sequence[int]) -> str:
    return f" and {len(lines) - 1:,} more" if len(lines) > 1 else ""


def _field(path: str | os.PathLike) -> str:
    for record in read_records(path):
        for name in _FIELDS:
            if isinstance(record.values.get(name), list):
                return name
    raise ConfigurationError(
        f"{path} has no list of tags or spans in a field {listed(_FIELDS)}; name another with "
        "--column"
    )


def _columns(path: str | os.PathLike) -> tuple[list[str], str]:
    """
    Returns the names of the columns of a file, and the column with the tags. This is the column
    `tag` or, without it, the last column whose values differ within a sentence.
    """
    sentences = sentence_columns(numbered_lines(path), str(path), "columns")
    head = [values for _, values, _ in islice(sentences, _MOST_LOOKED_AT)]
    names = list(head[0]) if head else []
    columns = [name for name in names if name != "word"]
    if len(names) < 2:
        problem = "one column: expected a word and its tag on each line" if names else "no token"
        raise ConfigurationError(f"{path} has {problem}")
    differ = [name for name in columns if any(len(set(values[name])) > 1 for values in head)]
    return names, "tag" if "tag" in names else (differ or columns)[-1]
