import json
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.commands.own_data.tags import about_tags, choose_tags
from elmo_tasks.common.errors import ConfigurationError

FIXTURES = Path(__file__).parents[3] / "fixtures"


def tags_of(path: Path, column: str | None = None) -> tuple[str, list[str], bool]:
    reader = choose_tags(path, column, "en")
    return reader.column, reader.columns, reader.spans


def test_tags_are_in_a_column_that_the_format_tells() -> None:
    columns = ["word", "column_2", "column_3", "tag"]

    for column, is_span in {None: False, "xpos": False, "misc": True}.items():
        assert tags_of(FIXTURES / "tag.conllu", column)[::2] == (column or "upos", is_span)
    assert tags_of(FIXTURES / "ner.txt") == ("tag", columns, True)
    assert tags_of(FIXTURES / "ner.txt", "column_2") == ("column_2", columns, False)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"text": "Rain fell", "meta": [], "spans": [[0, 4, "X"]]}, ("spans", True)),
        ({"tokens": ["Rain", "fell"], "pos": ["N", "V"]}, ("pos", False)),
    ],
)
def test_json_has_tags_in_the_field_with_a_list(row: dict, expected: Any, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(row) + "\n")

    assert tags_of(tmp_path / "in.jsonl")[::2] == expected


@pytest.mark.parametrize(
    ("name", "content", "column", "words"),
    [
        ("in.conllu", "1\tRain" + "\t_" * 8, "pos", "has no column pos; did you mean '"),
        ("in.txt", "Rain\n", None, "has one column: expected a word and its tag"),
        ("in.txt", "Rain N\n", "pos", "'pos' exactly once"),
        ("in.txt", "\n", None, "has no token"),
        ("in.jsonl", '{"text": "Rain"}\n', None, "has no list of tags or spans in a field"),
    ],
)
def test_a_file_without_such_tags_is_refused(
    name: str, content: str, column: str | None, words: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)

    with pytest.raises(ConfigurationError, match=words):
        choose_tags(tmp_path / name, column, "en")


BIO = "Marta B-PER\nleft O\n\nOslo B-LOC\nand O\nBergen I-LOC\n"


def in_file(folder: Path, content: str, name: str = "in.txt") -> Path:
    (folder / name).write_text(content)
    return folder / name


def said(path: Path, **options: Any) -> list[str]:
    reader = choose_tags(path, None, "en", **options)
    return about_tags(reader, path, list(reader.sentences(path)))


SPANS = (
    "The tags mark spans (BIO), which the model learns in BIOUL and writes as here; the metric is "
    "F1."
)
# The content of a file, and what is said of its tags.
SAID = {
    BIO: SPANS,
    BIO.replace("-", "_"): f"{SPANS} B_PER is read as B-PER.",
    BIO.replace("-", ":"): f"{SPANS} B:PER is read as B-PER.",
    BIO.replace("B-", "b-").replace("I-", "i-"): f"{SPANS} b-PER is read as B-PER.",
    BIO.replace("B-PER", "PER-B").replace("B-LOC", "LOC-B").replace("I-LOC", "LOC-I"): (
        f"{SPANS} PER-B is read as B-PER."
    ),
    BIO.replace("B-", "S-").replace("I-", "S-"): SPANS.replace("(BIO)", "(BIOES)"),
    BIO.replace("B-", "").replace("I-", "") + "is O\nis O\n": (
        "The tags mark spans, though they have no prefixes such as B-: neighbours with the same "
        "tag are one span. The metric is F1 (with --no-spans, the accuracy of each tag)."
    ),
    BIO.replace("O\n", "X\n"): (
        "Each word has a tag of its own; the metric is the accuracy. Of the tags, B-PER, B-LOC, "
        "I-LOC could mark spans, but not X."
    ),
    "Rain N\nfell V\n": "Each word has a tag of its own; the metric is the accuracy.",
}


@pytest.mark.parametrize("content", SAID)
def test_what_the_tags_are_is_said_with_the_first_sentence(content: str, tmp_path: Path) -> None:
    about, sentence = said(in_file(tmp_path, content))

    expected = {
        "S": "Marta (U-PER) left (O)",
        "E": "Rain (N) fell (V)",
        "X": "Marta (B-PER) left (X)",
    }
    kind = "X" if "X" in about else "S" if "spans" in about else "E"
    assert about == SAID[content]
    assert sentence == f"The first sentence: {expected[kind]}"


def test_few_tags_that_mark_no_spans_are_named_with_their_lines(tmp_path: Path) -> None:
    content = f"{BIO}\n{BIO}\nThe DT\nferry DT\n"
    path = in_file(tmp_path, content.replace("DT\n", "LOC\n", 1).replace("DT", "O"))

    with pytest.raises(ConfigurationError) as error:
        choose_tags(path, None, "en")

    assert str(error.value) == (
        f"{path}:15: 1 of 12 tags are not tags of spans such as B-PER: 'LOC' (line 15); "
        "correct them, or learn a tag for each word with --no-spans"
    )
    assert said(path, may_be_spans=False)[0].endswith("I-LOC could mark spans, but not LOC.")


def test_a_sentence_that_is_no_sequence_of_bioes_is_named(tmp_path: Path) -> None:
    path = in_file(tmp_path, BIO.replace("B-", "S-"))

    with pytest.raises(ValueError, match="in.txt:6: I-LOC cannot follow O in BIOUL"):
        said(path)


@pytest.mark.parametrize(
    ("content", "column"),
    [
        ("Sentence #,Word,POS,Tag\nSentence: 1,Marta,NN,B-PER\n,left,VB,O\n", "Tag"),
        ("Marta B-PER ann_1\nleft O ann_1\n", "tag"),
        ("word ner annotator\nMarta B-PER ann_1\nleft O ann_1\n", "ner"),
    ],
)
def test_the_tags_are_in_the_last_column_that_differs_within_a_sentence(
    content: str, column: str, tmp_path: Path
) -> None:
    reader = choose_tags(in_file(tmp_path, content, "in.csv"), None, "en")

    (sentence,) = reader.sentences(tmp_path / "in.csv")
    assert (reader.column, reader.spans) == (column, True)
    assert (sentence.words, sentence.tags) == (["Marta", "left"], ["B-PER", "O"])
