import json
import sys
from pathlib import Path

import pytest
from allennlp.data import DatasetReader

from scripts.imdb_json import convert, main

TABLE = (
    "Sentiment\tText\n"
    "Negative\tToo long.<br /><br />Far too  long.\n"
    'Positive\t"A ""real"" gem,\tzo\u00eb says."\n'
    'Positive\t"In two\nlines."\n'
)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "reviews.tsv"
    path.write_text(TABLE, encoding="utf-8")
    return path


def test_a_review_is_a_line_of_json(table: Path, tmp_path: Path) -> None:
    lines = tmp_path / "made" / "reviews.jsonl"

    num_reviews = convert(table, lines)

    assert num_reviews == 3
    assert [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()] == [
        {"text": "Too long. Far too long.", "label": "Negative"},
        {"text": 'A "real" gem, zo\u00eb says.', "label": "Positive"},
        {"text": "In two lines.", "label": "Positive"},
    ]


def test_allennlps_reader_reads_it(table: Path, tmp_path: Path) -> None:
    lines = tmp_path / "reviews.jsonl"
    convert(table, lines)
    reader = DatasetReader.by_name("text_classification_json")(
        tokenizer=DatasetReader.by_name("elmo_sst")().tokenizer
    )

    instances = list(reader.read(str(lines)))

    assert [instance["label"].label for instance in instances] == [
        "Negative",
        "Positive",
        "Positive",
    ]
    words = [token.text for token in instances[0]["tokens"].tokens]
    assert words == "Too long . Far too long .".split()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "1: expected the header Sentiment Text, not ''"),
        (
            "Label\tText\nNegative\tBad.\n",
            "1: expected the header Sentiment Text, not 'Label Text'",
        ),
        ("Sentiment\tText\n", "1: expected reviews after the header, but there are none"),
        ("Sentiment\tText\nNegative Bad.\n", "2: expected a sentiment, a tab and a text, not "),
        ("Sentiment\tText\nNegative\tBad.\nPositive\t\n", "3: expected a sentiment, a tab and a"),
        ("Sentiment\tText\nPositive\t<br /> <br />\n", "2: expected a sentiment, a tab and a text"),
        ("Sentiment\tText\nNegative\tBad.\tWorse.\n", "2: expected a sentiment, a tab and a text"),
        ('Sentiment\tText\nNegative\t"Bad" film.\n', "2: "),
        ("Sentiment\tText\nNegative\tB\udcf6d.\n", "2: not UTF-8"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_with_the_line_and_nothing_is_written(
    text: str, complaint: str, tmp_path: Path
) -> None:
    table = tmp_path / "reviews.tsv"
    table.write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(ValueError) as caught:
        convert(table, tmp_path / "reviews.jsonl")

    assert str(caught.value).startswith(f"{table}:{complaint}")
    assert [path.name for path in tmp_path.iterdir()] == ["reviews.tsv"]


def test_the_script_says_in_a_line_what_it_did_or_what_is_wrong(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    lines = tmp_path / "reviews.jsonl"

    monkeypatch.setattr(sys, "argv", ["imdb_json.py", str(table), str(lines)])
    main()

    assert capsys.readouterr().out == f"{lines}: 3 reviews\n"

    monkeypatch.setattr(sys, "argv", ["imdb_json.py", str(tmp_path / "missing.tsv"), str(lines)])
    with pytest.raises(SystemExit, match="error: .*missing.tsv"):
        main()
