import json
import re
import shutil
from pathlib import Path

import pytest
from allennlp.common import Params
from allennlp.models import load_archive

from elmo_tasks.commands.in_allennlp.train_command import train_model
from tests.helpers.command_line import our_command
from tests.helpers.configs import tiny
from tests.helpers.reference_bilm import FIXTURE_FILES


def test_an_archive_has_the_options_of_a_bilm_that_its_config_named(tmp_path: Path) -> None:
    shutil.copytree(FIXTURE_FILES[0].parent, tmp_path / "bilm")
    config = tiny("imdb", "elmo", "{ trainer+: { num_epochs: 1 } }")
    embedder = config["model"]["text_embedder"]
    options = embedder["bilm"]["options"]
    embedder["bilm"] = {"pretrained_file": str(tmp_path / "bilm")}

    train_model(Params(json.loads(json.dumps(config))), str(tmp_path / "run"))
    recovered = train_model(Params(config), str(tmp_path / "run"), recover=True)
    shutil.rmtree(tmp_path / "bilm")

    archive = load_archive(tmp_path / "run" / "model.tar.gz")
    embedder = archive.config["model"]["text_embedder"].as_dict()
    assert embedder["bilm"]["options"] == options
    expected = recovered.state_dict()  # type: ignore[union-attr]
    for name, tensor in archive.model.state_dict().items():
        assert tensor.equal(expected[name]), name


def test_a_config_that_names_no_bilm_is_refused(tmp_path: Path) -> None:
    config = tiny("imdb", "elmo")
    config["model"]["text_embedder"]["bilm"] = "minni"

    with pytest.raises(ValueError, match="no biLM is known as 'minni'.*did you mean 'mini'"):
        train_model(Params(config), str(tmp_path / "run"))

    assert not (tmp_path / "run").exists()


def test_a_training_of_which_only_the_score_is_kept_writes_no_archive(tmp_path: Path) -> None:
    config = tiny("imdb", "elmo", "{ trainer+: { num_epochs: 1 } }")

    train_model(Params(config), str(tmp_path / "run"), archive=False)

    names = [path.name for path in (tmp_path / "run").iterdir()]
    assert "metrics.json" in names and "model.tar.gz" not in names


@pytest.mark.parametrize(
    ("config", "advice"),
    [
        ("elmo_tasks:sst/both", "save a .jsonnet file with (import 'elmo_tasks/sst/both.jsonnet')"),
        ("mine.jsonnet", "beside mine.jsonnet, save a .jsonnet file with (import 'mine.jsonnet')"),
    ],
)
def test_a_choice_among_the_overrides_is_refused(
    config: str, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.jsonnet").write_text("import 'elmo_tasks/sst/both.jsonnet'")

    with pytest.raises(ValueError, match=f"cannot set the choice elmo_at.*{re.escape(advice)}"):
        our_command("train", config, "-s", "run", "-o", '{"elmo_at": ["output"]}')


@pytest.mark.parametrize(
    ("field", "known"), [("elmo_att", "elmo_at"), ("validation_data_pat", "validation_data_path")]
)
def test_a_misspelt_field_of_a_config_is_refused_with_the_right_one(
    field: str, known: str, tmp_path: Path
) -> None:
    config = tmp_path / "mine.jsonnet"
    config.write_text(f"(import 'elmo_tasks/sst.libsonnet') {{ {field}: ['input'] }}")

    with pytest.raises(
        ValueError, match=f"^the config has no field '{field}'; did you mean '{known}'"
    ):
        our_command("train", config, "-s", tmp_path / "run")


# The config, the overrides, the number of folds, and words of the message.
REFUSED_FOLDS = [
    ("classify/both", "{}", 1, "--folds must be 2 or more, not 1"),
    ("sst/both", "{}", 2, "--folds is for the configs of classify and tag"),
    ("classify/both", '{"distributed": {"cuda_devices": [-1, -1]}}', 2, "needs a single process"),
]


@pytest.mark.parametrize(("config", "overrides", "num_folds", "words"), REFUSED_FOLDS)
def test_folds_that_cannot_be_trained_are_refused_before_the_training(
    config: str, overrides: str, num_folds: int, words: str, tmp_path: Path
) -> None:
    args = ("-s", tmp_path / "run", "-o", overrides, "--folds", num_folds)
    with pytest.raises(ValueError, match=words):
        our_command("train", f"elmo_tasks:{config}", *args)

    assert not (tmp_path / "run").exists()
