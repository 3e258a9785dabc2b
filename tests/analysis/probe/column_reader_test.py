import gzip
from pathlib import Path

import pytest

from elmo_tasks.analysis.probe.column_reader import ColumnReader, TaggedSentence
from elmo_tasks.common.errors import ConfigurationError

SENSES = ColumnReader(["word", "lemma", "sense"], "sense", "lemma", untagged="-")


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "text.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_a_token_is_a_line_and_an_empty_line_ends_a_sentence(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "-DOCSTART- - -\n\nThe the -\nbanks\tbank  bank%river\r\n\n\n"
        "She she -\nplays play play%game",
    )

    assert list(SENSES.read(path)) == [
        TaggedSentence(["The", "banks"], ["the", "bank"], [(), ("bank%river",)]),
        TaggedSentence(["She", "plays"], ["she", "play"], [(), ("play%game",)]),
    ]


def test_without_a_lemma_a_word_stands_for_itself_and_a_dash_is_a_tag(tmp_path: Path) -> None:
    path = written(tmp_path, "- HYPH x\nA\u00a0b NN x\n")

    reader = ColumnReader(["word", "pos", "other"], "pos")

    words = ["-", "A\u00a0b"]
    assert list(reader.read(path)) == [TaggedSentence(words, words, [("HYPH",), ("NN",)])]


def test_several_right_tags_are_split_at_the_separator_if_there_is_one(tmp_path: Path) -> None:
    path = written(tmp_path, "banks bank bank%river|bank%money\nis be -\nbank bank bank%river\n")
    several = ColumnReader(["word", "lemma", "sense"], "sense", "lemma", "-", tag_separator="|")

    (split,), (whole,) = list(several.read(path)), list(SENSES.read(path))

    assert split.tags == [("bank%river", "bank%money"), (), ("bank%river",)]
    assert whole.tags == [("bank%river|bank%money",), (), ("bank%river",)]


def test_an_empty_separator_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="tag_separator must have a character"):
        ColumnReader(["word", "sense"], "sense", tag_separator="")


def test_packed_text_is_the_same(tmp_path: Path) -> None:
    text = "bank bank bank%river\n"
    path = written(tmp_path, gzip.compress(text.encode()))

    assert list(SENSES.read(path)) == list(SENSES.read(written(tmp_path, text)))


@pytest.mark.parametrize("line", ["bank bank", "bank bank bank%river 1"])
def test_a_column_that_is_not_there_is_said_with_file_and_line(tmp_path: Path, line: str) -> None:
    path = written(tmp_path, f"The the -\n\n{line}\n")

    with pytest.raises(ValueError) as caught:
        list(SENSES.read(path))

    number = len(line.split())
    assert str(caught.value) == (
        f"{path}:3: expected 3 columns (word lemma sense), but got {number}: {line!r}"
    )


@pytest.mark.parametrize(
    ("columns", "tag", "lemma", "missing"),
    [
        (["word", "pos"], "ner", None, "ner"),
        (["token", "pos"], "pos", None, "word"),
        (["word", "pos"], "pos", "lemma", "lemma"),
        (["word", "pos", "pos"], "pos", None, "pos"),
    ],
)
def test_a_column_that_is_not_named_once_is_refused(
    columns: list[str], tag: str, lemma: str | None, missing: str
) -> None:
    with pytest.raises(ConfigurationError, match=f"the columns must have '{missing}' exactly once"):
        ColumnReader(columns, tag, lemma)


@pytest.mark.parametrize("text", ["", "\n\n", "The the -\n"])
def test_a_file_without_tags_is_refused(tmp_path: Path, text: str) -> None:
    path = written(tmp_path, text)

    with pytest.raises(ValueError, match=f"{path} has no token with a tag"):
        list(SENSES.read(path))


def test_a_line_that_is_not_utf_8_is_said(tmp_path: Path) -> None:
    path = written(tmp_path, b"The the -\nb\xf6 b -\n")

    with pytest.raises(ValueError, match=f"{path}:2: not UTF-8"):
        list(SENSES.read(path))
