import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.commands.own_data.split import (
    Example,
    folds_line,
    read_examples,
    split,
    train_folds,
)
from elmo_tasks.readers.classify import ClassifyReader
from elmo_tasks.readers.tag import TagReader

FIXTURES = Path(__file__).parents[3] / "fixtures"
EXAMPLES = [Example(f"{n}\n", "ab"[n % 3 == 0], str(n % 20)) for n in range(31)]


def test_parts_have_every_example_once_and_as_many_of_each_label() -> None:
    parts = split(EXAMPLES, 4, seed=1)

    assert sorted(example for part in parts for example in part) == sorted(EXAMPLES)
    assert all(part == sorted(part, key=EXAMPLES.index) for part in parts)
    for label in "ab":
        texts = [
            len({example.text for example in part if example.label == label}) for part in parts
        ]
        assert max(texts) - min(texts) <= 2


def test_equal_texts_are_in_the_same_part() -> None:
    parts = split(EXAMPLES, 4, seed=1)

    owners = Counter(text for part in parts for text in {example.text for example in part})
    assert set(owners.values()) == {1}


def test_the_seed_alone_decides() -> None:
    assert split(EXAMPLES, 3, seed=1) == split(EXAMPLES, 3, seed=1) != split(EXAMPLES, 3, seed=2)


def test_rows_of_a_table_become_json_that_the_reader_reads(tmp_path: Path) -> None:
    reader = ClassifyReader()
    examples = list(read_examples(reader, FIXTURES / "classify.csv"))
    lines = "".join(example.lines for example in examples)
    (tmp_path / "all.jsonl").write_text(lines, encoding="utf-8")

    words = [
        [[token.text for token in each["tokens"]], each["label"].label]
        for path in (FIXTURES / "classify.csv", tmp_path / "all.jsonl")
        for each in reader.read(path)
    ]

    assert words[:10] == words[10:]
    assert [example.label for example in examples] == [label for _, label in words[:10]]


@pytest.mark.parametrize("name", ["tag.conllu", "ner.txt"])
def test_sentences_stay_as_they_are(name: str, tmp_path: Path) -> None:
    reader = TagReader(
        column="upos" if name == "tag.conllu" else "tag", columns=["word", "a", "b", "tag"]
    )
    lines = "".join(example.lines for example in read_examples(reader, FIXTURES / name))
    (tmp_path / name).write_text(lines, encoding="utf-8")

    before, after = (
        [(each.words, each.tags) for each in reader.sentences(path)]
        for path in (FIXTURES / name, tmp_path / name)
    )

    assert before == after


ROOT = Path(__file__).parents[3]
FIXTURE = str(ROOT / "fixtures" / "classify.csv")
CONFIG = {
    "dataset_reader": {"type": "elmo_classify"},
    "train_data_path": FIXTURE,
    "validation_data_path": FIXTURE,
    "trainer": {"validation_metric": "+accuracy"},
}


class Trainer:
    """Notes what it trains on; the score is the number of rows for the test, in thousandths."""

    def __init__(self, fails_at: int = 0) -> None:
        self.test: list[list[str]] = []
        self.others: list[list[str]] = []
        self.fails_at = fails_at

    def __call__(self, overrides: dict[str, Any], training: Path) -> None:
        assert not training.exists()
        training.mkdir(parents=True)
        if len(self.test) + 1 == self.fails_at:
            raise KeyboardInterrupt
        assert overrides["evaluate_on_test"]
        train, dev, test = (
            Path(overrides[f"{name}_data_path"]).read_text(encoding="utf-8").splitlines()
            for name in ("train", "validation", "test")
        )
        assert dev and not set(train) & set(dev)
        self.others.append(train + dev)
        self.test.append(test)
        metrics = {"best_validation_accuracy": 1.0, "test_accuracy": len(test) / 1000}
        (training / "metrics.json").write_text(json.dumps(metrics))


def test_each_row_is_in_the_test_data_of_one_fold_and_chooses_no_epoch_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    trainer = Trainer()

    scores = train_folds(CONFIG, tmp_path / "folds", 3, trainer)

    # The file is both, so that each row is there twice, in the same fold.
    held_out = [line for fold in trainer.test for line in fold]
    assert len(held_out) == 20 and len(set(held_out)) == 10
    assert all(len(set(fold)) * 2 == len(fold) for fold in trainer.test)
    for others, test in zip(trainer.others, trainer.test):
        assert not set(others) & set(test) and len(others) + len(test) == 20
    assert scores == [len(fold) / 1000 for fold in trainer.test]
    assert sorted(path.name for path in (tmp_path / "folds").iterdir()) == [
        "1.json",
        "2.json",
        "3.json",
    ]
    first, second, _ = capsys.readouterr().out.splitlines()
    assert first == "Training 2 of 4, without fold 1."
    assert second.startswith("Training 3 of 4, without fold 2, about 0 s left")


def test_folds_go_on_after_an_interruption(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        train_folds(CONFIG, tmp_path, 3, Trainer(fails_at=2))
    trainer, whole = Trainer(), Trainer()

    scores = train_folds(CONFIG, tmp_path, 3, trainer)

    assert len(trainer.test) == 2
    assert scores == train_folds(CONFIG, tmp_path / "whole", 3, whole)
    assert trainer.test == whole.test[1:]


def test_the_mean_and_the_deviation_are_said() -> None:
    line = folds_line("accuracy", [0.7, 0.8, 0.9])

    assert line == "accuracy in 3 folds: 80.0 ± 10.0 (70.0, 80.0, 90.0)"
