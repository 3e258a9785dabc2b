import json
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DataLoader, DatasetReader

from elmo_tasks.commands.in_allennlp.evaluate_command import evaluation_loader
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.command_line import our_command
from tests.helpers.configs import ROOT, SHIPPED, tiny


@pytest.mark.parametrize("task", sorted({*SHIPPED} - {"bilm", "probe"}))
def test_each_task_is_evaluated_in_batches_of_a_chosen_size(task: str) -> None:
    config = tiny(task, SHIPPED[task][0])
    reader = config.get("validation_dataset_reader", config["dataset_reader"])
    reader = DatasetReader.from_params(Params(reader))
    chosen = evaluation_loader(config, 3)

    loader = DataLoader.from_params(
        Params(chosen), reader=reader, data_path=config["validation_data_path"]
    )

    num_instances = len(list(reader.read(config["validation_data_path"])))
    assert len(loader) == -(-num_instances // 3)


def test_an_evaluation_drops_no_input_of_a_last_batch() -> None:
    sampler = {"type": "bucket", "batch_size": 32, "drop_last": True}
    training = {"batch_sampler": sampler, "batches_per_epoch": 10}

    assert evaluation_loader({"data_loader": training}, None) == {
        "batch_sampler": {"type": "bucket", "batch_size": 32}
    }
    assert evaluation_loader({"data_loader": {"batch_size": 4, "drop_last": True}}, 2) == {
        "batch_size": 2
    }
    by_tokens = {"batch_sampler": {"type": "max_tokens_sampler", "max_tokens": 100}}
    assert evaluation_loader({"data_loader": by_tokens}, 2) == {"batch_size": 2}
    assert sampler["drop_last"] and training["batches_per_epoch"]
    with pytest.raises(ConfigurationError, match="--batch-size: .* of another kind .Sentence"):
        evaluation_loader({"data_loader": {"type": "elmo_sentences"}}, 2)


def test_each_file_needs_an_output_of_its_own(tmp_path: Path) -> None:
    for option in ("--output", "--predictions-output-file"):
        with pytest.raises(
            ConfigurationError, match=f"^{option} x: give one file for each input file"
        ):
            our_command("evaluate", "sst", "a.txt,b.txt", option, "x")


SST = (ROOT / "fixtures" / "archives" / "sst.tar.gz", ROOT / "fixtures" / "sst.txt")


@pytest.mark.parametrize("evaluation", ["simple", None, {"type": "simple"}])
def test_the_evaluation_of_a_config_may_be_a_name_alone(
    evaluation: Any, capsys: pytest.CaptureFixture
) -> None:
    our_command("evaluate", *SST, "-o", json.dumps({"evaluation": evaluation}))

    assert "accuracy: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        (
            "evaluation",
            "simpel",
            "evaluation: there is no Evaluator named 'simpel'; did you mean 'simple'",
        ),
        ("data_loader", [1], r"data_loader must be an object, not \[1\]"),
        ("data_loader", {"batch_sise": 3}, "data_loader: .* no argument 'batch_sise'"),
    ],
)
def test_what_an_evaluation_cannot_use_is_one_line(field: str, value: Any, words: str) -> None:
    overrides = json.dumps({"validation_data_loader": None, field: value})

    with pytest.raises(ConfigurationError, match=words):
        our_command("evaluate", *SST, "-o", overrides)
