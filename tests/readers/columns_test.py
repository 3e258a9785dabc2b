from pathlib import Path

import pytest

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.columns import ColumnSentence, check_columns, read_columns, read_rows

COLUMNS = ["word", "lemma", "tag"]


def written(folder: Path, content: str) -> Path:
    path = folder / "columns.txt"
    path.write_bytes(content.encode())
    return path


def test_sentences_have_the_line_of_their_first_token_and_the_columns_asked_for(
    tmp_path: Path,
) -> None:
    path = written(
        tmp_path,
        "-DOCSTART- - -\n\nBoats boat N\nleft\tleave  V\r\n-DOCSTART-\n \t\n Oslo Oslo N \n",
    )

    sentences = list(read_columns(path, COLUMNS, ["tag", "word"]))

    assert sentences == [
        ColumnSentence(3, [["N", "V"], ["Boats", "left"]]),
        ColumnSentence(7, [["N"], ["Oslo"]]),
    ]


def test_comments_around_a_document_are_no_tokens_and_end_a_sentence(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "#begin document (a/b); part 000\nBoats boat N\n#end document\n# # N\n#begin -0 N\n",
    )

    assert list(read_rows(path)) == [
        (2, [["Boats", "boat", "N"]], 0),
        (4, [["#", "#", "N"], ["#begin", "-0", "N"]], None),
    ]


def test_rows_may_have_any_number_of_columns(tmp_path: Path) -> None:
    path = written(tmp_path, "\nBoats\nleft leave\n\n -DOCSTART- -X-\nOslo Oslo N\n")

    assert list(read_rows(path)) == [
        (2, [["Boats"], ["left", "leave"]], None),
        (6, [["Oslo", "Oslo", "N"]], None),
    ]


def test_a_column_may_be_asked_for_twice(tmp_path: Path) -> None:
    path = written(tmp_path, "Boats boat N\n\nleft leave V\n\n\n")

    sentences = list(read_columns(path, COLUMNS, ["word", "word", "tag"]))

    assert sentences == [
        ColumnSentence(1, [["Boats"], ["Boats"], ["N"]]),
        ColumnSentence(3, [["left"], ["left"], ["V"]]),
    ]


@pytest.mark.parametrize("content", ["", "\n \n", "-DOCSTART- -X-\n"])
def test_a_file_without_a_token_has_no_sentence(tmp_path: Path, content: str) -> None:
    path = written(tmp_path, content)

    assert list(read_columns(path, COLUMNS, COLUMNS)) == []


@pytest.mark.parametrize("line", ["left leave", "left leave V 1"])
def test_another_number_of_columns_is_refused_with_file_and_line(tmp_path: Path, line: str) -> None:
    path = written(tmp_path, f"Boats boat N\n{line}\n")

    with pytest.raises(ValueError) as error:
        list(read_columns(path, COLUMNS, ["word"]))

    assert str(error.value) == (
        f"{path}:2: expected 3 columns (word lemma tag), but got {len(line.split())}: {line!r}"
    )


@pytest.mark.parametrize(
    ("columns", "missing"), [(["word", "pos"], "tag"), (["word", "tag", "tag"], "tag")]
)
def test_a_column_that_is_not_there_exactly_once_is_refused(
    columns: list[str], missing: str
) -> None:
    check_columns(COLUMNS, ["tag", "word"])

    with pytest.raises(ConfigurationError, match=f"the columns must have '{missing}' exactly once"):
        check_columns(columns, ["word", "tag"])


@pytest.mark.parametrize(
    ("content", "line"),
    [("\ufeff\ufeff-DOCSTART- -X- O\n", 1), ("\ufeffBoats boat N\n\n\ufeffOslo Oslo N\n", 3)],
)
def test_a_byte_order_mark_that_does_not_begin_the_file_is_refused(
    tmp_path: Path, content: str, line: int
) -> None:
    path = written(tmp_path, content)

    with pytest.raises(ValueError, match=f"{path}:{line}: the line begins with a byte order mark"):
        list(read_columns(path, COLUMNS, ["word"]))
