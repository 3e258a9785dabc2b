import json
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.analysis.ablation.run import Run
from elmo_tasks.analysis.ablation.settings import (
    AblationSettings,
    parse_change,
    runs_of_other_settings,
)
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.from_config import with_options

LIBRARY = """\
{
  local config = self,
  width:: 3,
  model: { width: config.width, twice: 2 * config.width },
  trainer: { num_epochs: 5, patience: 2 },
  dataset_reader: { type: 'some' },
  data_loader: { batch_sampler: { type: 'bucket', batch_size: 4, drop_last: true } },
}
"""


@pytest.fixture
def configs(tmp_path: Path) -> Path:
    folder = tmp_path / "configs"
    folder.mkdir()
    (folder / "library.libsonnet").write_text(LIBRARY)
    (folder / "base.jsonnet").write_text("import 'library.libsonnet'")
    (folder / "wide.jsonnet").write_text("(import 'library.libsonnet') { width: 9 }")
    (folder / "own.jsonnet").write_text(
        "(import 'library.libsonnet') { validation_dataset_reader: self.dataset_reader { new: 1 } }"
    )
    return folder


def evaluate(configs: Path, variant: str = "base", fraction: float = 1.0, **changes) -> Any:
    run = Run(configs.parent / "runs", variant, 7, fraction)
    return AblationSettings(configs, changes).evaluate(run)


def test_a_run_is_its_variant_with_the_seed_and_all_that_follows_from_changes(
    configs: Path,
) -> None:
    assert evaluate(configs) == {
        "model": {"width": 3, "twice": 6},
        "trainer": {"num_epochs": 5, "patience": 2},
        "dataset_reader": {"type": "some"},
        "data_loader": {"batch_sampler": {"type": "bucket", "batch_size": 4, "drop_last": True}},
        "random_seed": 7,
        "numpy_seed": 7,
        "pytorch_seed": 7,
    }
    assert evaluate(configs, "wide")["model"] == {"width": 9, "twice": 18}
    assert evaluate(configs, "wide", width=4)["model"] == {"width": 4, "twice": 8}


def test_a_fraction_is_of_the_training_data_alone(configs: Path) -> None:
    plain = {"type": "some"}
    part = {"type": "elmo_fraction", "fraction": 0.01, "seed": 7, "reader": plain}
    config = evaluate(configs, fraction=0.01)

    assert (config["dataset_reader"], config["validation_dataset_reader"]) == (part, plain)

    config = evaluate(configs, "own", fraction=0.01)

    own = {"type": "some", "new": 1}
    assert (config["dataset_reader"], config["validation_dataset_reader"]) == (part, own)

    assert "validation_dataset_reader" not in evaluate(configs)


@pytest.mark.parametrize(
    ("fraction", "times", "num_epochs", "patience"),
    [(0.5, 1, 10, 4), (0.25, 2, 10, 4), (0.1, 3, 17, 7), (0.01, 10, 50, 20)],
)
def test_a_fraction_has_as_many_updates_as_the_whole(
    configs: Path, fraction: float, times: int, num_epochs: int, patience: int
) -> None:
    sampler = {"type": "bucket", "batch_size": 4}

    config = evaluate(configs, fraction=fraction)

    assert config["trainer"] == {"num_epochs": num_epochs, "patience": patience}
    assert config["data_loader"]["batch_sampler"] == {
        "type": "elmo_repeated",
        "times": times,
        # Otherwise a part with fewer instances than a batch would have no batches.
        "sampler": {**sampler, "drop_last": False},
    }
    assert config["validation_data_loader"] == {"batch_sampler": {**sampler, "drop_last": True}}


def test_overrides_are_of_the_whole_of_which_a_fraction_is_taken(configs: Path) -> None:
    overrides = '{"dataset_reader.new": 2, "trainer.num_epochs": 2, "trainer.patience": null}'
    settings = AblationSettings(configs, {}, overrides)

    config = settings.evaluate(Run(configs, "base", 1, 0.5))

    changed = {"type": "some", "new": 2}
    assert config["dataset_reader"]["reader"] == config["validation_dataset_reader"] == changed
    assert config["trainer"] == {"num_epochs": 4, "patience": None}


def test_a_config_of_which_no_fraction_can_be_taken_is_refused(configs: Path) -> None:
    (configs / "bad.jsonnet").write_text("(import 'library.libsonnet') { data_loader: {} }")

    with pytest.raises(ConfigurationError, match="bad has no data_loader with a batch_sampler"):
        evaluate(configs, "bad", fraction=0.5)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("width=4", 4),
        ("width='wide'", "wide"),
        ("width={a: 1, b: [self.a]}", {"a": 1, "b": [1]}),
        ("width='a=b'", "a=b"),
    ],
)
def test_a_value_is_jsonnet(text: str, value: object) -> None:
    assert parse_change(text) == ("width", value)


def test_a_value_imports_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "options.json").write_text('{"dim": 8}')
    monkeypatch.chdir(tmp_path)

    assert parse_change("options=import 'options.json'") == ("options", {"dim": 8})


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("width", "the value of 'width' is not jsonnet"),
        ("width=wide", r"Unknown variable: wide\); a string needs quotes: --set 'width=\"text\"'"),
        ("random_seed=2", "random_seed cannot be set: it follows from --seeds"),
    ],
)
def test_a_change_that_cannot_be_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_change(text)


def test_other_settings_are_refused_and_said(configs: Path, tmp_path: Path) -> None:
    run = Run(tmp_path / "runs", "base", 7)
    configs_of = [{run: evaluate(configs, width=width)} for width in (3, 4)]
    assert runs_of_other_settings(configs_of[0]) == {}

    run.folder.mkdir(parents=True)
    (run.folder / "config.json").write_text(json.dumps(configs_of[0][run], indent=4))
    assert runs_of_other_settings(configs_of[0]) == {}

    message = runs_of_other_settings(configs_of[1])[run]
    assert "seed7 was trained with other settings: model.twice was 6, not 8. Choose" in message
    assert "or train this run anew with --force" in message


def test_a_folder_whose_config_names_a_bilm_is_continued(configs: Path, tmp_path: Path) -> None:
    def evaluated(name: str) -> Any:
        (configs / "own.jsonnet").write_text(
            f"(import 'library.libsonnet') {{ model+: {{ elmo: {{ bilm: '{name}' }} }} }}"
        )
        return evaluate(configs, "own")

    run = Run(tmp_path / "runs", "own", 7)
    run.folder.mkdir(parents=True)
    # This is what a training saves.
    config = evaluated("mini")
    trained = {**config, "model": with_options(config["model"])}
    (run.folder / "config.json").write_text(json.dumps(trained))

    assert "options" in trained["model"]["elmo"]["bilm"]
    assert runs_of_other_settings({run: evaluated("mini")}) == {}
    other = runs_of_other_settings({run: evaluated("base")})
    assert "other settings: model.elmo.bilm." in other[run]
