import json
from pathlib import Path

import pytest

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.own_data.tags_of_file import Tags, choose_tags
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer

FIXTURES = Path(__file__).parents[2] / "fixtures"
TOKENIZE = ElmoSpacyTokenizer().tokenize


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (None, Tags("upos", None, False)),
        ("xpos", Tags("xpos", None, False)),
        ("misc", Tags("misc", None, True)),
    ],
)
def test_conllu_has_tags_or_spans_by_what_is_in_the_column(
    column: str | None, expected: Tags
) -> None:
    assert choose_tags(FIXTURES / "tag.conllu", column, TOKENIZE) == expected


def test_the_last_of_unnamed_columns_has_the_tags() -> None:
    columns = ["word", "column_2", "column_3", "tag"]

    assert choose_tags(FIXTURES / "ner.txt", None, TOKENIZE) == Tags("tag", columns, True)
    assert choose_tags(FIXTURES / "ner.txt", "column_2", TOKENIZE) == Tags(
        "column_2", columns, False
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"text": "Rain fell", "meta": [], "spans": [[0, 4, "X"]]}, Tags("spans", None, True)),
        ({"tokens": ["Rain", "fell"], "pos": ["N", "V"]}, Tags("pos", None, False)),
    ],
)
def test_json_has_tags_in_the_field_with_a_list(row: dict, expected: Tags, tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text(json.dumps(row) + "\n")

    assert choose_tags(tmp_path / "in.jsonl", None, TOKENIZE) == expected


@pytest.mark.parametrize(
    ("name", "content", "column", "complaint"),
    [
        ("in.conllu", "1\tRain" + "\t_" * 8, "pos", "has no column pos; did you mean '"),
        ("in.txt", "Rain\n", None, "has one column: expected a word and its tag"),
        ("in.txt", "Rain N\n", "pos", "has no column pos; there are word, tag"),
        ("in.txt", "\n", None, "has no token"),
        ("in.jsonl", '{"text": "Rain"}\n', None, "has no field with a list of tags or spans"),
    ],
)
def test_a_file_without_such_tags_is_refused(
    name: str, content: str, column: str | None, complaint: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(content)

    with pytest.raises(ConfigurationError, match=complaint):
        choose_tags(tmp_path / name, column, TOKENIZE)
