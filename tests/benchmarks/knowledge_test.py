import gzip
import json
import sys
from pathlib import Path

import pytest
import torch

from benchmarks.knowledge import classify
from benchmarks.knowledge.__main__ import main
from benchmarks.knowledge.layers import MEAN, SIDE_BY_SIDE, views
from benchmarks.knowledge.results import Results

BILM = Path(__file__).parents[2] / "fixtures" / "bilm"
GOOD = "a warm {} film ."
BAD = "a dull {} story ."
TAGGED = "The\tDET\tDT\nboat\tNOUN\tNN\nleft\tVERB\tVBD\n\nBanks\tNOUN\tNNS\nlend\tVERB\tVBP\n\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Writes small files with the names of the data."""
    folder = tmp_path / "data"
    for suffix, line in {"pos": GOOD, "neg": BAD}.items():
        reviews = folder / f"movie-reviews/rt-polarity.no-sst-eval.{suffix}"
        reviews.parent.mkdir(parents=True, exist_ok=True)
        reviews.write_text("\n".join(line.format(n) for n in range(15)) + "\n", encoding="utf-8")
    (folder / "pos").mkdir()
    for part in ("train", "dev"):
        (folder / f"pos/ewt.{part}.txt").write_text(TAGGED, encoding="utf-8")
    (folder / "vectors").mkdir()
    with gzip.open(folder / "vectors/glove.6B.100d.120k.txt.gz", "wt", encoding="utf-8") as file:
        file.write(f"warm{50 * ' 1 0'}\ndull{50 * ' 0 1'}\nfilm{50 * ' 1 1'}\n")
    return folder


def test_one_table_has_all_measures_and_what_was_measured_is_not_measured_again(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setattr(classify, "LABELS", (20,))
    monkeypatch.setattr(classify, "NUM_UNSEEN", 6)
    kept = tmp_path / "knowledge.json"
    arguments = [str(BILM), "--data", str(data), "--results", str(kept)]
    monkeypatch.setattr(sys, "argv", ["knowledge", *arguments])

    main()
    first = capsys.readouterr()
    main()
    second = capsys.readouterr()

    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in first.out.splitlines()]
    rows = {cells[0]: cells[1:] for cells in lines if cells}
    # A word or its vector tells the two kinds apart; each token of the dev part is in the other.
    assert rows["film reviews, 20 labels: TF-IDF"] == ["100.0 ± 0.0", ""]
    assert rows["film reviews, 20 labels: mean of GloVe"] == ["100.0 ± 0.0", ""]
    assert rows[f"film reviews, 20 labels: {MEAN}"] == ["", "100.0 ± 0.0"]
    assert rows["parts of speech: most frequent of each word"] == ["100.0", ""]
    assert float(rows[f"parts of speech: {SIDE_BY_SIDE}"][1]) >= 20
    assert "classify ..." in first.err and "pos ..." in first.err
    assert second.err == "" and second.out == first.out


def test_views_are_the_layers_the_layers_side_by_side_and_their_mean() -> None:
    # The first layer has x^LM twice.
    layers = torch.tensor([[[1.0, 2, 1, 2], [3, 4, 5, 6]]])

    found = {name: view.tolist() for name, view in views(layers).items()}

    assert found == {
        "tokens": [[1, 2]],
        "LSTM 1": [[3, 4, 5, 6]],
        SIDE_BY_SIDE: [[1, 2, 3, 4, 5, 6]],
        MEAN: [[2, 3, 3, 4]],
    }


def test_results_are_kept_and_shown_with_their_deviation(tmp_path: Path) -> None:
    path = tmp_path / "knowledge.json"
    Results(path).add("a", "pos", {"x": [1.0, 3.0], "y": [5.0]})

    found = Results(path)

    assert found.has("a", "pos") and not found.has("b", "pos") and not found.has("a", "classify")
    assert found.table({"A": "a", "B": "b"}, ["pos"]).splitlines()[2:] == [
        "| x | 2.0 ± 1.4 |   |",
        "| y |       5.0 |   |",
    ]
    assert json.loads(path.read_text()) == {"a": {"pos": {"x": [1.0, 3.0], "y": [5.0]}}}
