"""The biLMs that a config can name; tests/language_model trains those of training_configs/bilm."""

import json

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader

from elmo_tasks.elmo.locate import DEFAULT_BILM, KNOWN_BILMS
from elmo_tasks.readers.sentences import SentencesReader
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


@pytest.mark.parametrize("task", ["coref", "ner", "snli", "squad", "srl", "sst"])
def test_a_biLM_continues_on_the_text_of_a_task(task: str) -> None:
    continued = config("bilm", "continue", f"{{ task: '{task}' }}")
    baseline = config(task, "baseline")

    reader = continued["dataset_reader"]
    whole = baseline.get("validation_dataset_reader", baseline["dataset_reader"])
    assert continued["train_data_path"] == baseline["train_data_path"]
    assert continued["validation_data_path"] == baseline["validation_data_path"]
    assert reader["reader"] == continued["validation_dataset_reader"]["reader"] == whole
    assert isinstance(DatasetReader.from_params(Params(reader)), SentencesReader)


VECTORS = "start_from_vectors: 'fixtures/vectors.txt'"
REFUSED = [
    ("continue", "task: 'imdb'", "must be one of coref, ner, snli, squad, srl, sst, or"),
    ("continue", "from_bilm: null, from_archive: 'x.tar.gz'", "needs the options of its biLM: opt"),
    ("continue", "from_archive: 'x.tar.gz'", "give from_archive or from_bilm, not both"),
    (
        "continue",
        "from_bilm: 'smal'",
        "from_bilm must be one of base, medium, .*, not smal",
    ),
    ("continue", "read_as: 'lines'", "read_as must be 'sentences' or 'windows', not lines"),
    ("continue", VECTORS, "would begin a trained biLM anew: give num_vector_b"),
    ("base", "from_softmax: 'base'", "from_softmax is the softmax of from_bilm, which is"),
]


@pytest.mark.parametrize(("name", "change", "complaint"), REFUSED)
def test_value_that_cannot_be_is_refused_by_jsonnet(name: str, change: str, complaint: str) -> None:
    with pytest.raises(RuntimeError, match=complaint):
        config("bilm", name, f"{{ {change} }}")


def test_vectors_to_start_from_and_a_text_of_ones_own_are_choices() -> None:
    callbacks = [
        config("bilm", "base", change)["trainer"]["callbacks"][0]["pretrained_file"]
        for change in ("{}", "{ start_from_vectors: 'my/vectors.txt' }")
    ]
    own_text = config("bilm", "continue", "{ train_text: 'my.txt' }")

    assert callbacks == ["data/vectors/glove.6B.100d.120k.txt.gz", "my/vectors.txt"]
    assert "reader" not in own_text["dataset_reader"]
