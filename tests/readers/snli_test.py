import json
import logging
from pathlib import Path
from typing import Any

import pytest
from allennlp.data import Instance
from allennlp.data.tokenizers import WhitespaceTokenizer

from elmo_tasks.readers.snli import LABELS, SnliReader

FIXTURES = Path(__file__).parents[2] / "fixtures"
SHORT = FIXTURES / "snli.jsonl"
OFFICIAL = FIXTURES / "snli.official.jsonl"
COLUMNS = FIXTURES / "snli.official.tsv"


def words(instance: Instance) -> tuple[list[str], list[str]]:
    premise, hypothesis = instance["premise"].tokens, instance["hypothesis"].tokens
    return [token.text for token in premise], [token.text for token in hypothesis]


def read(path: Path, **arguments: Any) -> list[tuple[list[str], list[str], str]]:
    instances = SnliReader(**arguments).read(path)
    return [(*words(instance), instance["label"].label) for instance in instances]


def test_pairs_are_read_with_their_label() -> None:
    instances = list(SnliReader().read(SHORT))

    assert [instance["label"].label for instance in instances] == list(LABELS) * 3

    premise, hypothesis = words(instances[1])

    assert premise == ["A", "girl", "in", "a", "yellow", "raincoat", "feeds", "two", "ducks", "."]
    assert hypothesis == ["The", "ducks", "have", "n't", "eaten", "today", "."]
    assert instances[1]["metadata"].metadata == {
        "premise_tokens": premise,
        "hypothesis_tokens": hypothesis,
        "line": 2,
    }


def test_all_forms_of_the_same_pairs_are_read_alike() -> None:
    assert read(OFFICIAL) == read(COLUMNS) == read(SHORT)


def test_pairs_without_a_gold_label_are_dropped_and_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, logger="elmo_tasks"):
        for path, dropped in ((OFFICIAL, 1), (COLUMNS, 1), (SHORT, 0)):
            assert len(read(path)) == 9
            assert len(read(path, max_instances=8)) == 8
            assert f"{path}: dropped {dropped} pairs without a gold label" in caplog.text


def test_a_tokenizer_cuts_the_texts() -> None:
    assert read(OFFICIAL, tokenizer=WhitespaceTokenizer())[0][0][-1] == "ducks."


PAIR: dict[str, Any] = {
    "sentence1": "Two dogs run.",
    "sentence2": "The dogs sleep.",
    "gold_label": "neutral",
}


def test_the_official_table_is_known_without_a_suffix(tmp_path: Path) -> None:
    path = tmp_path / "snli_1.0_train.txt"
    path.write_bytes(COLUMNS.read_bytes())

    assert read(path) == read(COLUMNS)


def test_pairs_with_gaps_are_left_out_and_labels_may_have_capitals(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "a.json"
    rows: list[dict[str, Any]] = [
        {},
        {"sentence2": " "},
        {"gold_label": None},
        {"gold_label": "NEUTRAL"},
    ]
    path.write_text(json.dumps([PAIR | row for row in rows], indent=1))

    with caplog.at_level(logging.WARNING, logger="elmo_tasks"):
        assert [label for *_, label in read(path)] == ["neutral", "neutral"]
    assert "left out 1 row without a text (line 7), 1 row without a label (line 12)" in caplog.text
