import gzip
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import pytest
import torch

from benchmarks.knowledge import classify, glove, ner, pairs, senses
from benchmarks.knowledge.__main__ import main
from benchmarks.knowledge.layers import MEAN, SIDE_BY_SIDE
from elmo_tasks.elmo import ElmoEncoder

FIXTURES = Path(__file__).parents[2] / "fixtures"
BILM = FIXTURES / "bilm"
GOOD = "a warm {} film ."
BAD = "a dull {} story ."
KINDS = {"good": GOOD, "bad": BAD}
TAGGED = "The\tDET\tDT\nboat\tNOUN\tNN\nleft\tVERB\tVBD\n\nBanks\tNOUN\tNNS\nlend\tVERB\tVBP\n\n"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Writes small files with the names of the data."""
    glove.read_glove.cache_clear()
    folder = tmp_path / "data"
    for suffix, line in {"pos": GOOD, "neg": BAD}.items():
        reviews = folder / f"movie-reviews/rt-polarity.no-sst-eval.{suffix}"
        reviews.parent.mkdir(parents=True, exist_ok=True)
        reviews.write_text("\n".join(line.format(n) for n in range(15)) + "\n", encoding="utf-8")
    rows = [f"{label}\t{line.format(n)}\n" for n in range(15) for label, line in KINDS.items()]
    (folder / "classify").mkdir()
    for name in ("cr", "trec.train"):
        (folder / f"classify/{name}.tsv").write_text("".join(rows), encoding="utf-8")
    whole = folder / "movie-reviews/imdb_cad_orig_train.tsv"
    whole.write_text("Sentiment\tText\n" + "".join(rows), encoding="utf-8")
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
    # There are 24 other texts of each kind.
    monkeypatch.setattr(classify, "LABELS", (20, 25))
    kinds = {name: kind._replace(num_unseen=6) for name, kind in classify.KINDS.items()}
    monkeypatch.setattr(classify, "KINDS", kinds)
    kept = tmp_path / "knowledge.json"
    arguments = [str(BILM), "--data", str(data), "--results", str(kept)]
    arguments += ["--only", "classify", "pos"]
    monkeypatch.setattr(sys, "argv", ["knowledge", *arguments])

    main()
    first = capsys.readouterr()
    main()
    second = capsys.readouterr()

    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in first.out.splitlines()]
    rows = {cells[0]: cells[1:] for cells in lines if cells}
    # A word or its vector tells the two kinds apart; each token of the dev part is in the other.
    for kind in [*classify.KINDS, "mean of the three"]:
        without = [rows[f"{kind}, 20 labels: {name}"] for name in ("TF-IDF", "mean of GloVe")]
        assert without == 2 * [["100.0 ± 0.0", ""]]
        for name in (MEAN, f"TF-IDF beside {MEAN}", f"TF-IDF and {MEAN}, mean probability"):
            nothing, accuracy = rows[f"{kind}, 20 labels: {name}"]
            assert nothing == "" and float(accuracy.split()[0]) > 90
    assert "25 labels" not in first.out
    assert rows["parts of speech: most frequent of each word"] == ["100.0", ""]
    assert float(rows[f"parts of speech: {SIDE_BY_SIDE}"][1]) >= 20
    assert "classify ..." in first.err and "pos ..." in first.err
    assert "..." not in second.err and second.out == first.out


def test_words_get_the_sense_of_the_nearest_mean_or_the_first_one(tmp_path: Path) -> None:
    known = "The\t-\t-\nbank\tbank.n\t{}\nfell\t-\t-\n\n"
    unknown = "A\t-\t-\nfilm\tfilm.n\tfilm%1\n\n"
    (tmp_path / "senses").mkdir()
    train, dev, first = (
        tmp_path / "senses" / name
        for name in ("semcor.train.txt", "semeval2007.txt", "wordnet30.first_sense.tsv")
    )
    train.write_text(2 * known.format("bank%1") + known.format("bank%2").replace("fell", "lent"))
    dev.write_text(known.format("bank%2|bank%3").replace("fell", "lent") + unknown)
    first.write_text("film.n\tfilm%1\nbank.n\tbank%2\n")

    found = senses.measure(ElmoEncoder.from_pretrained(BILM), tmp_path)

    # x^LM of a word does not depend on its sentence, so that the more frequent sense is nearest.
    assert found == {"senses: tokens": [50], "senses: LSTM 1": [100], "senses: LSTM 2": [100]}
    assert senses.baselines(tmp_path) == {
        "senses: first in WordNet": [100],
        "senses: most frequent of each lemma": [50],
    }


def test_a_pair_is_found_if_the_same_meaning_is_nearer_than_both_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The layers of a sentence of one word.
    money, credit, river = [1.0, 0.0], [1.0, 0.1], [0.0, 1.0]
    given = iter([money, credit, river, money, river, credit, river, money, credit])
    encoder: Any = SimpleNamespace(
        layers=lambda sentences: [torch.tensor([next(given)]).repeat(3, 1, 1) for _ in sentences]
    )
    monkeypatch.setattr(pairs, "FILE", tmp_path / "pairs.tsv")
    pairs.FILE.write_text(3 * "bank\tbank\tbank\tbank\n")

    found = pairs.measure(encoder, tmp_path)

    third = [pytest.approx(100 / 3)]
    assert list(found.values()) == 3 * [third] and list(pairs.baselines(tmp_path).values()) == [
        third
    ]


def test_a_tagger_learns_entities_that_its_vectors_tell(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ner, "_EPOCHS", 12)
    (data / "conll2003").mkdir()
    for name in ("eng.train", "eng.testa"):
        lines = "Ann NNP I-NP I-PER\nleft VBD I-VP O\nold JJ I-NP I-LOC\nRome NNP I-NP I-LOC\n\n"
        (data / "conll2003" / name).write_text(40 * lines)

    (learnt,) = ner.measure(ElmoEncoder.from_pretrained(BILM), data).values()
    (known,) = ner.baselines(data).values()

    assert learnt == [100, 100]
    # Capitals tell Ann and Rome from the others, but not "old".
    assert len(known) == 2 and min(known) > 0


def test_the_share_of_glove_is_that_of_words_that_the_map_was_not_fitted_to(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glove, "RANKS", (200, 400))
    encoder = ElmoEncoder.from_pretrained(BILM)
    words = [f"{n}x{n % 7}" for n in range(400)]
    tokens = encoder([words])["word_emb"][0].numpy()
    random = numpy.random.default_rng(0)
    vectors = tokens @ random.normal(size=(16, 3))
    vectors[200:] = random.normal(size=(200, 3))
    rows = [" ".join([word, *map(str, row)]) for word, row in zip(words, vectors)]
    with gzip.open(data / "vectors/glove.6B.100d.120k.txt.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(rows) + "\n")

    found = glove.measure(encoder, data)

    assert found["GloVe explained, ranks 1 to 200"][0] > 90
    assert found["GloVe explained, ranks 201 to 400"][0] < 10
