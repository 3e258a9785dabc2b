import json
from pathlib import Path

import pandas
import pytest
from allennlp.predictors import Predictor

from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.models.metrics.squad import f1
from tests.helpers.archives import classifier, make_archive
from tests.helpers.command_line import allennlp, printed_numbers, refusal
from tests.helpers.configs import tiny

DATA = {
    "sst": "fixtures/sst.txt",
    "ner": "fixtures/ner.txt",
    "snli": "fixtures/snli.jsonl",
    "squad": "fixtures/squad.json",
    "srl": "fixtures/srl.gold_conll",
    "coref": "fixtures/coref.gold_conll",
}


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("errors")
    made = {}
    for task in DATA:
        (folder / task).mkdir()
        made[task] = make_archive(folder / task, tiny(task, "baseline"))
    return made


# The model's own name of the score.
SCORES = {
    **{"sst": "accuracy", "snli": "accuracy", "squad": "f1", "coref": "f1-measure-mean"},
    **{"ner": "f1-measure-overall", "srl": "f1-measure-overall"},
}


@pytest.mark.parametrize("task", DATA)
def test_the_score_and_its_parts_are_the_models_own(
    task: str, archives: dict[str, Path], capsys: pytest.CaptureFixture
) -> None:
    report = printed_numbers(capsys, "elmo-errors", archives[task], DATA[task])

    expected = own_metrics(archives[task], DATA[task])
    assert report["score"] == pytest.approx(expected[SCORES[task]])
    if SCORES[task] == "accuracy":
        counts = [count for row in report["confusion"].values() for count in row.values()]
        right = sum(report["confusion"][name][name] for name in report["confusion"])
        assert sum(counts) == report["num_cases"]
        assert right / sum(counts) == pytest.approx(expected["accuracy"])
        for name, each in zip(report["confusion"], report["types"], strict=True):
            right, predicted = report["confusion"][name][name], each["predicted"]
            assert each["type"] == name and each["precision"] == right / max(predicted, 1)
            assert predicted == sum(row[name] for row in report["confusion"].values())
    for each in report["types"] if task in ("ner", "srl") else ():
        assert each["precision"] == pytest.approx(expected[f"precision-{each['type']}"])
        assert each["recall"] == pytest.approx(expected[f"recall-{each['type']}"])
    if task in ("ner", "srl"):
        assert report["types"]
    if task == "squad":
        wrong = report["mistakes"][0]
        assert max(f1(wrong["predicted"], text) for text in wrong["expected"].split(" or ")) < 1


def test_two_models_are_compared_and_the_file_is_written(
    archives: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "other").mkdir()
    other = make_archive(tmp_path / "other", tiny("sst", "both"))
    numbers = tmp_path / "errors.json"

    command = ["elmo-errors", archives["sst"], DATA["sst"], "--against", f"both={other}"]
    allennlp(*command, "--json", numbers)

    text = capsys.readouterr().out
    against = json.loads(numbers.read_text(encoding="utf-8"))["against"]
    assert "\n## Against both\n" in text
    assert against["score"] == pytest.approx(own_metrics(other, DATA["sst"])["accuracy"])
    assert 0 < against["p_value"] <= 1 and against["low"] <= against["high"]


def test_all_mistakes_are_written_as_a_table_with_their_lines_and_ids(
    archives: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    table, lines = tmp_path / "mistakes.csv", tmp_path / "mistakes.jsonl"

    for output in (table, lines):
        command = ["elmo-errors", archives["snli"], DATA["snli"], "--top", 1000, "--json", "-"]
        report = printed_numbers(capsys, *command[:-2], "--output", output)

    found = pandas.read_csv(table)
    assert list(found) == ["line", "id", "text", "predicted", "expected", "confidence"]
    assert list(found["line"]) == [each["line"] for each in report["mistakes"]]
    assert [json.loads(line) for line in lines.read_text().splitlines()] == report["mistakes"]
    data = Path(DATA["snli"]).read_text().splitlines()
    for each in report["mistakes"]:
        assert json.loads(data[each["line"] - 1])["gold_label"] == each["expected"]
    message = refusal("elmo-errors", archives["snli"], DATA["snli"], "--output", tmp_path / "a.md")
    assert "a.md is not the name of a table: choose one that ends in .csv" in message


def test_what_cannot_be_compared_is_refused(archives: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    other = classifier(tmp_path / "other")
    # SNLI marks pairs on which its annotators did not agree.
    unlabelled = tmp_path / "unlabelled.jsonl"
    unlabelled.write_text('{"gold_label": "-", "sentence1": "A man.", "sentence2": "A dog."}\n')

    task = refusal("elmo-errors", other, DATA["sst"])
    data = refusal("elmo-errors", archives["snli"], unlabelled)

    assert "but the model is a BasicClassifier, whose predictor is text_classifier" in task
    assert data == f"elmo-errors: {unlabelled}: nothing to learn or to score is left of this file"


def own_metrics(path: Path, data: str) -> dict[str, float]:
    """Returns the metrics that the model itself counts."""
    predictor = Predictor.from_archive(open_archive(path))
    model = predictor._model
    model.get_metrics(reset=True)
    instances = list(predictor._dataset_reader.read(data))
    predictor.predict_batch_instance(instances)
    metrics = model.get_metrics()
    if "em" in metrics:
        # The predictor of SQuAD does not call `forward`, which counts.
        for instance in instances:
            predictor._dataset_reader.apply_token_indexers(instance)
        model.forward_on_instances(instances)
        metrics = model.get_metrics()
    return metrics
