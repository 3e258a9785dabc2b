import gzip
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


def test_json_lines_are_read_whole_or_by_their_fold(tmp_path: Path) -> None:
    source = tmp_path / "imdb.jsonl.gz"
    reviews = [
        {"label": "pos", "text": "Warm<br />and wise.", "fold": "train"},
        {"label": "neg", "text": "Flat.", "fold": "val"},
    ]
    with gzip.open(source, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(review) + "\n" for review in reviews)
    lines = tmp_path / "reviews.jsonl"

    assert convert(source, lines) == 2
    assert convert(source, lines, "train") == 1

    (line,) = lines.read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {"text": "Warm and wise.", "label": "pos"}


def test_every_fifth_review_of_a_folder_is_for_validation(tmp_path: Path) -> None:
    for label in ("neg", "pos"):
        (tmp_path / "train" / label).mkdir(parents=True)
        for index in range(10):
            path = tmp_path / "train" / label / f"{index}_1.txt"
            path.write_text(f"{label} {index}", encoding="utf-8")
    lines = {fold: tmp_path / f"{fold}.jsonl" for fold in ("train", "val")}

    counts = {fold: convert(tmp_path / "train", path, fold) for fold, path in lines.items()}

    assert counts == {"train": 16, "val": 4}
    texts = [
        json.loads(line)["text"]
        for path in lines.values()
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    assert sorted(texts) == sorted(
        f"{label} {index}" for label in ("neg", "pos") for index in range(10)
    )


@pytest.mark.parametrize(
    ("line", "fold", "complaint"),
    [
        ("{", None, ":1: not JSON"),
        ('{"label": "pos"}', None, ":1: expected an object with texts label, text"),
        (
            '{"label": "pos", "text": "A"}',
            "val",
            ":1: expected an object with texts label, text, fold",
        ),
        (
            '{"label": "pos", "text": "A", "fold": "train"}',
            "val",
            ": there is no review of fold val",
        ),
    ],
)
def test_json_lines_that_cannot_be_read_are_refused(
    line: str, fold: str | None, complaint: str, tmp_path: Path
) -> None:
    source = tmp_path / "reviews.jsonl"
    source.write_text(f"{line}\n", encoding="utf-8")

    with pytest.raises(ValueError) as caught:
        convert(source, tmp_path / "made.jsonl", fold)

    assert str(caught.value).startswith(f"{source}{complaint}")
    assert not (tmp_path / "made.jsonl").exists()


def test_a_fold_of_a_table_and_a_folder_without_reviews_are_refused(
    table: Path, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="--fold is for JSON lines and folders"):
        convert(table, tmp_path / "made.jsonl", "val")
    with pytest.raises(ValueError, match=r"neg: expected reviews in files \*\.txt, found none"):
        convert(tmp_path, tmp_path / "made.jsonl")


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
