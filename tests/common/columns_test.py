from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from elmo_tasks.common.columns import CONLL_2012, check_columns
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.records import read_records

COLUMNS = ["word", "lemma", "tag"]


def sentences(
    folder: Path, content: str, columns: list[str] | None = COLUMNS, name: str = "columns.txt"
) -> list[tuple[int, dict[str, list[Any]]]]:
    path = folder / name
    path.write_bytes(content.encode())
    kind = "conllu" if name.endswith("u") else "columns"
    return [(each.line, each.values) for each in read_records(path, kind, columns)]


VALUE = st.text(st.characters(exclude_characters=" \t\r\n", exclude_categories=["Cs"]), min_size=1)


@given(st.lists(st.lists(st.tuples(VALUE, VALUE), min_size=1, max_size=4), max_size=4), st.data())
def test_what_was_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, written: list[list[tuple[str, str]]], data: Any
) -> None:
    between = data.draw(st.sampled_from([" ", "\t", " \t "]))
    # A comment of a document, or a byte order mark, is no word.
    written = [[(f"w{word}", tag) for word, tag in sentence] for sentence in written]
    lines = [[between.join(token) for token in sentence] for sentence in written]
    content = "\n\n".join("\r\n".join(each) for each in lines) + "\n"

    read = sentences(tmp_path_factory.mktemp("columns"), content, ["word", "tag"])

    assert [[*zip(each["word"], each["tag"])] for _, each in read] == written


def test_sentences_have_the_line_of_their_first_token(tmp_path: Path) -> None:
    content = "-DOCSTART- - -\n\nBoats boat N\nleft\tleave  V\r\n-DOCSTART-\n \t\n Oslo Oslo N \n"

    assert sentences(tmp_path, "") == sentences(tmp_path, "-DOCSTART- -X-\n \n") == []
    assert sentences(tmp_path, content) == [
        (3, {"word": ["Boats", "left"], "lemma": ["boat", "leave"], "tag": ["N", "V"]}),
        (7, {"word": ["Oslo"], "lemma": ["Oslo"], "tag": ["N"]}),
    ]


def test_comments_around_a_document_are_no_tokens_and_end_a_sentence(tmp_path: Path) -> None:
    content = "#begin document (a/b); part 000\nBoats N\n#end document\n# N\n#begin N\n"

    assert sentences(tmp_path, content, None) == [
        (2, {"word": ["Boats"], "tag": ["N"]}),
        (4, {"word": ["#", "#begin"], "tag": ["N", "N"]}),
    ]


def test_conll_u_is_read_without_comments_ranges_and_empty_nodes(tmp_path: Path) -> None:
    rest = 7 * "\t_"
    content = (
        f"# text = can't\n1-2\tcan't\t_{rest}\n1\tca\tcan{rest}\n2\tn't\tnot{rest}\n"
        f"2.1\tgo\tgo{rest}\n\n1\t10 km\t10{rest}\n"
    )

    found = sentences(tmp_path, content, None, "a.conllu")

    assert [(line, each["form"], each["lemma"]) for line, each in found] == [
        (3, ["ca", "n't"], ["can", "not"]),
        (7, ["10 km"], ["10"]),
    ]


def test_roles_are_lists_of_any_length(tmp_path: Path) -> None:
    first = "d 0 0 Eve NNP * - - - - * (ARG0*) * (0)\n"
    second = "d 0 1 sang VBD * sing 01 - - * (V*) (V*) -\n"

    ((line, values),) = sentences(tmp_path, first + second, CONLL_2012)

    assert line == 1 and values["roles"] == [["(ARG0*)", "*"], ["(V*)", "(V*)"]]
    assert (values["word"], values["coreference"]) == (["Eve", "sang"], ["(0)", "-"])


# The columns, the content, and the message.
REFUSED = [
    (COLUMNS, "Boats boat N\nleft leave\n", ":2: expected 3 columns (word lemma tag), but got 2: "),
    (COLUMNS, "Boats boat N\nleft leave V 1\n", ":2: expected 3 columns (word lemma tag), but got"),
    (["a", "word", "roles"], "a\n", ":1: expected at least 2 columns (a word roles), but got 1: "),
]


@pytest.mark.parametrize(("columns", "content", "message"), REFUSED)
def test_a_line_with_other_columns_is_refused(
    columns: list[str], content: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError) as error:
        sentences(tmp_path, content, columns)

    assert str(error.value).startswith(f"{tmp_path / 'columns.txt'}{message}")


@pytest.mark.parametrize("columns", [["word", "pos"], ["word", "tag", "tag"]])
def test_a_column_that_is_not_there_exactly_once_is_refused(columns: list[str]) -> None:
    check_columns(COLUMNS, ["tag", "word"])

    with pytest.raises(ConfigurationError, match="the columns must have 'tag' exactly once"):
        check_columns(columns, ["word", "tag"])
