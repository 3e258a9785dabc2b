import json
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.bilm.files import options as options_file
from elmo_tasks.bilm.files.options import BiLmOptions, num_parameters
from elmo_tasks.bilm.files.read_options import read_options
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.reference_bilm import make_options

# The options of the released original model, as in its `options.json`.
ORIGINAL = """
{"lstm": {"use_skip_connections": true, "projection_dim": 512, "cell_clip": 3, "proj_clip": 3,
          "dim": 4096, "n_layers": 2},
 "char_cnn": {"activation": "relu", "filters": [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256],
              [6, 512], [7, 1024]], "n_highway": 2, "embedding": {"dim": 16},
              "n_characters": 262, "max_characters_per_token": 50}}
"""


def test_the_options_of_the_original_model_are_read() -> None:
    options = BiLmOptions.from_dict(json.loads(ORIGINAL))

    assert options == BiLmOptions(
        filters=((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024)),
        activation="relu",
        char_dim=16,
        max_characters=50,
        num_highway=2,
        num_layers=2,
        cell_dim=4096,
        projection_dim=512,
        cell_clip=3,
        projection_clip=3,
        skip_connections=True,
        state=None,
    )
    assert options.num_filters == 2048


@pytest.mark.parametrize("num_characters", [261, 262])
def test_options_may_have_261_characters_from_training_or_262_from_prediction(
    num_characters: int,
) -> None:
    options = BiLmOptions.from_dict(make_options(n_characters=num_characters))

    assert options == BiLmOptions.from_dict(make_options())


@pytest.mark.parametrize("clip", [None, 0, 0.0])
def test_a_bound_that_is_null_or_zero_or_left_out_is_no_bound(clip: float | None) -> None:
    left_out = make_options()
    del left_out["lstm"]["cell_clip"], left_out["lstm"]["proj_clip"]

    for raw in (make_options(cell_clip=clip, proj_clip=clip), left_out):
        options = BiLmOptions.from_dict(raw)
        assert options.cell_clip is None and options.projection_clip is None


def test_keys_that_bilm_tf_adds_while_training_are_ignored() -> None:
    raw = {**make_options(), "bidirectional": True, "dropout": 0.1, "n_epochs": 10, "unroll": 20}

    assert BiLmOptions.from_dict(raw) == BiLmOptions.from_dict(make_options())


@pytest.mark.parametrize(
    ("section", "name", "meant"),
    [
        (None, "stat", "state"),
        ("lstm", "cell_clp", "cell_clip"),
        ("char_cnn", "n_higway", "n_highway"),
        ("char_cnn.embedding", "dims", "dim"),
    ],
)
def test_a_misspelt_name_is_answered_with_the_one_that_was_meant(
    section: str | None, name: str, meant: str
) -> None:
    options = make_options()
    inner: dict[str, Any] = options
    for part in section.split(".") if section else ():
        inner = inner[part]
    inner[name] = 1
    where = f"{section}.{name}" if section else name

    with pytest.raises(ConfigurationError, match=f"{where} is no option; did you mean '{meant}'"):
        BiLmOptions.from_dict(options)


@pytest.mark.parametrize(
    ("section", "key"),
    [
        ("char_cnn", "activation"),
        ("char_cnn", "filters"),
        ("lstm", "n_layers"),
        ("lstm", "dim"),
        ("lstm", "projection_dim"),
    ],
)
@pytest.mark.parametrize("null", [True, False])
def test_a_missing_key_is_named(section: str, key: str, null: bool) -> None:
    options = make_options()
    del options[section][key]
    if null:
        options[section][key] = None

    with pytest.raises(ConfigurationError, match=f"options: {section}.{key} is missing"):
        BiLmOptions.from_dict(options)


@pytest.mark.parametrize("path", ["char_cnn", "lstm", "char_cnn.embedding"])
@pytest.mark.parametrize("value", [None, 3, "missing"])
def test_a_missing_section_is_named(path: str, value: Any) -> None:
    options: dict[str, Any] = make_options()
    *parents, key = path.split(".")
    parent = options[parents[0]] if parents else options
    parent[key] = value
    if value == "missing":
        del parent[key]

    with pytest.raises(ConfigurationError, match=f"options: {path} is missing, or is not an obj"):
        BiLmOptions.from_dict(options)


def test_a_missing_width_of_the_characters_is_named() -> None:
    with pytest.raises(ConfigurationError, match="options: char_cnn.embedding.dim is missing"):
        BiLmOptions.from_dict(make_options(embedding={}))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("n_layers", 0, "lstm.n_layers cannot be 0"),
        ("n_layers", 2.0, "lstm.n_layers cannot be 2.0"),
        ("n_layers", True, "lstm.n_layers cannot be True"),
        ("dim", "9", "lstm.dim cannot be '9'"),
        ("projection_dim", -6, "lstm.projection_dim cannot be -6"),
        ("cell_clip", -3, "lstm.cell_clip cannot be -3"),
        ("proj_clip", [3], r"lstm.proj_clip cannot be \[3\]"),
        ("use_skip_connections", 1, "lstm.use_skip_connections cannot be 1"),
        ("n_highway", -1, "char_cnn.n_highway cannot be -1"),
        ("embedding", {"dim": 0}, "char_cnn.embedding.dim cannot be 0"),
        ("activation", 1, "char_cnn.activation cannot be 1"),
        ("max_characters_per_token", 0, "char_cnn.max_characters_per_token cannot be 0"),
        ("n_characters", "262", "char_cnn.n_characters cannot be '262'"),
        ("n_characters", 260, "n_characters must be 262 .or 261, .*, but is 260"),
        ("activation", "gelu", "char_cnn.activation must be relu or tanh, but is 'gelu'"),
        ("filters", [], "char_cnn.filters is missing"),
        ("filters", {"1": 4}, "char_cnn.filters is missing"),
        ("filters", [[1, 4, 2]], r"pairs of a width and a number of filters, not \[1, 4, 2\]"),
        ("filters", [[1, 4], [2, 0]], r"pairs of a width and a number of filters, not \[2, 0\]"),
        ("filters", [[1, 4.0]], r"pairs of a width and a number of filters, not \[1, 4.0\]"),
        ("filters", [1, 4], "pairs of a width and a number of filters, not 1"),
        ("filters", ["14"], "pairs of a width and a number of filters, not '14'"),
        ("n_layers", 101, "lstm.n_layers can be at most 100, but is 101"),
        ("n_layers", 10**12, "lstm.n_layers can be at most 100, but is 1000000000000"),
        ("n_highway", 10**12, "char_cnn.n_highway can be at most 100, but is 1000000000000"),
        ("dim", 10**12, "lstm.dim can be at most 100000, but is 1000000000000"),
        ("dim", 1e30, "lstm.dim cannot be 1e[+]30"),
        ("projection_dim", 100_001, "lstm.projection_dim can be at most 100000, but is 100001"),
        ("embedding", {"dim": 10**6}, "char_cnn.embedding.dim can be at most 100000, but is 10"),
        ("max_characters_per_token", 257, "can be at most 256, but is 257"),
        ("cell_clip", 1e31, "lstm.cell_clip can be at most 1e[+]30, but is 1e[+]31"),
        ("filters", [[1, 4]] * 101, "char_cnn.filters has 101 pairs; at most 100 are allowed"),
        ("filters", [[1, 10**6]], r"not \[1, 1000000\]; both can be at most 100000"),
        ("filters", [[1, 60_000], [2, 60_000]], "has 120000 filters; at most 100000 are allowed"),
        (
            "filters",
            [[1, 50_000]],
            "would have 10,.* parameters; at most 1,000,000,000 are",
        ),
        ("filters", [[51, 4]], "filters has width 51, more than the 50 characters of a token"),
    ],
)
def test_a_wrong_value_is_named(key: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"^'?options: .*{message}"):
        BiLmOptions.from_dict(make_options(**{key: value}))


@pytest.mark.parametrize("state", ["warm", 1, ["reset"]])
def test_an_unknown_state_is_named(state: Any) -> None:
    with pytest.raises(ConfigurationError, match="state must be one of reset, snapshot, carry"):
        BiLmOptions.from_dict({**make_options(), "state": state})


def test_parameters_are_counted_as_the_layout_has_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options_file, "MAX_PARAMETERS", 0)

    for changes in ({}, {"filters": [[3, 4], [1, 2]], "n_highway": 0, "n_layers": 3}):
        parsed, problems = BiLmOptions.parse(make_options(**changes))
        assert f"would have {num_parameters(parsed):,} parameters; at most 0" in problems[0]


def test_a_file_of_options_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "options.json"
    path.write_text(f'{{"a": {101 * "["}')
    with pytest.raises(ConfigurationError, match="options.json is not JSON: Expecting value"):
        read_options(path)

    path.write_text(101 * '{"a":' + "1" + 101 * "}")
    with pytest.raises(ConfigurationError, match="is not JSON: the JSON is nested more than 100"):
        read_options(path)

    path.write_text(10**7 * " " + "{}")
    with pytest.raises(ConfigurationError, match="options.json has more than 10,000,000 bytes"):
        read_options(path)
