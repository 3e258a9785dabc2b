"""Tests of all shipped configs, and of the choices that all tasks share."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.command_line import our_command
from tests.helpers.configs import (
    BILMS,
    ROOT,
    SHIPPED,
    TASKS,
    config,
    config_path,
    differences,
    evaluate,
    leaves,
    shipped,
    tiny,
)
from tests.helpers.task_models import Task

PENALTY = "model.regularizer.regexes"

# These have several lines: the extras of Peters et al., and arguments for word vectors.
LONGER = [("snli", "paper"), ("srl", "paper"), *shipped("bilm", "probe")]


def test_the_shipped_configs_are_found() -> None:
    assert len(shipped()) > 60 and all("baseline" in SHIPPED[task] for task in TASKS)


@pytest.mark.parametrize(("folder", "name"), shipped())
def test_config_names_two_files_no_device_and_the_dtype_that_suits_the_machine(
    folder: str, name: str
) -> None:
    found = leaves(config(folder, name))

    assert "train_data_path" in found and "test_data_path" not in found
    assert not any("cuda_device" in path for path in found)
    assert not any(str(value).startswith(("/", "~", "http")) for value in found.values())
    dtypes = {path: value for path, value in found.items() if path.split(".")[-1] == "dtype"}
    trains = any(path.endswith("requires_grad") for path in found)
    has_bilm = any("bilm.options" in path for path in found)
    assert set(dtypes.values()) == ({"auto"} if has_bilm else set())
    assert not has_bilm or all("bilm." in path for path in dtypes) != trains


@pytest.mark.parametrize(("folder", "name"), [each for each in shipped() if each not in LONGER])
def test_variant_is_a_line_over_the_library(folder: str, name: str) -> None:
    lines = config_path(folder, name).read_text(encoding="utf-8").strip().splitlines()

    assert len([line for line in lines if not line.startswith("//")]) == 1


@pytest.mark.parametrize(
    ("folder", "name", "field"),
    [
        ("sst", "both", "elmo_lamda"),
        ("bilm", "mini", "from_archiv"),
        ("bilm", "mini", "batch_token"),
    ],
)
def test_misspelt_field_is_refused_by_training(
    folder: str, name: str, field: str, tmp_path: Path
) -> None:
    file = tmp_path / "misspelt.json"
    file.write_text(json.dumps(tiny(folder, name, f"{{ {field}: 1 }}")))

    with pytest.raises(ValueError, match=f"no field '{field}'"):
        our_command("train", file, "-s", tmp_path / "model")


REFUSED = [
    ("sst", "elmo_at: 'input'", "list of the places 'input' and 'output'.*, not input"),
    ("sst", "elmo_at: ['inputs']", "list of the places 'input' and 'output'"),
    ("sst", "elmo_at: ['input', 'input']", "each once at most"),
    ("sst", "elmo_layers: 'top'", "'all', 'concat', 'last' or the index of one layer, not top"),
    ("sst", "elmo_lambda: -1", "elmo_lambda must be 0 or more, not -1"),
    ("sst", "elmo_dropout: 1", "elmo_dropout must be from 0 to below 1"),
    ("sst", "elmo_layer_norm: true", "null, 'batch' or 'sentence', not true"),
    ("sst", "bilm: 'smal'", "bilm must be one of base,.* medium, .*, not smal"),
    ("sst", "bilm: { options: {} }", "or an object with options and pretrained_file, not"),
    ("sst", "word_vectors: 'glove'", r"one of glove\.6B\.100d, glove\.840B, learned, or"),
    ("sst", "min_count: 0", "min_count must be an integer of 1 or more, not 0"),
    ("sst", "min_count: 1.5", "min_count must be an integer of 1 or more, not 1.5"),
    ("sst", "max_pretrained_words: -1", "max_pretrained_words must be an integer .*, not -1"),
    ("sst", "max_pretrained_words: 'all'", "max_pretrained_words must be .* or null, not all"),
    ("sst", "granularity: 'fine'", "granularity must be one of 2-class, 3-class, 5-class"),
    ("sst", "classifier: 'svm'", "classifier must be one of feedforward, maxout, not svm"),
    ("sst", "output_place: 'roof'", "'encoder' or 'integrator', not roof"),
    *(
        ("sst", f"store: {each}", "store must be null, a folder, or an obj")
        for each in ("true", "5")
    ),
    ("ner", "hidden_dims: 200", "list of the width of each biLSTM, not 200"),
    ("snli", "dropout: '0.5'", "dropout must be from 0 to below 1, not 0.5"),
    ("snli", "attention_dropout: 1", "attention_dropout must be from 0 to below 1, not 1"),
    ("snli", "weight_penalty: -1", "weight_penalty must be 0 or more, not -1"),
    ("snli", "halve_learning_rate: 1", "halve_learning_rate must be true or false, not 1"),
    ("squad", "validate_on: 'best'", "validate_on must be 'raw' or 'average', not best"),
    ("srl", "recurrent_dropout: 1", "recurrent_dropout must be from 0 to below 1, not"),
]


@pytest.mark.parametrize(("task", "change", "complaint"), REFUSED)
def test_value_that_cannot_be_is_refused_by_jsonnet(task: str, change: str, complaint: str) -> None:
    with pytest.raises(RuntimeError, match=complaint):
        config(task, "baseline", f"{{ {change} }}")


FEEDFORWARDS = ("antecedent_feedforward.input_dim", "mention_feedforward.input_dim")


@pytest.mark.parametrize(
    ("task", "at_input", "at_output"),
    [
        ("classify", ["encoder.input_size"], ["feedforward.input_dim"]),
        ("coref", ["encoder.input_size", *FEEDFORWARDS], FEEDFORWARDS),
        ("ner", ["encoders.0.input_size"], []),
        ("snli", ["encoder.input_size"], ["projection.input_dim"]),
        ("squad", ["encoder.input_size"], []),
        ("srl", ["encoder.input_size"], []),
        ("sst", ["feedforward.input_dim"], ["integrator.input_size"]),
        ("tag", ["encoder.input_size"], []),
    ],
)
def test_places_change_the_embedder_and_the_widths_that_they_widen_alone(
    task: str, at_input: list[str], at_output: list[str]
) -> None:
    baseline = config(task, "baseline")
    widened = {"input": {*at_input, "text_embedder.input_mix"}}
    widened["output"] = {*at_output, "text_embedder.output_mix"}
    widened["both"] = widened["input"] | widened["output"]

    assert "elmo" not in baseline["dataset_reader"]["token_indexers"]
    assert set(baseline["model"]["text_embedder"]) == {"words"}
    assert "regularizer" not in baseline["model"]
    for name, expected in widened.items():
        changed = differences(baseline, config(task, name))
        kept = {
            path.removeprefix("model.").removesuffix(".layers").removesuffix(".dropout")
            for path in changed
            if not path.startswith(("model.text_embedder.bilm.", PENALTY))
            and "token_indexers.elmo." not in path
        }
        assert kept == expected


@pytest.mark.parametrize(
    ("task", "best"),
    [(task, "both") for task in ("snli", "squad", "sst")]
    + [(task, "input") for task in ("coref", "ner", "srl")],
)
def test_last_only_and_lambda_1_have_one_change_of_the_best_places(task: str, best: str) -> None:
    both = config(task, best)
    penalty = {path for path in leaves(both) if path.startswith(PENALTY)}
    lambda_1, last_only = config(task, "lambda_1"), config(task, "last_only")

    (regex,) = lambda_1["model"]["regularizer"]["regexes"]
    assert regex == ["scalar_parameters", {"type": "l2", "alpha": 1}]
    assert all(path.startswith(PENALTY) for path in differences(both, lambda_1))
    mixes = [name for name in both["model"]["text_embedder"] if name.endswith("_mix")]
    layers = {f"model.text_embedder.{mix}.layers" for mix in mixes}
    assert mixes and differences(both, last_only) == layers | penalty


@pytest.mark.parametrize("field", ["lambda: 0", "layers: 0", "layers: 'last'", "layers: 'concat'"])
def test_there_is_no_regularizer_where_there_is_nothing_to_regularize(field: str) -> None:
    assert "regularizer" not in tiny("sst", "both", f"{{ elmo_{field} }}")["model"]


@pytest.mark.parametrize("task", ["coref", "ner", "snli", "squad", "srl", "sst"])
def test_a_model_takes_layers_side_by_side_at_both_places(task: str) -> None:
    built = Task(task).build("{ elmo_layers: 'concat' }", "both" if task != "srl" else "input")

    for mix in built.model.text_embedder.mixes().values():
        assert mix.layers == "concat"


def test_dtype_of_the_products_is_a_choice_and_that_of_an_own_bilm_comes_first() -> None:
    own = f"{{ bilm: {BILMS}.small {{ dtype: 'bfloat16' }} }}"

    for change, dtype in [("{ bilm_dtype: 'float32' }", "float32"), (own, "bfloat16")]:
        assert config("sst", "both", change)["model"]["text_embedder"]["bilm"]["dtype"] == dtype
        assert config("probe", "pos", change)["model"]["bilm"]["dtype"] == dtype


LOWER, CASED = ({"lowercase_tokens": lowercase} for lowercase in (True, False))
TOKENS = "dataset_reader.token_indexers.tokens"
READER = {"genre_pattern": "(.)", "language": "de"}
TWO_COLUMNS = {"columns": ["word", "ner"]}
WHOLE = "max_passage_tokens"
WITH_CASE = "word_vectors: 'glove.840B', lowercase: false"

BILM = "model.text_embedder.bilm"

# What a choice changes in a config, at a dotted path.
CHOICES: list[tuple[str, str, str, Any]] = [
    ("coref/input", json.dumps(READER)[1:-1], "dataset_reader", READER),
    ("coref/input", "columns: ['word', 'x']", "dataset_reader", {"columns": ["word", "x"]}),
    ("coref/both", "elmo_at: ['output']", "model.encoder", {"input_size": 100 + 150}),
    ("ner/both", json.dumps(TWO_COLUMNS)[1:-1], "dataset_reader", TWO_COLUMNS),
    ("ner/both", "language: 'ru'", "dataset_reader.tokenizer", {"language": "ru"}),
    ("ner/paper", "hidden_dims: [7], elmo_at: []", "model.encoders.0", {"input_size": 50 + 128}),
    ("ner/paper", "", TOKENS, {"type": "elmo_folded_id", **LOWER}),
    ("ner/input", "", TOKENS, {"type": "elmo_word_id", **LOWER}),
    ("ner/input", WITH_CASE, TOKENS, {"type": "elmo_word_id", **CASED}),
    ("srl/paper", "", TOKENS, {"type": "elmo_word_id", **LOWER}),
    ("srl/input", WITH_CASE, TOKENS, {"type": "elmo_word_id", **CASED}),
    ("srl/input", "columns: ['word', 'roles']", "dataset_reader", {"columns": ["word", "roles"]}),
    ("srl/paper", "predicate_dim: 7, elmo_at: []", "model.encoder", {"input_size": 100 + 7}),
    ("squad/baseline", "characters: null", "model.encoder", {"input_size": 100}),
    ("squad/baseline", "characters: null", "vocabulary", {"min_count": {"tokens": 6}}),
    *(
        (f"{task}/baseline", "min_count: 7", "vocabulary.min_count", {"tokens": 7})
        for task in ("classify", "coref", "ner", "snli", "squad", "srl", "sst")
    ),
    ("sst/baseline", "min_phrase_tokens: null", "vocabulary", {"min_count": {"tokens": 2}}),
    ("squad/both", "average_decay: 0.99", "trainer.moving_average", {"decay": 0.99}),
    ("squad/both", "max_passage_tokens: 9", "dataset_reader", {WHOLE: 9}),
    (
        "squad/both",
        "max_passage_tokens: 9",
        "validation_dataset_reader",
        {"max_passage_tokens": None},
    ),
    ("squad/both", "paragraphs: 3", "dataset_reader", {"paragraphs": 3}),
    ("squad/shared_norm", "", "dataset_reader", {"paragraphs": 2}),
    ("squad/shared_norm", "", "validation_dataset_reader", {"paragraphs": None}),
    ("squad/both", "", "model.text_embedder.words.token_embedders.tokens", {"type": "embedding"}),
    ("sst/paper", "output_place: 'integrator'", "model.integrator", {"input_size": 3 * 600}),
    ("sst/both", "store: 'stores/sst'", BILM, {"store": {"path": "stores/sst"}}),
    ("sst/both", "store: { memory: 5 }", BILM, {"store": {"memory": 5}}),
    # The baseline has no biLM, so the field changes nothing.
    ("sst/baseline", "store: 'stores/sst'", "model.text_embedder", {"bilm": None}),
]


@pytest.mark.parametrize(("name", "change", "path", "expected"), CHOICES)
def test_a_choice_is_where_it_belongs(
    name: str, change: str, path: str, expected: dict[str, Any]
) -> None:
    keys = "".join(f"[{key if key.isdigit() else json.dumps(key)}]" for key in path.split("."))
    # jsonnet evaluates no other field.
    found = evaluate(f"((import '{config_path(*name.split('/'))}') {{ {change} }}){keys}")

    assert {field: found.get(field) for field in expected} == expected


def test_reviews_of_imdb_are_texts_of_ones_own_with_other_numbers() -> None:
    assert differences(config("imdb", "elmo"), config("classify", "input")) == {
        *("dataset_reader.max_tokens", "train_data_path", "validation_data_path"),
        *("model.encoder.hidden_size", "model.feedforward.hidden_dims"),
        *("model.feedforward.input_dim", "trainer.num_epochs", "trainer.patience"),
    }


def test_own_bilm_and_known_bilm_with_a_change_are_taken() -> None:
    options = f"import '{ROOT}/fixtures/bilm/options.json'"

    own = tiny("sst", "both", f"{{ bilm: {{ options: {options}, pretrained_file: 'w.hdf5' }} }}")
    tuned = tiny("sst", "both", f"{{ bilm: {BILMS}.small {{ requires_grad: true }} }}")

    assert own["model"]["text_embedder"]["bilm"]["pretrained_file"] == "w.hdf5"
    assert tuned["model"]["text_embedder"]["bilm"]["requires_grad"]
    assert tuned["model"]["feedforward"]["input_dim"] == 8 + 2 * 128
