"""The biLMs that a config can name; tests/language_model trains those of training_configs/bilm."""

import json

import pytest

from elmo_tasks.bilm.files.known_bilms import DEFAULT_BILM, KNOWN_BILMS
from tests.helpers.configs import BILMS, ROOT, config, evaluate


def test_options_of_the_released_bilms_are_those_their_files_are_named_after() -> None:
    bilms = evaluate(BILMS)
    released = {name for name in KNOWN_BILMS if KNOWN_BILMS[name].startswith("https://")}

    assert all(bilms[name]["pretrained_file"] == name for name in released)
    for name in released:
        lstm, cnn = bilms[name]["options"]["lstm"], bilms[name]["options"]["char_cnn"]
        num_filters = sum(width for _, width in cnn["filters"])
        described = (
            f"elmo_{lstm['n_layers']}x{lstm['dim']}_{lstm['projection_dim']}"
            f"_{num_filters}cnn_{cnn['n_highway']}xhighway"
        )
        assert KNOWN_BILMS[name].rsplit("/", 1)[1].startswith(described)


@pytest.mark.parametrize("name", ["base", "mini"])
def test_options_of_a_biLM_of_the_package_are_those_of_its_file(name: str) -> None:
    path = ROOT / "elmo_tasks" / "pretrained" / name / "options.json"

    assert evaluate(BILMS)[name]["options"] == json.loads(path.read_text())


def test_configs_and_code_have_the_same_default() -> None:
    names = {
        config("sst", "input")["model"]["text_embedder"]["bilm"]["pretrained_file"],
        config("probe", "pos")["model"]["bilm"]["pretrained_file"],
        config("bilm", "continue", "{ task: 'sst' }")["model"]["bilm"]["pretrained_file"],
    }

    assert names == {DEFAULT_BILM}


@pytest.mark.parametrize(
    ("task", "fields"),
    [
        *(("coref", None), ("ner", None), ("snli", None)),
        *(("squad", ["passage"]), ("srl", None), ("sst", None)),
    ],
)
def test_a_biLM_continues_on_the_text_of_a_task(task: str, fields: list[str] | None) -> None:
    continued, baseline = (
        config("bilm", "continue", f"{{ task: '{task}' }}"),
        config(task, "baseline"),
    )

    reader = continued["dataset_reader"]
    whole = baseline.get("validation_dataset_reader", baseline["dataset_reader"])
    assert continued["train_data_path"] == baseline["train_data_path"]
    assert continued["validation_data_path"] == baseline["validation_data_path"]
    assert reader["reader"] == continued["validation_dataset_reader"]["reader"] == whole
    assert reader.get("fields") == fields


def test_a_task_that_is_not_known_is_refused() -> None:
    with pytest.raises(RuntimeError, match="must be one of coref, ner, snli, squad, srl, sst, or"):
        config("bilm", "continue", "{ task: 'imdb' }")


def test_a_biLM_starts_from_vectors_with_a_name_or_from_a_file() -> None:
    callbacks = [
        config("bilm", "base", change)["trainer"]["callbacks"][0]["pretrained_file"]
        for change in ("{}", "{ start_from_vectors: 'my/vectors.txt' }")
    ]

    assert callbacks == ["data/vectors/glove.6B.100d.120k.txt.gz", "my/vectors.txt"]


def test_a_text_of_ones_own_is_not_read_as_that_of_a_task() -> None:
    assert "reader" not in config("bilm", "continue", "{ train_text: 'my.txt' }")["dataset_reader"]


def test_an_archive_without_the_options_of_its_biLM_is_refused() -> None:
    with pytest.raises(RuntimeError, match="from_archive needs the options of its biLM: options: "):
        config("bilm", "continue", "{ from_bilm: null, from_archive: 'model.tar.gz' }")
