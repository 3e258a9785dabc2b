import json
import re
import string
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import DataLoader
from allennlp.evaluation import Evaluator, SimpleEvaluator
from allennlp.models import Model, load_archive
from allennlp.predictors import Predictor

from elmo_tasks.predictors.evaluator import ElmoEvaluator
from tests.helpers.archives import task_model
from tests.helpers.command_line import our_command
from tests.helpers.configs import ROOT
from tests.helpers.task_models import Built, Task

DATA = ROOT / "fixtures" / "sst.txt"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return task_model(tmp_path_factory.mktemp("sst"), "sst", "both")


def evaluate(archive: Path, folder: Path, data: object, *args: object) -> tuple[list[str], Any]:
    """Returns the lines of predictions and the metrics that `elmo-tasks evaluate` writes."""
    predictions, metrics = folder / "predictions.jsonl", folder / "metrics.json"
    files = ("--predictions-output-file", predictions, "--output-file", metrics, "--force")
    our_command("evaluate", archive, data, *files, *args)
    return predictions.read_text(encoding="utf-8").splitlines(), json.loads(metrics.read_text())


def test_there_is_a_line_for_each_instance_and_the_metrics_are_printed_without_mixes(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    predictor = Predictor.from_archive(load_archive(archive))
    instances = list(predictor._dataset_reader.read(DATA))

    lines, metrics = evaluate(archive, tmp_path, DATA)
    printed = dict(line.split(": ") for line in capsys.readouterr().out.splitlines())
    batches, theirs = evaluate(archive, tmp_path, DATA, "-o", '{"evaluation": {"type": "simple"}}')

    answers = predictor.predict_batch_instance(instances)
    assert len(lines) == len(instances) == 10
    for line, answer in zip(map(json.loads, lines), answers, strict=True):
        assert list(line) == list(answer) and line["tokens"] == answer["tokens"]
        assert line["probabilities"] == pytest.approx(answer["probabilities"], abs=1e-4)
    # AllenNLP's own evaluator writes a line for each batch.
    assert metrics == pytest.approx(theirs, abs=1e-5) and len(batches) < 10
    assert "loss" in printed and not any(name.endswith(("_s0", "gamma")) for name in printed)
    for name, value in printed.items():
        assert float(value) == pytest.approx(metrics[name], abs=1e-4)


def test_a_second_file_has_its_own_metrics(archive: Path, tmp_path: Path) -> None:
    metrics, predictions = [tmp_path / "a", tmp_path / "b"], [tmp_path / "c", tmp_path / "d"]
    data, *files = (",".join(map(str, paths)) for paths in ([DATA] * 2, metrics, predictions))

    our_command(
        *("evaluate", archive, data),
        *("--output-file", files[0], "--predictions-output-file", files[1]),
    )

    first, second = (json.loads(path.read_text()) for path in metrics)
    # The loss is a mean over batches, which are drawn anew.
    assert {**first, "loss": 0} == pytest.approx({**second, "loss": 0}, abs=1e-5)
    assert predictions[0].read_text() == predictions[1].read_text()


def test_other_models_are_evaluated_as_by_allennlp(tmp_path: Path) -> None:
    built = Built(Task("sst").config("baseline"))
    assert isinstance(Evaluator.from_params(Params({"type": "elmo"})), ElmoEvaluator)

    class Other(Model):
        """A model that is none of ours."""

        def forward(self, **_: Any) -> dict[str, Any]:
            return {"answer": [1, 2]}

    texts = []
    for evaluator in (ElmoEvaluator(), SimpleEvaluator()):
        evaluator(
            Other(built.vocab),
            Loader([{"x": [1, 2]}, {"x": [3]}]),  # type: ignore[arg-type]
            predictions_output_file=tmp_path / "out",
        )
        texts.append((tmp_path / "out").read_text())

    assert texts[0] == texts[1]
    assert json.loads(texts[0].splitlines()[1]) == {"x": [3], "answer": [1, 2]}


def words_of(text: str) -> list[str]:
    kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", kept).split()


def official_scores(data: dict[str, Any], answers: dict[str, str]) -> dict[str, float]:
    """
    Returns exact match and F1 as SQuAD's script for version 1.1 does, from the file as it is: every
    question counts, and `answer_start` is not read.
    """
    exact, f1 = [], []
    for article in data["data"]:
        for qa in (qa for paragraph in article["paragraphs"] for qa in paragraph["qas"]):
            predicted = words_of(answers[qa["id"]])
            best = 0.0
            for answer in qa["answers"]:
                expected = words_of(answer["text"])
                same = (Counter(predicted) & Counter(expected)).total()
                best = max(best, 2 * same / (len(predicted) + len(expected)) if same else 0)
            exact.append(any(words_of(answer["text"]) == predicted for answer in qa["answers"]))
            f1.append(best)
    return {"em": sum(exact) / len(exact), "f1": sum(f1) / len(f1)}


def test_squad_is_scored_over_all_questions_wherever_their_answers_start(tmp_path: Path) -> None:
    archive = task_model(tmp_path, "squad", "baseline")
    data = json.loads((ROOT / "fixtures" / "squad.json").read_text(encoding="utf-8"))
    lines, _ = evaluate(archive, tmp_path, ROOT / "fixtures" / "squad.json")
    answers = {each["id"]: each["answer"] for each in map(json.loads, lines)}
    qas = [qa for article in data["data"] for each in article["paragraphs"] for qa in each["qas"]]
    # The untrained model is right in some questions, whose answers have no right start.
    for index, qa in enumerate(qas[:6]):
        text = answers[qa["id"]] if index % 2 else f"no {answers[qa['id']]}"
        qa["answers"] = [{"text": text, "answer_start": -1}, {"text": "", "answer_start": 0}]
    changed = tmp_path / "changed.json"
    changed.write_text(json.dumps(data), encoding="utf-8")

    lines, metrics = evaluate(archive, tmp_path, changed, "--batch-size", 2)

    assert {each["id"]: each["answer"] for each in map(json.loads, lines)} == answers
    expected = official_scores(data, answers)
    assert {name: metrics[name] for name in expected} == pytest.approx(expected)
    assert 0 < expected["em"] < expected["f1"] < 1


def test_a_loss_that_is_no_number_is_an_error_and_nothing_is_written(
    archive: Path, tmp_path: Path
) -> None:
    loaded = load_archive(archive)
    for parameter in loaded.model.parameters():
        parameter.data.fill_(torch.nan)
    loader = DataLoader.from_params(
        Params({"batch_size": 4}), reader=loaded.validation_dataset_reader, data_path=DATA
    )
    loader.index_with(loaded.model.vocab)
    metrics = tmp_path / "metrics.json"

    with pytest.raises(ValueError, match="the loss is nan, so the metrics mean nothing"):
        ElmoEvaluator()(loaded.model, loader, metrics_output_file=metrics)

    assert not metrics.exists()


class Loader(list):
    """A loader of batches that has no instances."""

    def set_target_device(self, _: object) -> None: ...
