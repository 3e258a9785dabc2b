"""Tests that `predict` reads the files that a model is trained on, in the names of their texts."""

import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.data import DatasetReader

from elmo_tasks.predictors.label_predictor import SnliPredictor, SstPredictor
from elmo_tasks.predictors.squad import SquadPredictor
from elmo_tasks.predictors.text_inputs import read_inputs
from elmo_tasks.predictors.text_predictor import TextPredictor
from elmo_tasks.readers.squad_file import read_squad
from tests.helpers.configs import ROOT


def inputs_of(path: Path, kind: type[TextPredictor]) -> list[Any]:
    predictor = kind.__new__(kind)
    predictor._dataset_reader = DatasetReader()
    return [each.values for each in read_inputs(str(path), predictor).records]


def test_the_texts_of_snli_have_our_names(tmp_path: Path) -> None:
    rows = [
        {"gold_label": "neutral", "sentence1": "A man sleeps.", "sentence2": "He dreams."},
        {"premise": "a", "sentence1": "b", "hypothesis": "c"},
    ]
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    table = tmp_path / "pairs.tsv"
    table.write_text("gold_label\tsentence2\tsentence1\nneutral\tHe dreams.\tA man sleeps.\n")

    expected = {"premise": "A man sleeps.", "hypothesis": "He dreams.", "gold_label": "neutral"}
    assert inputs_of(path, SnliPredictor) == [expected, rows[1]]
    assert inputs_of(table, SnliPredictor) == [expected]


@pytest.mark.parametrize("indent", [None, 1])
def test_the_questions_of_squad_are_inputs(tmp_path: Path, indent: int | None) -> None:
    original = ROOT / "fixtures" / "squad.json"
    path = tmp_path / "squad.json"
    path.write_text(json.dumps(json.loads(original.read_text()), indent=indent))

    found = inputs_of(path, SquadPredictor)

    assert len(found) > 3
    assert found == [
        {"id": each.id, "passage": each.passage, "question": each.question}
        for each in read_squad(original)
    ]


def test_the_trees_of_sst_are_their_words(tmp_path: Path) -> None:
    path = tmp_path / "trees.txt"
    path.write_text("(3 (2 It) (3 (2 's) (3 good)))\n\n(1 (2 -LRB-) (1 bad))\n")
    assert inputs_of(path, SstPredictor) == [
        {"tokens": ["It", "'s", "good"]},
        {"tokens": ["(", "bad"]},
    ]

    for other_tree in ("(3\n  (2 It)\n  (3 good))\n", "(ROOT (3 (2 It) (3 good)))\n"):
        path.write_text(other_tree)
        with pytest.raises(ValueError, match=f"{path}:1: .*tree|{path}:1: .*a node such as"):
            inputs_of(path, SstPredictor)

    path.write_text("(3 of 4) people like it .\n(3 (2 It) (3 good))\n")
    assert [each["sentence"][:3] for each in inputs_of(path, SstPredictor)] == ["(3 ", "(3 "]


def test_a_context_is_a_passage_and_a_bad_line_loses_no_other(tmp_path: Path) -> None:
    good = {"id": "7", "context": "Rain fell.", "question": "What?", "answers": {"text": []}}
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps(good) + '\n{"passage": "a"\n')

    inputs, bad = inputs_of(path, SquadPredictor)

    assert inputs == {
        "id": "7",
        "passage": "Rain fell.",
        "question": "What?",
        "answers": {"text": []},
    }
    assert bad == {}
