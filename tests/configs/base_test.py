"""Tests of all shipped configs, and of the choices that all tasks share."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model

from tests.helpers.command_line import our_command
from tests.helpers.configs import (
    BILMS,
    ROOT,
    config,
    config_path,
    differences,
    leaves,
    shipped,
    tiny,
)

PENALTY = "model.regularizer.regexes"

# The snli paper config has the extras of Peters et al. as well, and the srl one has arguments for
# its word vectors, each on several lines.
ONE_LINE = [
    each
    for each in shipped("classify", "coref", "imdb", "ner", "snli", "squad", "srl", "sst", "tag")
    if each not in (("snli", "paper"), ("srl", "paper"))
]


def tracked_configs() -> list[tuple[str, str]]:
    """
    Returns (folder, name) of each config that git tracks, but for the templates of `elmo-tasks new`
    (see `new_test.py`). Skips the test without git.
    """

    def git(*arguments: str) -> str:
        try:
            done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        except FileNotFoundError:
            pytest.skip("git is not installed")
        if done.returncode != 0:
            pytest.skip(f"git does not read this folder: {done.stderr.strip()}")
        return done.stdout

    if Path(git("rev-parse", "--show-toplevel").strip()).resolve() != ROOT.resolve():
        pytest.skip("the project is not a git repository of its own")
    paths = git("ls-files", "-z", ":(glob)training_configs/*/*.jsonnet").split("\0")
    found = [(Path(path).parent.name, Path(path).stem) for path in paths if path]
    return [(folder, name) for folder, name in found if folder != "new"]


def test_shipped_configs_are_those_that_git_tracks() -> None:
    tracked = tracked_configs()

    assert sorted(shipped()) == sorted(tracked), "adapt SHIPPED in tests/helpers/configs.py"


def test_every_shipped_config_is_there() -> None:
    assert len(shipped()) > 0
    assert all(config_path(*each).is_file() for each in shipped())


@pytest.mark.parametrize(("folder", "name"), shipped())
def test_config_names_files_for_training_and_validation_and_no_others(
    folder: str, name: str
) -> None:
    evaluated = config(folder, name)

    assert "test_data_path" not in evaluated
    assert "train_data_path" in evaluated
    for path, value in leaves(evaluated).items():
        assert "cuda_device" not in path
        assert not (isinstance(value, str) and value.startswith(("/", "~", "http")))


@pytest.mark.parametrize(("folder", "name"), ONE_LINE)
def test_variant_is_a_line_over_the_library(folder: str, name: str) -> None:
    lines = config_path(folder, name).read_text(encoding="utf-8").strip().splitlines()

    assert len([line for line in lines if not line.startswith("//")]) == 1


def test_misspelt_field_is_refused_by_training(tmp_path: Path) -> None:
    file = tmp_path / "misspelt.json"
    file.write_text(json.dumps(tiny("sst", "both", "{ elmo_lamda: 1 }")))

    with pytest.raises(ValueError, match="^the config has no field 'elmo_lamda'"):
        our_command("train", file, "-s", tmp_path / "model")


# The values that all tasks refuse, and those of single tasks.
REFUSED = [
    *(
        ("sst", change, complaint)
        for change, complaint in (
            ("{ elmo_at: 'input' }", "list of the places 'input' and 'output'.*, not input"),
            ("{ elmo_at: ['inputs'] }", "list of the places 'input' and 'output'"),
            ("{ elmo_at: ['input', 'input'] }", "each once at most"),
            (
                "{ elmo_layers: 'top' }",
                "'all', 'concat', 'last' or the index of one layer, not top",
            ),
            ("{ elmo_lambda: -1 }", "elmo_lambda must be 0 or more, not -1"),
            ("{ elmo_lambda: '1' }", "elmo_lambda must be 0 or more"),
            ("{ elmo_dropout: 1 }", "elmo_dropout must be from 0 to below 1"),
            ("{ elmo_layer_norm: true }", "null, 'batch' or 'sentence', not true"),
            ("{ bilm: 'smal' }", "bilm must be one of base,.* fixture, medium, .*, not smal"),
            ("{ bilm: { options: {} } }", "or an object with options and pretrained_file, not"),
            (
                "{ word_vectors: 'glove' }",
                r"word_vectors must be one of glove\.6B\.100d, glove\.840B, learned, or",
            ),
            ("{ min_count: 0 }", "min_count must be an integer of 1 or more, not 0"),
            ("{ min_count: 1.5 }", "min_count must be an integer of 1 or more, not 1.5"),
            ("{ max_pretrained_words: -1 }", "max_pretrained_words must be an integer .*, not -1"),
            ("{ max_pretrained_words: 'all' }", "max_pretrained_words must be .* or null, not all"),
        )
    ),
    ("ner", "{ scheme: 'IOB1' }", "scheme must be 'BIO' or 'BIOUL', not IOB1"),
    ("ner", "{ hidden_dims: 200 }", "list of the width of each biLSTM, not 200"),
    ("ner", "{ hidden_dims: [] }", "list of the width of each biLSTM"),
    ("ner", "{ elmo_lambda: -1 }", "elmo_lambda must be 0 or more"),
    ("snli", "{ dropout: '0.5' }", "dropout must be from 0 to below 1, not 0.5"),
    ("snli", "{ attention_dropout: 1 }", "attention_dropout must be from 0 to below 1, not 1"),
    ("snli", "{ weight_penalty: -1 }", "weight_penalty must be 0 or more, not -1"),
    ("snli", "{ weight_penalty: null }", "weight_penalty must be 0 or more, not null"),
    ("snli", "{ halve_learning_rate: 1 }", "halve_learning_rate must be true or false, not 1"),
    ("snli", "{ tokens_from: 'parse' }", "'sentence' or 'binary_parse', not parse"),
    ("squad", "{ validate_on: 'best' }", "validate_on must be 'raw' or 'average', not best"),
    ("squad", "{ wrong_answers: 'keep' }", "wrong_answers must be 'skip' or 'refuse', not keep"),
    *(
        (
            "srl",
            f"{{ recurrent_dropout: {value} }}",
            "recurrent_dropout must be from 0 to below 1, not",
        )
        for value in ("1", "-0.1", "'a'")
    ),
    ("sst", "{ granularity: 'fine' }", "granularity must be one of 2-class, 3-class, 5-class"),
    ("sst", "{ classifier: 'svm' }", "classifier must be one of feedforward, maxout, not svm"),
    ("sst", "{ output_place: 'roof' }", "'encoder' or 'integrator', not roof"),
]


@pytest.mark.parametrize(("task", "change", "complaint"), REFUSED)
def test_value_that_cannot_be_is_refused_by_jsonnet(task: str, change: str, complaint: str) -> None:
    with pytest.raises(RuntimeError, match=complaint):
        config(task, "baseline", change)


@pytest.mark.parametrize(
    ("task", "input_width", "output_width"),
    [
        ("snli", "encoder.input_size", "projection.input_dim"),
        ("sst", "feedforward.input_dim", "integrator.input_size"),
    ],
)
def test_places_change_the_embedder_and_the_width_they_widen(
    task: str, input_width: str, output_width: str
) -> None:
    def changed(name: str) -> set[str]:
        ignored = ("model.text_embedder.bilm.", PENALTY, "dataset_reader.token_indexers.elmo.")
        different = differences(config(task, "baseline"), config(task, name))
        kept = {
            path
            for path in different
            if not path.startswith((*ignored, f"validation_{ignored[2]}"))
        }
        return {path.replace(".layers", "").replace(".dropout", "") for path in kept}

    at_input = {"model.text_embedder.input_mix", f"model.{input_width}"}
    at_output = {"model.text_embedder.output_mix", f"model.{output_width}"}
    assert changed("input") == at_input
    assert changed("output") == at_output
    assert changed("both") == at_input | at_output


@pytest.mark.parametrize("task", ["snli", "sst"])
def test_without_elmo_there_are_no_char_ids_and_no_penalty(task: str) -> None:
    baseline = config(task, "baseline")

    assert list(baseline["dataset_reader"]["token_indexers"]) == ["tokens"]
    assert list(baseline["model"]["text_embedder"]) == ["words"]
    assert "regularizer" not in baseline["model"]


@pytest.mark.parametrize(("task", "part"), [("ner", "encoders"), ("srl", "encoder")])
def test_places_change_the_embedder_and_the_input_of_the_first_lstm_alone(
    task: str, part: str
) -> None:
    places = {"baseline": [], "input": ["input"], "output": ["output"], "both": ["input", "output"]}
    models = {name: config(task, name)["model"] for name in places}
    encoders = {name: leaves(model[part]) for name, model in models.items()}

    for name, model in models.items():
        mixes = {field for field in model["text_embedder"] if field.endswith("mix")}
        assert mixes == {f"{place}_mix" for place in places[name]}
    assert encoders["baseline"] == encoders["output"]
    assert encoders["input"] == encoders["both"]
    ((path, narrow),) = encoders["baseline"].items() - encoders["input"].items()
    assert path in ("input_size", "0.input_size")
    assert encoders["input"][path] - narrow == 256


@pytest.mark.parametrize("task", ["snli", "sst"])
def test_last_only_and_lambda_1_are_both_with_one_change(task: str) -> None:
    both, lambda_1, last_only = (config(task, n) for n in ("both", "lambda_1", "last_only"))

    assert differences(both, lambda_1) == {f"{PENALTY}.0.1.alpha"}
    mixes = {f"model.text_embedder.{place}_mix.layers" for place in ("input", "output")}
    penalty = {path for path in leaves(both) if path.startswith(PENALTY)}
    assert differences(both, last_only) == mixes | penalty


def built(params: dict[str, Any]) -> Model:
    instances = DatasetReader.from_params(Params(params["dataset_reader"])).read(
        params["train_data_path"]
    )
    return Model.from_params(Params(params["model"]), vocab=Vocabulary.from_instances(instances))


@pytest.mark.parametrize("elmo_lambda", [0.001, 2])
def test_penalty_is_lambda_times_the_squares_of_the_weights_of_every_mix(
    elmo_lambda: float,
) -> None:
    model = built(tiny("sst", "both", f"{{ elmo_lambda: {elmo_lambda} }}"))
    embedder = model.text_embedder
    weights = [embedder.input_mix.scalar_parameters, embedder.output_mix.scalar_parameters]
    for parameter in weights:
        torch.nn.init.normal_(parameter)
    expected = elmo_lambda * sum((parameter.detach() ** 2).sum() for parameter in weights)

    penalty = model.get_regularization_penalty()
    penalty.backward()

    torch.testing.assert_close(penalty, expected)
    regularized = {
        name for name, parameter in model.named_parameters() if parameter.grad is not None
    }
    assert regularized == {
        f"text_embedder.{place}_mix.scalar_parameters" for place in ("input", "output")
    }


@pytest.mark.parametrize(
    "change",
    [
        "{ elmo_lambda: 0 }",
        "{ elmo_layers: 0 }",
        "{ elmo_layers: 'last' }",
        "{ elmo_layers: 'concat' }",
    ],
)
def test_there_is_no_regularizer_where_there_is_nothing_to_regularize(change: str) -> None:
    assert "regularizer" not in tiny("sst", "both", change)["model"]


@pytest.mark.parametrize("task", ["coref", "ner", "snli", "squad", "srl", "sst"])
def test_a_model_takes_layers_side_by_side_at_both_places(task: str) -> None:
    model = built(tiny(task, "both" if task != "srl" else "input", "{ elmo_layers: 'concat' }"))

    for mix in model.text_embedder.mixes().values():
        assert mix.layers == "concat"


@pytest.mark.parametrize(("folder", "name"), shipped())
def test_products_are_in_the_dtype_that_suits_the_machine(folder: str, name: str) -> None:
    found = leaves(config(folder, name))
    dtypes = {path: value for path, value in found.items() if path.split(".")[-1] == "dtype"}
    trains = any(path.endswith("requires_grad") for path in found)
    has_bilm = any("bilm.options" in path for path in found)

    assert set(dtypes.values()) == ({"auto"} if has_bilm else set())
    assert not has_bilm or all("bilm." in path for path in dtypes) != trains


def test_dtype_of_the_products_is_a_choice_and_that_of_an_own_bilm_comes_first() -> None:
    own = f"{{ bilm: {BILMS}.small {{ dtype: 'bfloat16' }} }}"

    for change, dtype in [("{ bilm_dtype: 'float32' }", "float32"), (own, "bfloat16")]:
        assert config("sst", "both", change)["model"]["text_embedder"]["bilm"]["dtype"] == dtype
        assert config("probe", "pos", change)["model"]["bilm"]["dtype"] == dtype


def test_own_bilm_and_known_bilm_with_a_change_are_taken() -> None:
    options = f"import '{ROOT}/fixtures/bilm/options.json'"

    own = tiny("sst", "both", f"{{ bilm: {{ options: {options}, pretrained_file: 'w.hdf5' }} }}")
    tuned = tiny("sst", "both", f"{{ bilm: {BILMS}.small {{ requires_grad: true }} }}")

    assert own["model"]["text_embedder"]["bilm"]["pretrained_file"] == "w.hdf5"
    assert tuned["model"]["text_embedder"]["bilm"]["requires_grad"]
    assert tuned["model"]["feedforward"]["input_dim"] == 8 + 2 * 128
