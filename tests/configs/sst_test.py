import json
from pathlib import Path
from typing import Any

import _jsonnet
import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model

from elmo_tasks.bilm.files.known_bilms import KNOWN_BILMS
from elmo_tasks.common.errors import ConfigurationError

ROOT = Path(__file__).parents[2]
CONFIGS = sorted((ROOT / "training_configs").glob("*/*.jsonnet"))
SST = ROOT / "training_configs" / "sst"


def evaluate(snippet: str) -> Any:
    return json.loads(_jsonnet.evaluate_snippet("test", snippet))


def config(path: Path, change: str = "{}") -> dict[str, Any]:
    return evaluate(f"(import '{path}') + {change}")


def tiny(change: str = "{}", path: Path = SST / "both.jsonnet") -> dict[str, Any]:
    return config(path, f"(import '{ROOT}/fixtures/tiny.libsonnet') + {change}")


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """Every number and string of a config by its dotted path."""
    if isinstance(value, dict):
        return {k: v for key in value for k, v in leaves(value[key], f"{path}.{key}").items()}
    if isinstance(value, list):
        return {k: v for i, e in enumerate(value) for k, v in leaves(e, f"{path}.{i}").items()}
    return {path[1:]: value}


def differences(one: str, other: str) -> set[str]:
    first, second = leaves(config(SST / one)), leaves(config(SST / other))
    return {path for path in first.keys() | second.keys() if first.get(path) != second.get(path)}


def test_configs_were_found() -> None:
    names = {path.stem for path in CONFIGS if path.parent == SST}
    assert names >= {"baseline", "input", "output", "both", "last_only", "lambda_1", "paper"}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_config_names_files_for_training_and_validation_and_no_others(path: Path) -> None:
    evaluated = config(path)
    assert "test_data_path" not in evaluated
    assert "train_data_path" in evaluated
    for name, value in leaves(evaluated).items():
        assert "cuda_device" not in name
        assert not (isinstance(value, str) and value.startswith(("/", "~", "http")))


@pytest.mark.parametrize("path", sorted(SST.glob("*.jsonnet")), ids=lambda path: path.stem)
def test_variant_is_a_line_over_the_library(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").strip().splitlines()) == 1


def test_last_only_and_lambda_1_are_both_with_one_change() -> None:
    regularizer = "model.regularizer.regexes.0"
    assert differences("both.jsonnet", "lambda_1.jsonnet") == {f"{regularizer}.1.alpha"}
    mixes = {f"model.text_embedder.{place}_mix.layers" for place in ("input", "output")}
    penalty = {f"{regularizer}.0", f"{regularizer}.1.type", f"{regularizer}.1.alpha"}
    assert differences("both.jsonnet", "last_only.jsonnet") == mixes | penalty


def test_places_change_the_embedder_and_the_width_they_widen() -> None:
    def changed(one: str, other: str) -> set[str]:
        ignored = ("model.text_embedder.bilm.", "model.regularizer.", "dataset_reader.")
        different = differences(one, other)
        kept = {path for path in different if not path.startswith((*ignored, "validation_data"))}
        return {path.replace(".layers", "").replace(".dropout", "") for path in kept}

    at_input = {"model.text_embedder.input_mix", "model.feedforward.input_dim"}
    at_output = {"model.text_embedder.output_mix", "model.integrator.input_size"}
    assert changed("baseline.jsonnet", "input.jsonnet") == at_input
    assert changed("baseline.jsonnet", "output.jsonnet") == at_output
    assert changed("baseline.jsonnet", "both.jsonnet") == at_input | at_output
    # Without ELMo there are no char ids to make.
    baseline = config(SST / "baseline.jsonnet")
    assert list(baseline["dataset_reader"]["token_indexers"]) == ["tokens"]
    assert list(baseline["model"]["text_embedder"]) == ["words"]
    assert "regularizer" not in baseline["model"]


def test_widths_of_the_paper_follow() -> None:
    # GloVe has 300, the original biLM 1024, a biLSTM 2 * 300.
    model = config(SST / "paper.jsonnet")["model"]
    assert model["feedforward"]["input_dim"] == 300 + 1024
    assert model["integrator"]["input_size"] == 3 * (600 + 1024)
    assert model["classifier"]["input_dim"] == 4 * 600
    model = config(SST / "paper.jsonnet", "{ output_place: 'integrator' }")["model"]
    assert model["integrator"]["input_size"] == 3 * 600
    assert model["classifier"]["input_dim"] == 4 * (600 + 1024)


def test_options_of_the_released_bilms_are_those_their_files_are_named_after() -> None:
    bilms = evaluate(f"import '{ROOT}/training_configs/lib/bilms.libsonnet'")
    released = {name for name in KNOWN_BILMS if KNOWN_BILMS[name].startswith("https://")}
    assert all(bilms[name]["pretrained_file"] == name for name in released)
    for name in released:
        lstm, cnn = bilms[name]["options"]["lstm"], bilms[name]["options"]["char_cnn"]
        num_filters = sum(number for _, number in cnn["filters"])
        described = (
            f"elmo_{lstm['n_layers']}x{lstm['dim']}_{lstm['projection_dim']}"
            f"_{num_filters}cnn_{cnn['n_highway']}xhighway"
        )
        assert KNOWN_BILMS[name].rsplit("/", 1)[1].startswith(described)


def test_misspelt_field_is_refused_by_training(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="Extra parameters .*elmo_lamda"):
        train_model(Params(tiny("{ elmo_lamda: 1 }")), str(tmp_path / "model"))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("{ elmo_at: 'input' }", "list of the places 'input' and 'output'.*, not input"),
        ("{ elmo_at: ['inputs'] }", "list of the places 'input' and 'output'"),
        ("{ elmo_at: ['input', 'input'] }", "each once at most"),
        ("{ elmo_layers: 'top' }", "'all', 'last' or the number of one layer, not top"),
        ("{ elmo_lambda: -1 }", "elmo_lambda must be 0 or more, not -1"),
        ("{ elmo_lambda: '1' }", "elmo_lambda must be 0 or more"),
        ("{ elmo_dropout: 1 }", "elmo_dropout must be from 0 to below 1"),
        ("{ elmo_layer_norm: true }", "null, 'batch' or 'sentence', not true"),
        ("{ bilm: 'smal' }", "bilm must be one of fixture, medium, mini, .*, not smal"),
        ("{ bilm: { options: {} } }", "or an object with options and pretrained_file, not"),
        ("{ word_vectors: 'glove' }", r"word_vectors must be one of glove\.840B, learned, or"),
        ("{ granularity: 'fine' }", "granularity must be one of 2-class, 3-class, 5-class"),
        ("{ classifier: 'svm' }", "classifier must be one of feedforward, maxout, not svm"),
        ("{ output_place: 'roof' }", "'encoder' or 'integrator', not roof"),
    ],
)
@pytest.mark.parametrize("variant", ["baseline", "both"])
def test_value_that_cannot_be_is_refused_by_jsonnet(
    variant: str, change: str, complaint: str
) -> None:
    with pytest.raises(RuntimeError, match=complaint):
        config(SST / f"{variant}.jsonnet", change)


@pytest.mark.parametrize("elmo_lambda", [0.001, 2])
def test_penalty_is_lambda_times_the_squares_of_the_weights_of_every_mix(
    elmo_lambda: float,
) -> None:
    params = Params(tiny(f"{{ elmo_lambda: {elmo_lambda} }}"))
    instances = DatasetReader.from_params(params["dataset_reader"]).read("fixtures/sst.txt")
    model = Model.from_params(params["model"], vocab=Vocabulary.from_instances(instances))
    embedder = model.text_embedder
    weights = [embedder.input_mix.scalar_parameters, embedder.output_mix.scalar_parameters]
    for parameter in weights:
        torch.nn.init.normal_(parameter)
    expected = elmo_lambda * sum((parameter.detach() ** 2).sum() for parameter in weights)
    penalty = model.get_regularization_penalty()
    torch.testing.assert_close(penalty, expected)
    penalty.backward()
    regularized = {
        name for name, parameter in model.named_parameters() if parameter.grad is not None
    }
    assert regularized == {
        f"text_embedder.{place}_mix.scalar_parameters" for place in ("input", "output")
    }


@pytest.mark.parametrize(
    "change", ["{ elmo_lambda: 0 }", "{ elmo_layers: 0 }", "{ elmo_layers: 'last' }"]
)
def test_there_is_no_regularizer_where_there_is_nothing_to_regularize(change: str) -> None:
    assert "regularizer" not in tiny(change)["model"]


def test_own_bilm_and_known_bilm_with_a_change_are_taken() -> None:
    options = f"import '{ROOT}/fixtures/bilm/options.json'"
    own = tiny(f"{{ bilm: {{ options: {options}, pretrained_file: 'w.hdf5' }} }}")
    assert own["model"]["text_embedder"]["bilm"]["pretrained_file"] == "w.hdf5"
    bilms = f"import '{ROOT}/training_configs/lib/bilms.libsonnet'"
    tuned = tiny(f"{{ bilm: ({bilms}).small {{ requires_grad: true }} }}")
    assert tuned["model"]["text_embedder"]["bilm"]["requires_grad"]
    assert tuned["model"]["feedforward"]["input_dim"] == 8 + 2 * 128
