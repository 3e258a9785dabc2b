import gzip
import lzma
import re
import sys
from pathlib import Path

import pytest

from benchmarks import loud_text
from benchmarks.knowledge import glove
from elmo_tasks.sklearn.words import words_of

BILM = Path(__file__).parents[2] / "fixtures" / "bilm"
# Words apart from their smileys, which are taken out or left in.
SMILING = "we left at {} :)\nwe are stuck at {} again :(\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Writes small files with the names of the data."""
    glove.read_glove.cache_clear()
    for folder in ("classify", "corpus", "vectors"):
        (tmp_path / folder).mkdir()
    rows = "".join(f"1\ta warm {n} film\n0\ta dull {n} story\n" for n in range(15))
    for name in ("cr", "trec.train"):
        (tmp_path / f"classify/{name}.tsv").write_text(rows, encoding="utf-8")
    with lzma.open(tmp_path / "corpus/opinions-free.train.txt.xz", "wt", encoding="utf-8") as file:
        file.writelines(SMILING.format(n, n) for n in range(15))
    with lzma.open(tmp_path / "corpus/opinions-other.train.txt.xz", "wt", encoding="utf-8") as file:
        file.write("both of them :) :(\nnone of them\ntwo words :)\nI like # tags a lot <3\n")
    with gzip.open(tmp_path / "vectors/glove.6B.100d.120k.txt.gz", "wt", encoding="utf-8") as file:
        file.write(f"warm{50 * ' 1 0'}\ndull{50 * ' 0 1'}\nstuck{50 * ' 1 1'}\n")
    return tmp_path


def test_one_table_has_all_ways_to_cut_and_what_was_measured_is_not_measured_again(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    for name, number in {"NUM_LABELS": 15, "NUM_UNSEEN": 10, "NUM_TEXTS": 30}.items():
        monkeypatch.setattr(loud_text, name, number)
    arguments = [str(BILM), "--data", str(data), "--results", str(data / "kept.json")]
    monkeypatch.setattr(sys, "argv", ["loud_text", *arguments])

    loud_text.main()
    first = capsys.readouterr()
    loud_text.main()
    second = capsys.readouterr()

    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in first.out.splitlines()]
    rows = {cells[0]: cells[1:] for cells in lines if cells}
    assert {*loud_text.CUTS, "mean of GloVe", "TF-IDF"} <= rows.keys()
    # Columns of loud and quiet reviews and questions, and of sentences without and with smileys.
    assert rows["TF-IDF"][1::2] == 2 * ["100.0 ± 0.0"] + ["100.0 ± 0.0"]
    assert all(float(cell.split()[0]) > 60 for cell in rows["words"])
    assert "words ..." in first.err
    assert "..." not in second.err and second.out == first.out


def test_smileys_say_which_sentences_are_happy(data: Path) -> None:
    texts, labels = loud_text.read_smileys(data)

    assert sorted(labels) == ["happy"] * 15 + ["sad"] * 15
    for text, label in zip(texts, labels):
        assert (label == "sad") == ("again :(" in text)
        assert re.fullmatch(r"we (left|are stuck) at \d+ .*|I like #tags a lot <3", text)


def test_loud_text_has_the_same_words_in_other_forms() -> None:
    text = "the quick brown foxes have jumped over lazy dogs , of course"

    drawn = [loud_text.loud(text, seed) for seed in range(200)]

    assert drawn[0] == loud_text.loud(text, 0)
    for loud in drawn:
        words = loud.split()
        plain = [word.lstrip("#").lower() for word in words if not word.startswith("@")]
        assert [re.sub(r"(.)\1\1+", r"\1", word) for word in plain] == text.split()
    assert any("@" in loud for loud in drawn) and any("#" in loud for loud in drawn)
    assert any(loud.isupper() for loud in drawn)


def test_ways_to_cut_differ_where_a_text_is_loud() -> None:
    text = "@tom sooo #GREAT :)"
    cuts = {name: cut(text) for name, cut in loud_text.CUTS.items()}

    assert cuts["words"] == words_of(text)
    assert cuts["a smiley one token"][-1] == ":)"
    assert "#GREAT" in cuts["`#word` one token"] and "#" not in cuts["`#` left out"]
    assert cuts["`@name` one token"][0] == "@tom"
    assert cuts["`@name` replaced by John"][0] == "John"
    assert "soo" in cuts["repeated letters twice"] and "so" in cuts["repeated letters once"]
    assert {"so", "great"} <= {*cuts["both: `ElmoFeatures`"]}
