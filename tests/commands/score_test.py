import csv
import gzip
import io
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks import console
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.language_model.scoring.score_text import ScoreSettings
from tests.helpers.language_models import SENTENCES, written_model
from tests.helpers.reference_bilm import FIXTURE_FILES

Run = Any


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def model(folder: Path) -> LanguageModel:
    return LanguageModel.from_pretrained(folder)


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(SENTENCES) + "\n")
    return path


@pytest.fixture
def score(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, folder: Path) -> Run:
    """Runs `elmo-tasks score`; returns what it prints to the standard output and error."""

    def run(*args: object) -> tuple[str, str]:
        capsys.readouterr()
        command = ["elmo-tasks", "score", "--bilm", str(folder), *map(str, args)]
        monkeypatch.setattr(sys, "argv", command)
        console.main()
        return capsys.readouterr()

    return run


def rows_of(out: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(out), delimiter="\t", quoting=csv.QUOTE_NONE))


def bits(log_prob: float) -> Any:
    return pytest.approx(-log_prob / math.log(2), abs=1e-3)


@pytest.mark.parametrize("options", [(), pytest.param(("--processes", 2), marks=pytest.mark.fork)])
def test_each_token_has_a_line_with_its_bits(
    score: Run, text: Path, model: LanguageModel, options: tuple[object, ...]
) -> None:
    out, err = score(text, *options)

    rows = rows_of(out)
    expected = model.score(SENTENCES)
    assert len(rows) == sum(len(each.tokens) for each in expected)
    for row in rows:
        sentence, position = int(row["sentence"]), int(row["position"])
        found = expected[sentence]
        assert row["token"] == found.tokens[position]
        assert json.loads(row["known"]) == found.known[position]
        assert float(row["forward"]) == bits(found.forward[position])
        assert float(row["backward"]) == bits(found.backward[position])
    total = model.perplexity(SENTENCES)
    assert f"perplexity {total.mean:.4g} (forward {total.forward:.4g}" in err
    assert "4 unknown" in err and "over 15 words of" in err


def test_sums_have_a_line_a_sentence(score: Run, text: Path, model: LanguageModel) -> None:
    rows = rows_of(score(text, "--sums")[0])

    for row, found in zip(rows, model.score(SENTENCES), strict=True):
        assert int(row["tokens"]) == len(found.tokens)
        assert int(row["unknown"]) == found.known.count(False)
        assert float(row["forward_bits"]) == bits(found.forward_sum)
        assert float(row["backward_bits"]) == bits(found.backward_sum)
        mean = float(row["forward_bits"]) / (len(found.tokens) + 1)
        assert float(row["forward_mean"]) == pytest.approx(mean, abs=1e-3)
        assert float(row["forward_perplexity"]) == pytest.approx(2**mean, rel=1e-3)


@pytest.mark.parametrize("options", [(), pytest.param(("--processes", 2), marks=pytest.mark.fork)])
def test_sums_join_the_rows_of_their_tables(
    score: Run, tmp_path: Path, options: tuple[object, ...]
) -> None:
    paths = [tmp_path / "one.csv", tmp_path / "two.csv"]
    texts = ['"The dog\nsaw a cat . A cat barks ."', "It is old .", "The house ."]
    paths[0].write_text("id,text\n" + "".join(f"{i},{text}\n" for i, text in enumerate(texts)))
    paths[1].write_text("id,text\n7,A cat .\n")

    alone = rows_of(score(paths[0], "--sums", *options)[0])
    split = rows_of(score(*paths, "--sums", "--split", *options)[0])

    assert [(row["line"], row["row"]) for row in alone] == [("2", "0"), ("4", "1"), ("5", "2")]
    places = [(Path(row["file"]).name, row["line"], row["row"]) for row in split]
    assert places[:2] == [("one.csv", "2", "0")] * 2 and places[-1] == ("two.csv", "2", "0")
    assert [row for *_, row in places[:-1]] == sorted(row for *_, row in places[:-1])


@pytest.mark.fork
def test_processes_have_the_context_of_their_sentences(
    score: Run, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elmo_tasks.elmo.sentence_layers.WINDOW_TOKENS", 12)

    alone = rows_of(score(text, "--context", 2)[0])
    found = rows_of(score(text, "--context", 2, "--processes", 2)[0])

    for one, other in zip(found, alone, strict=True):
        assert one["token"] == other["token"]
        assert float(one["backward"]) == pytest.approx(float(other["backward"]), abs=1e-3)


DOCUMENTS = [
    "The dog saw a cat. A cat barks.",
    "The old dog sleeps. It is gone.",
    "A house is old.",
]


@pytest.mark.parametrize("kind", ["empty lines", "rows", "JSON lines", "files"])
@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.fork)])
def test_no_context_reaches_over_the_end_of_a_document(
    score: Run, tmp_path: Path, model: LanguageModel, kind: str, processes: int
) -> None:
    text = tmp_path / "text.txt"
    paths = [text]
    if kind == "rows":
        paths = [text.with_suffix(".csv")]
        paths[0].write_text("text\n" + "".join(f'"{line}"\n' for line in DOCUMENTS))
    elif kind == "JSON lines":
        paths = [text.with_suffix(".jsonl")]
        paths[0].write_text("".join(json.dumps({"text": line}) + "\n" for line in DOCUMENTS))
    elif kind == "files":
        paths = [tmp_path / f"{index}.txt" for index in range(3)]
        for path, line in zip(paths, DOCUMENTS):
            path.write_text(line)
    else:
        # A document may have several lines.
        text.write_text("\n\n \n".join(DOCUMENTS).replace(". A cat", ".\nA cat") + "\n")
    options = ["--split", "--sums", "--context", 3, "--processes", processes]

    rows = rows_of(score(*paths, *options)[0])

    expected = [
        found
        for document in DOCUMENTS
        for found in model.iterate(document.replace(".", " .\n").splitlines(), context=3)
    ]
    assert [row["sentence"] for row in rows] == ["0", "1", "2", "3", "4"]
    for row, found in zip(rows, expected, strict=True):
        assert float(row["forward_bits"]) == bits(found.forward_sum)
        assert float(row["backward_bits"]) == bits(found.backward_sum)


def test_pandas_reads_all_tokens_as_the_page_says(
    score: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pandas = pytest.importorskip("pandas")
    tokens = ["NA", "null", "None", "nan", "N/A", '"', "1e5", "#N/A", "the", "n/a", "<NA>"]
    (tmp_path / "text.txt").write_text(" ".join(tokens) + "\n")
    score(tmp_path / "text.txt", "--output", tmp_path / "scores.tsv")
    page = Path(__file__).parents[2] / "docs" / "language_model.md"
    call = re.search(r"`(pandas\.read_csv\([^)]+\))`", page.read_text(encoding="utf-8"))
    assert call is not None
    monkeypatch.chdir(tmp_path)

    table = eval(call[1], {"pandas": pandas})

    assert table["token"].tolist() == tokens


def test_a_word_with_punctuation_has_one_number(
    score: Run, tmp_path: Path, model: LanguageModel
) -> None:
    (tmp_path / "words.txt").write_text("The dog, (a cat) barks.\n")

    rows = rows_of(score(tmp_path / "words.txt", "--whole-words")[0])

    [expected] = model.score(["The dog , ( a cat ) barks ."])
    assert [row["token"] for row in rows] == ["The", "dog,", "(a", "cat)", "barks."]
    pieces = [-each / math.log(2) for each in expected.forward.tolist()]
    starts = [0, 1, 3, 5, 7, 9]
    sums = [sum(pieces[start:stop]) for start, stop in zip(starts, starts[1:])]
    assert [float(row["forward"]) for row in rows] == pytest.approx(sums, abs=1e-3)


def test_a_line_without_tokens_has_no_score_and_a_long_token_has_one(
    score: Run, tmp_path: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text(f"the dog\n\n a {'x' * 10_000} barks\n\n")

    out, err = score(text, "--sums")

    assert [row["tokens"] for row in rows_of(out)] == ["2", "0", "3", "0"]
    assert "2 sentences, 5 tokens, 1 unknown" in err


def test_an_output_has_what_would_be_printed_and_appears_whole(
    score: Run, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out.tsv"
    output.write_text("an earlier run")

    with monkeypatch.context() as patch:
        patch.setattr(ScoreSettings, "lines", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            score(text, "--output", output, "--force")
    assert output.read_text() == "an earlier run"

    assert score(text, "--output", output, "--force")[0] == ""
    assert output.read_text() == score(text)[0]
    assert {path.name for path in tmp_path.iterdir()} == {"text.txt", "out.tsv"}

    score(text, "--output", tmp_path / "out.tsv.gz")
    assert gzip.decompress((tmp_path / "out.tsv.gz").read_bytes()) == output.read_bytes()


def test_a_bilm_without_its_softmax_is_refused(score: Run, text: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        score(text, "--bilm", FIXTURE_FILES[0].parent)

    assert "has no softmax" in str(ended.value.code)
