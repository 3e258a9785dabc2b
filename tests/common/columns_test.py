from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from elmo_tasks.common.columns import CONLL_2012, check_columns, has_span_tags, read_head
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


def words_and_tags(folder: Path, content: str) -> list[list[tuple[str, str]]]:
    return [
        [*zip(each["word"], each["tag"])] for _, each in sentences(folder, content, ["word", "tag"])
    ]


MARTA = [[("Marta", "B-PER"), ("left", "O")], [("#", "O"), ("#tag", "O")]]

# What a file has around its words and tags: a header, comments, an index, other separators.
DRESSED = {
    "comments": "# newdoc\n# id 1\nMarta B-PER\nleft O\n\n# text = # #tag\n# O\n#tag O\n",
    "comments with a tab": "# id 1\tx=y\nMarta\tB-PER\nleft\tO\n\n# id 2\tx=y\n#\tO\n#tag\tO\n",
    "index": "1\tMarta\tB-PER\n2\tleft\tO\n\n# O\n1\t#\tO\n2\t#tag\tO\n",
    "index from 0": "0 Marta B-PER\n1 left O\n\n0 # O\n1 #tag O\n",
    "index that goes on": "0 Marta B-PER\n1 left O\n\n2 # O\n3 #tag O\n",
    "index alone": "1 Marta B-PER\n2 left O\n1 # O\n2 #tag O\n",
    "range": "1\tMarta\tB-PER\n2-3\tleft\tO\n2\tleft\tO\n\n1\t#\tO\n2\t#tag\tO\n",
    "header": "Token\tLabel\nMarta\tB-PER\nleft\tO\n\n#\tO\n#tag\tO\n",
    "header in order": "tag word\nB-PER Marta\nO left\n\nO #\nO #tag\n",
    "two headers": "word tag\nMarta B-PER\nleft O\n\nword tag\n# O\n#tag O\n",
    "table": "Sentence #,Word,Tag\nSentence: 1,Marta,B-PER\n,left,O\nSentence: 2,#,O\n,#tag,O\n",
    "ids": "sentence_id,words,labels\n7,Marta,B-PER\n7,left,O\n8,#,O\n8,#tag,O\n",
    "numbers": ",id,word,tag\n0,7,Marta,B-PER\n1,7,left,O\n2,8,#,O\n3,8,#tag,O\n",
    "commas": "Marta,B-PER\nleft,O\n\n#,O\n#tag,O\n",
    "slashes": "Marta/B-PER left/O\n#/O #tag/O\n",
    "aligned": "Marta\t\tB-PER\nleft\t\tO\n\n#\t\tO\n#tag\t\tO\n",
    "tabs at the end": "Marta\tB-PER\t\nleft\tO\t\n\n#\tO\t\n#tag\tO\t\n",
    "documents": "-DOCSTART-\tO\n\nMarta\tB-PER\nleft\tO\n\n-DOCSTART-\tO\n\n#\tO\n#tag\tO\n",
}


@pytest.mark.parametrize("dress", DRESSED)
def test_what_is_around_the_columns_is_no_token(dress: str, tmp_path: Path) -> None:
    assert words_and_tags(tmp_path, DRESSED[dress]) == MARTA


def test_comments_are_counted_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        sentences(tmp_path, DRESSED["comments"], ["word", "tag"])

    (line,) = caplog.messages
    assert line.endswith(
        "columns.txt: 3 lines that begin with # are comments and left out, the first in line 1: "
        "'# newdoc'"
    )


def test_between_tabs_a_word_may_have_a_blank_and_a_column_may_be_empty(tmp_path: Path) -> None:
    content = "10 000\t\tO\nMarta\tlem\tB-PER\n"

    assert sentences(tmp_path, content, None) == [
        (1, {"word": ["10 000", "Marta"], "column_2": ["", "lem"], "tag": ["O", "B-PER"]})
    ]


TEN = 8 * "\t_"
# Files without a header, and the names of their columns.
NAMED = [
    ("1\tMarta\tB-PER\t-\tann_1\n2\tleft\tO\t-\tann_1\n", "word tag column_3 column_4"),
    ("B-PER\tMarta\nO\tleft\n", "tag word"),
    ("PER-B Marta\nO left\n", "tag word"),
    ("Marta NNP x B-PER\nleft VBD x O\n", "word column_2 column_3 tag"),
    (f"1\tMarta{TEN}\n2\tleft{TEN}\n", "word lemma upos xpos feats head deprel deps misc"),
]


@pytest.mark.parametrize(("content", "names"), NAMED)
def test_columns_get_the_names_that_their_content_tells(
    content: str, names: str, tmp_path: Path
) -> None:
    ((_, values),) = sentences(tmp_path, content, None)

    assert [*values][: len(names.split())] == names.split() and values["word"] == ["Marta", "left"]


# Files whose columns are as many as those of the model, but of which the first is not the word.
OTHER = {
    "an index": "1 Marta NNP B-PER\n2 left VBD O\n\n1 He PRP O\n2 came VBD O\n",
    "a header and a number": "sentence_id,word,pos,tag\n7,Marta,NNP,B-PER\n7,left,VBD,O\n",
    "a header and an index": "id\tword\tpos\tner\n1\tMarta\tNNP\tB-PER\n2\tleft\tVBD\tO\n",
    "tags first": "B-PER Marta x\nO left x\n",
}


@pytest.mark.parametrize("other", OTHER)
def test_an_index_or_a_tag_is_never_the_word(other: str, tmp_path: Path) -> None:
    path = tmp_path / "columns.txt"
    path.write_text(OTHER[other])
    columns = ["word", "pos", "chunk", "ner"][: 3 if other == "tags first" else 4]

    assert read_head(path, columns)[1] == []
    with pytest.raises(ConfigurationError, match="the columns .*word.*, but not "):
        sentences(tmp_path, OTHER[other], columns)
    assert sentences(tmp_path, OTHER[other], None)[0][1]["word"][:2] == ["Marta", "left"]


def test_a_file_to_be_tagged_may_have_O_everywhere(tmp_path: Path) -> None:
    path = tmp_path / "columns.txt"
    path.write_text("Marta\tO\nleft\tO\n\nHe\tO\ncame\tO\n")

    assert has_span_tags(path)


# What is refused whatever the columns are, and the message.
ODD = [
    ("Marta\tO\n\tO\n", ":2: there is no word in the column word: ' O'; write it, or remove"),
    ("Marta\tO\n[WORD]\tO\n", ":2: a skeleton has [WORD] in place of the words: put the words"),
    ("Marta O\n\n# Lists\nleft O\n", ":3: '# Lists' may be a comment, or the word # with a tag"),
    ("10 000\tO\nleft\tO\nleft O\n", ":3: expected 2 columns (word tag), separated by tabs, but"),
    (
        "word pos tag x\nMarta N O 1\nleft V O 1\n",
        ": the header names the columns word pos tag x, but not",
    ),
]


@pytest.mark.parametrize(("content", "message"), ODD)
def test_what_could_be_two_things_is_refused(content: str, message: str, tmp_path: Path) -> None:
    columns = ["word", "tag"] if "x" not in content else ["word", "ner"]

    with pytest.raises(ValueError) as error:
        sentences(tmp_path, content, columns)

    assert str(error.value).startswith(f"{tmp_path / 'columns.txt'}{message}")
