import json
from typing import Any

import pytest

from elmo_tasks.bilm.files import options as options_file
from elmo_tasks.bilm.files.layout import datasets
from elmo_tasks.bilm.files.options import BiLmOptions, num_parameters
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.reference_bilm import make_options, shapes

# The options of the released original model, as in its `options.json`.
ORIGINAL = """
{"lstm": {"use_skip_connections": true, "projection_dim": 512, "cell_clip": 3, "proj_clip": 3,
          "dim": 4096, "n_layers": 2},
 "char_cnn": {"activation": "relu", "filters": [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256],
              [6, 512], [7, 1024]], "n_highway": 2, "embedding": {"dim": 16},
              "n_characters": 262, "max_characters_per_token": 50}}
"""


def test_the_options_of_the_original_model_are_read() -> None:
    raw = json.loads(ORIGINAL)
    options = BiLmOptions.from_dict(raw)

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
    assert {dataset.name: dataset.shape for dataset in datasets(options)} == shapes(raw)
    assert num_parameters(options) == 93_600_848


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


def test_a_bound_that_is_a_whole_number_is_described_without_a_point() -> None:
    options = [BiLmOptions.from_dict(make_options(cell_clip=clip)) for clip in (3, 3.0)]

    assert repr(options[0]) == repr(options[1])


def test_keys_that_bilm_tf_adds_while_training_are_ignored() -> None:
    raw = {**make_options(), "bidirectional": True, "dropout": 0.1, "n_epochs": 10, "unroll": 20}

    assert BiLmOptions.from_dict(raw) == BiLmOptions.from_dict(make_options())


MISSING = object()


def changed(path: str, value: Any) -> dict[str, Any]:
    """Returns options with another value at a dotted path."""
    options: dict[str, Any] = make_options()
    *parents, key = path.split(".")
    section = options
    for parent in parents:
        section = section[parent]
    section[key] = value
    if value is MISSING:
        del section[key]
    return options


CANNOT_BE: list[tuple[str, Any]] = [
    *(("lstm.n_layers", value) for value in (0, 2.0, True)),
    ("lstm.dim", "9"),
    ("lstm.dim", 1e30),
    ("lstm.projection_dim", -6),
    ("lstm.cell_clip", -3),
    ("lstm.cell_clip", float("nan")),
    ("lstm.proj_clip", [3]),
    ("lstm.use_skip_connections", 1),
    ("char_cnn.n_highway", -1),
    ("char_cnn.embedding.dim", 0),
    ("char_cnn.activation", 1),
    ("char_cnn.max_characters_per_token", 0),
    ("char_cnn.n_characters", "262"),
]
TOO_LARGE: list[tuple[str, Any, str]] = [
    *(("lstm.n_layers", value, "100") for value in (101, 10**12)),
    ("char_cnn.n_highway", 10**12, "100"),
    ("lstm.dim", 10**12, "100000"),
    ("lstm.projection_dim", 100_001, "100000"),
    ("char_cnn.embedding.dim", 10**6, "100000"),
    ("char_cnn.max_characters_per_token", 257, "256"),
    ("lstm.cell_clip", 1e31, "1e+30"),
]
NO_PAIRS: list[tuple[Any, Any]] = [
    ([[1, 4, 2]], [1, 4, 2]),
    ([[1, 4], [2, 0]], [2, 0]),
    ([[1, 4.0]], [1, 4.0]),
    ([1, 4], 1),
    (["14"], "14"),
    ([[1, 10**6]], [1, 10**6]),
]
FILTERS = "char_cnn.filters"
REFUSED: list[tuple[str, Any, str]] = [
    *(
        (path, value, f"{path} is missing")
        for path in ("char_cnn.activation", FILTERS, "lstm.n_layers", "lstm.dim")
        for value in (None, MISSING)
    ),
    *(
        (path, value, f"{path} is missing, or is not an object")
        for path in ("char_cnn", "lstm", "char_cnn.embedding")
        for value in (None, 3, MISSING)
    ),
    ("char_cnn.embedding", {}, "char_cnn.embedding.dim is missing"),
    *((path, value, f"{path} cannot be {value!r}") for path, value in CANNOT_BE),
    *(
        (path, value, f"{path} can be at most {most}, but is {value!r}")
        for path, value, most in TOO_LARGE
    ),
    *(
        (FILTERS, value, f"pairs of a width and a number of filters, not {s!r}")
        for value, s in NO_PAIRS
    ),
    (FILTERS, [], f"{FILTERS} has 0 pairs"),
    (FILTERS, {"1": 4}, f"{FILTERS} cannot be"),
    (FILTERS, [[1, 4]] * 101, f"{FILTERS} has 101 pairs"),
    (FILTERS, [[1, 60_000], [2, 60_000]], "has 120000 filters; at most 100000 are allowed"),
    (FILTERS, [[51, 4]], "filters has width 51, more than the 50 characters of a token"),
    ("char_cnn.n_characters", 260, "n_characters must be 262 (or 261, as while training with"),
    ("char_cnn.activation", "gelu", "char_cnn.activation must be relu or tanh, but is 'gelu'"),
    *(("state", value, "state must be one of reset, snapshot") for value in ("warm", 1, ["reset"])),
]


@pytest.mark.parametrize(("path", "value", "words"), REFUSED)
def test_a_wrong_option_is_named(path: str, value: Any, words: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        BiLmOptions.from_dict(changed(path, value))

    assert str(refused.value).strip("'").startswith("options: ") and words in str(refused.value)


def test_one_parameter_too_many_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    options = make_options(filters=[[3, 4], [1, 2]], n_highway=0, n_layers=3)
    number = num_parameters(BiLmOptions.from_dict(options))
    monkeypatch.setattr(options_file, "MAX_PARAMETERS", number - 1)

    with pytest.raises(ConfigurationError, match=f"would have {number:,} parameters; at most "):
        BiLmOptions.from_dict(options)
