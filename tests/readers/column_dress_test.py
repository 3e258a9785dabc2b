"""Tagged sentences in the dress that other people give their files are read as they were meant."""

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, example, given, settings

from elmo_tasks.commands.own_data.split import part_suffix, read_examples
from elmo_tasks.commands.own_data.tags import choose_tags
from elmo_tasks.readers.entities import Entity, read_entities, write_tags
from elmo_tasks.readers.tag import TagReader
from elmo_tasks.readers.tag_scheme import TagScheme

# A sentence: its words, and its spans in their order.
Sentence = tuple[list[str], list[Entity]]

PLAIN: list[Sentence] = [
    ("Anna met Tomas Berg in Lindvik .".split(), [Entity("PER", 0, 1), Entity("PER", 2, 4)]),
    ("They left at 3 , with # 7 .".split(), []),
    ("Ida sings .".split(), [Entity("PER", 0, 1)]),
]


class Dress(NamedTuple):
    """How a file writes its sentences."""

    separator: str = "\t"
    scheme: str = "BIO"
    tag: Callable[[str, str], str] = "{}-{}".format
    header: bool = False
    first_index: int | None = None
    comments: Sequence[str] = ()
    before: int = 0
    after: int = 0
    tag_first: bool = False
    end: str = "\n"
    between: str = ""
    document: str | None = None
    encoding: str = "utf-8"
    suffix: str = ".txt"


def in_scheme(entities: list[Entity], length: int, scheme: str) -> list[tuple[str, str]]:
    """Returns prefix and type of each tag."""
    if scheme == "IO":
        tags = [("O", "")] * length
        for type_, start, end in entities:
            tags[start:end] = [("", type_)] * (end - start)
        return tags
    tags = [
        (tag[0], tag[2:])
        for tag in write_tags(entities, length, "BIO" if scheme in ("BIO", "IOB1") else "BIOUL")
    ]
    letters = dict(zip("BIUL", {"BIOES": "BISE", "BMES": "BMSE"}.get(scheme, "BIUL")))
    if scheme == "IOB1":
        return [
            ("I" if prefix == "B" and not touches(tags, place) else prefix, type_)
            for place, (prefix, type_) in enumerate(tags)
        ]
    return [(letters.get(prefix, prefix), type_) for prefix, type_ in tags]


def touches(tags: list[tuple[str, str]], place: int) -> bool:
    return place > 0 and tags[place - 1][1] == tags[place][1]


def dressed(sentences: Sequence[Sentence], dress: Dress) -> bytes:
    """Writes sentences as the content of a file."""
    rows: list[str] = []
    for number, (words, entities) in enumerate(sentences):
        if dress.document is not None:
            rows += [dress.document, dress.between]
        rows += dress.comments
        tags = in_scheme(entities, len(words), dress.scheme)
        for place, (word, (prefix, type_)) in enumerate(zip(words, tags)):
            tag = type_ if dress.scheme == "IO" and type_ else prefix
            tag = dress.tag(prefix, type_) if type_ and dress.scheme != "IO" else tag
            before = ["NX"[place % 2]] * dress.before
            values = [tag, word] if dress.tag_first else [word, *before, tag]
            values += [f"ann_{number % 2}"] * dress.after
            if dress.first_index is not None:
                values.insert(0, str(place + dress.first_index))
            rows.append(joined(values, dress.separator))
        rows.append(dress.between)
    if dress.header:
        names = ["Word", *["POS"] * dress.before, "Tag"]
        names = ["Tag", "Word"] if dress.tag_first else names
        names = [*["id"] * (dress.first_index is not None), *names, *["annotator"] * dress.after]
        rows.insert(0, joined(names, dress.separator))
    return "".join(f"{row}{dress.end}" for row in rows).encode(dress.encoding)


def joined(values: list[str], separator: str) -> str:
    if separator not in ",;":
        return separator.join(values)
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="").writerow(values)
    return text.getvalue()


def read(reader: TagReader, path: Path) -> list[Sentence]:
    sentences = list(reader.sentences(path))
    tags = reader.learnt_tags(path, sentences)
    return [
        (sentence.words, read_entities(each, "BIOUL") if reader.spans else [])
        for sentence, each in zip(sentences, tags)
    ]


NOTATIONS = [
    "{}-{}".format,
    "{}_{}".format,
    "{}/{}".format,
    "{1}-{0}".format,
    lambda prefix, type_: f"{prefix.lower()}-{type_}",
]
COMMENTS = [
    "# newdoc",
    "# id 7",
    "# sent_id = 7",
    "# text = Anna met Tomas .",
    "# id 5-a3\tdomain=en",
    "#text=Anna",
    "# 12",
]
WORD = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters=" "), min_size=1
) | st.sampled_from(["#", "#tag", "1", "2", "O", "B-PER", '"', ",", "/", "-", "a/b", "Word"])


@st.composite
def spans(draw: Any, length: int, apart: bool) -> list[Entity]:
    found: list[Entity] = []
    start = 0
    while start < length:
        end = draw(st.integers(start, length))
        if end > start:
            type_ = draw(st.sampled_from(["PER", "LOC", "geo", "Work_of-art"]))
            found.append(Entity(type_, start, end))
        start = end + 1 if apart or end == start else end
    return found


@st.composite
def files(draw: Any) -> tuple[list[Sentence], Dress]:
    separator = draw(st.sampled_from(["\t", " ", "  ", " \t ", ",", ";"]))
    dress = Dress(
        separator,
        draw(st.sampled_from(["BIO", "IOB1", "BIOES", "BIOUL", "BMES", "IO"])),
        draw(st.sampled_from(NOTATIONS)),
        draw(st.booleans()),
        draw(st.sampled_from([None, None, 0, 1])),
        draw(st.lists(st.sampled_from(COMMENTS), max_size=2)),
        draw(st.integers(0, 2)),
        draw(st.integers(0, 2)),
        end=draw(st.sampled_from(["\n", "\r\n"])),
        between=draw(st.sampled_from(["", " ", "\t"])),
        document=draw(st.sampled_from([None, "-DOCSTART-", "-DOCSTART- -X- O", "-DOCSTART-\tO"])),
        encoding=draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16"])),
        suffix=draw(st.sampled_from([".tsv", ".txt", ".iob2", ".bio", ".conll", ".csv", ""])),
    )
    if not (dress.before or dress.after):
        dress = dress._replace(tag_first=draw(st.booleans()))
    if separator == "\t":
        word = st.builds("{0}{2}{1}".format, WORD, WORD, st.sampled_from(["", " "])) | WORD
    else:
        word = WORD
    sentences = list(PLAIN)
    for _ in range(draw(st.integers(0, 3))):
        words = draw(st.lists(word.filter(str.strip), min_size=1, max_size=5))
        sentences.append((words, draw(spans(len(words), dress.scheme == "IO"))))
    return draw(st.permutations(sentences)), dress


IO_FIRST = Dress("\t", "IO", "{0}-{1}".format, tag_first=True, suffix=".tsv")


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(files())
@example((PLAIN, IO_FIRST))
def test_a_file_in_any_dress_is_read_as_it_was_meant_or_refused(
    tmp_path_factory: pytest.TempPathFactory, file: tuple[list[Sentence], Dress]
) -> None:
    sentences, dress = file
    path = tmp_path_factory.mktemp("dress") / f"in{dress.suffix}"
    path.write_bytes(dressed(sentences, dress))

    try:
        reader = choose_tags(path, None, "en")
    except ValueError as error:
        assert str(error).startswith(str(path)) and "\n" not in str(error)
        # Only a word # at the beginning of a sentence can be taken for a comment.
        assert "may be a comment" in str(error) or "not tags of spans" in str(error), str(error)
        return
    found = read(reader, path)

    assert [words for words, _ in found] == [words for words, _ in sentences]
    if reader.spans:
        assert [entities for _, entities in found] == [entities for _, entities in sentences]
    part = path.with_name(f"part{part_suffix(reader, path)}")
    part.write_text("".join(example.lines for example in read_examples(reader, path)), "utf-8")
    assert read(reader, part) == found


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(files())
def test_tags_are_written_in_the_scheme_of_the_file(
    file: tuple[list[Sentence], Dress],
) -> None:
    sentences, dress = file
    in_file = [
        [
            type_ if dress.scheme == "IO" and type_ else dress.tag(*each) if type_ else each[0]
            for each in in_scheme(entities, len(words), dress.scheme)
            for type_ in each[1:]
        ]
        for words, entities in sentences
    ]

    scheme = TagScheme.parse(str(TagScheme.of(in_file)))

    assert [scheme.write(each, len(words)) for words, each in sentences] == in_file
    assert scheme.name == dress.scheme
