import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.evaluation import Evaluator, SimpleEvaluator

from elmo_tasks.predictors.evaluator import ElmoEvaluator
from tests.helpers.command_line import our_command
from tests.helpers.configs import ROOT
from tests.helpers.task_models import Built, Task
from tests.helpers.training import train


def words(instance: Instance, field: str = "tokens") -> list[str]:
    return [token.text for token in instance[field].tokens]


# The input of `allennlp predict` that asks about an instance.
INPUTS: dict[str, Callable[[Instance], JsonDict]] = {
    "sst": lambda instance: {"tokens": words(instance)},
    "ner": lambda instance: {"tokens": words(instance)},
    "snli": lambda instance: {
        "premise": " ".join(words(instance, "premise")),
        "hypothesis": " ".join(words(instance, "hypothesis")),
    },
    "squad": lambda instance: {
        "passage": instance["metadata"]["passage"].text,
        "question": " ".join(words(instance, "question")),
    },
}
DATA = {
    "sst": "fixtures/sst.txt",
    "ner": "fixtures/ner.txt",
    "snli": "fixtures/snli.jsonl",
    "squad": "fixtures/squad.json",
}


@pytest.fixture(scope="module", params=INPUTS)
def task(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def archive(task: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp(task) / "model"
    config = Task(task).config(change="{ trainer+: { num_epochs: 1 } }")
    train(config, folder)
    return folder / "model.tar.gz"


def evaluate(archive: Path, data: str, *args: object) -> tuple[list[JsonDict], dict[str, Any]]:
    """Returns the lines of predictions and the metrics that `allennlp evaluate` writes."""
    predictions, metrics = archive.parent / "predictions.jsonl", archive.parent / "metrics.json"
    files = ("--predictions-output-file", predictions, "--output-file", metrics)
    our_command("evaluate", archive, ROOT / data, *files, *args)
    lines = [json.loads(line) for line in predictions.read_text(encoding="utf-8").splitlines()]
    return lines, json.loads(metrics.read_text(encoding="utf-8"))


def predict(archive: Path, inputs: list[JsonDict]) -> list[JsonDict]:
    asked, answers = archive.parent / "in.jsonl", archive.parent / "out.jsonl"
    asked.write_text("\n".join(map(json.dumps, inputs)), encoding="utf-8")
    our_command("predict", archive, asked, "--output-file", answers, "--silent")
    return [json.loads(line) for line in answers.read_text(encoding="utf-8").splitlines()]


def test_evaluate_writes_a_line_for_each_instance_as_predict_does(task: str, archive: Path) -> None:
    instances = Built(Task(task).config()).instances

    lines, _ = evaluate(archive, DATA[task])

    answers = predict(archive, list(map(INPUTS[task], instances)))
    assert len(instances) > 4
    for line, answer, instance in zip(lines, answers, instances, strict=True):
        if task == "squad":
            # A question of a file has an id as well.
            assert line.pop("id") == instance["metadata"]["id"]
        assert line.keys() == answer.keys()
        assert numbers_rounded(line) == numbers_rounded(answer)


def numbers_rounded(value: Any) -> Any:
    """Returns a value of JSON with numbers that compare equal if they are close."""
    if isinstance(value, dict):
        return {key: numbers_rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [numbers_rounded(each) for each in value]
    return pytest.approx(value, abs=1e-4) if isinstance(value, float) else value


def test_metrics_are_those_of_allennlps_evaluator(task: str, archive: Path) -> None:
    simple = json.dumps({"evaluation": {"type": "simple"}})

    _, ours = evaluate(archive, DATA[task])
    batches, theirs = evaluate(archive, DATA[task], "-o", simple)

    assert ours == pytest.approx(theirs, abs=1e-5)
    # AllenNLP's own evaluator is still there, and writes a line for each batch.
    assert len(batches) < len(Built(Task(task).config()).instances)


def test_metrics_are_printed_without_the_weights_of_mixes(
    archive: Path, task: str, capsys: pytest.CaptureFixture
) -> None:
    _, metrics = evaluate(archive, DATA[task])

    lines = capsys.readouterr().out.splitlines()
    printed = {name: float(value) for name, value in (line.split(": ") for line in lines)}
    assert "loss" in printed and not any(name.endswith(("_s0", "gamma")) for name in printed)
    assert printed == pytest.approx({name: metrics[name] for name in printed}, abs=1e-4)


def test_a_second_file_has_its_own_metrics(archive: Path, task: str, tmp_path: Path) -> None:
    metrics, predictions = [tmp_path / "a", tmp_path / "b"], [tmp_path / "c", tmp_path / "d"]
    data, metrics_files, files = (
        ",".join(map(str, paths)) for paths in ([ROOT / DATA[task]] * 2, metrics, predictions)
    )
    args = ("--output-file", metrics_files, "--predictions-output-file", files)

    our_command("evaluate", archive, data, *args)

    first, second = (json.loads(path.read_text()) for path in metrics)
    # The loss is a mean over batches, which are drawn anew.
    assert {**first, "loss": 0} == pytest.approx({**second, "loss": 0}, abs=1e-5)
    assert predictions[0].read_text() == predictions[1].read_text()


def test_an_answer_has_no_loss_if_its_group_is_one_instance(tmp_path: Path) -> None:
    config = Task("sst").config("baseline", "{ trainer+: { num_epochs: 1 } }")
    train(config, tmp_path / "model")
    one = tmp_path / "one.txt"
    one.write_text(
        (ROOT / DATA["sst"]).read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8"
    )

    (line,), _ = evaluate(tmp_path / "model" / "model.tar.gz", str(one))

    assert "loss" not in line and line["label"]


def test_other_models_are_evaluated_as_by_allennlp(tmp_path: Path) -> None:
    built = Built(Task("sst").config("baseline"))
    assert isinstance(Evaluator.from_params(Params({"type": "elmo"})), ElmoEvaluator)

    class Other(type(built.model).__mro__[1]):  # type: ignore[misc]
        """A model that is none of the four."""

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


class Loader(list):
    """A loader of batches that has no instances."""

    def set_target_device(self, _: object) -> None: ...
