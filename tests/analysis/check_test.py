import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy
import pytest
from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids

from elmo_tasks.analysis.check import check
from elmo_tasks.bilm import make_bilm
from elmo_tasks.bilm.files.known_bilms import KNOWN_BILMS
from elmo_tasks.bilm.files.options import BiLmOptions, num_parameters
from tests.helpers.reference_bilm import (
    FIXTURE_FILES,
    Array,
    make_options,
    random_files,
    random_weights,
    read_datasets,
    write_files,
)

CELL = "RNN_0/RNN/MultiRNNCell/Cell0/LSTMCell"


def problems_of(folder: Path, arrays: dict[str, Array], **options: Any) -> list[str]:
    """Returns the problems of a pair, without the names of the files."""
    files = write_files(folder, make_options(**options), arrays)
    said = check(*files).problems
    return [problem.removeprefix(f"{files[1]}: ") for problem in said]


def changed(**changes: Callable[[Array], Array]) -> dict[str, Array]:
    """Returns weights for `make_options()` with some datasets changed; `__` stands for `/`."""
    arrays = random_weights(make_options())
    for key, change in changes.items():
        name = key.replace("__", "/")
        arrays[name] = change(arrays[name])
    return arrays


def fact(files: tuple[Path, Path], subject: str) -> str:
    return dict(check(*files).facts)[subject]


# Sound pairs.


def test_a_sound_pair_is_described(tmp_path: Path) -> None:
    files = random_files(tmp_path)

    report = check(*files)

    num_parameters = sum(array.size for array in read_datasets(files[1]).values())
    facts = dict(report.facts)
    for subject, text in {
        "options": str(files[0]),
        "characters": "262, 50 a token, embedded in 4",
        "filters": "4 of width 1, 6 of width 2, 5 of width 3; 15 in all, relu",
        "highway layers": "2",
        "LSTM layers": "2 a direction, memory of 9, output of 6",
        "skip connections": "yes",
        "clips": "3 for the memory, 3 for the output",
        "layers for ELMo": "3 of width 12",
        "parameters": f"{num_parameters:,}",
        "state": "snapshot: the options have no state; training with carried state is assumed",
        "weights": f"{files[1]}: 0.0 MB, float32",
        "AllenNLP": "its own loader accepts the pair",
    }.items():
        assert facts[subject] == text
    assert report.problems == []


def test_the_layers_of_a_sentence_are_measured() -> None:
    facts = dict(check(*FIXTURE_FILES).facts)

    layers = make_bilm(*FIXTURE_FILES)(batch_to_ids([facts["sentence"].split()])).layers[0]
    for number, layer in enumerate(layers.tolist()):
        values = numpy.array(layer)
        assert facts[f"layer {number}"] == (
            f"standard deviation {values.std(ddof=1):.3f}, largest value {abs(values).max():.2f}"
        )


@pytest.mark.parametrize("state", ["reset", "snapshot", "carry"])
def test_the_state_is_that_of_the_options(tmp_path: Path, state: str) -> None:
    options = {**make_options(), "state": state}

    files = write_files(tmp_path, options, random_weights(options))

    assert fact(files, "state") == f"{state}, as given in the options"


def test_the_precision_of_the_file_is_said(tmp_path: Path) -> None:
    make_bilm(*FIXTURE_FILES).to_files(tmp_path, dtype="float16")
    files = tmp_path / "options.json", tmp_path / "weights.hdf5"

    assert fact(files, "weights") == f"{files[1]}: 0.1 MB, float16"
    assert check(*files).problems == []


def test_the_parameters_of_the_original_model_are_counted() -> None:
    filters = [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]]
    raw = make_options(filters=filters, embedding={"dim": 16}, projection_dim=512, dim=4096)

    # The released file has this many.
    assert num_parameters(BiLmOptions.from_dict(raw)) == 93_600_848


def test_weights_may_be_a_known_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KNOWN_BILMS, "original", str(FIXTURE_FILES[1]))

    report = check(FIXTURE_FILES[0], "original")

    assert report.problems == [] and dict(report.facts)["weights"].startswith("original: ")


def test_261_characters_are_sound_and_said(tmp_path: Path) -> None:
    files = random_files(tmp_path, n_characters=261)

    assert check(*files).problems == []
    assert fact(files, "characters").startswith("261 (as for training; bilm-tf needs")


def test_a_bilm_that_was_not_trained_is_sound_and_its_biases_are_said(tmp_path: Path) -> None:
    make_bilm(make_options(), state="reset").to_files(tmp_path)
    files = tmp_path / "options.json", tmp_path / "weights.hdf5"

    assert check(*files).problems == []
    # Three are of filters, four of highway layers, one of the projection and four of LSTMs.
    assert fact(files, "biases") == "all values are equal in 12 of 12 vectors, as before training"
    assert "biases" not in dict(check(*FIXTURE_FILES).facts)


# AllenNLP's loader.


def without(section: str, key: str) -> dict[str, Any]:
    options = make_options()
    del options[section][key]
    return options


REFUSED = {
    "cell_clip": (without("lstm", "cell_clip"), "have no lstm.cell_clip, which may be null"),
    "proj_clip": (without("lstm", "proj_clip"), "have no lstm.proj_clip, which may be null"),
    "skip": (
        make_options(use_skip_connections=False),
        "cannot load a biLM without skip connections",
    ),
    "no key of skip": (without("lstm", "use_skip_connections"), "without skip connections"),
    "highway": (without("char_cnn", "n_highway"), "have no char_cnn.n_highway, which may be 0"),
    "characters": (make_options(max_characters_per_token=40), "max_characters_per_token is not 50"),
    "no key of characters": (without("char_cnn", "max_characters_per_token"), "is not 50"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_sound_pair_may_be_refused_by_allennlp(tmp_path: Path, kind: str) -> None:
    options, refusal = REFUSED[kind]
    cnn = {"n_highway": 0, **options["char_cnn"]}
    arrays = random_weights({**options, "char_cnn": cnn})
    files = write_files(tmp_path, options, arrays)

    report = check(*files)

    assert report.problems == []
    said = dict(report.facts)["AllenNLP"]
    assert said.startswith("its own loader refuses the pair: ") and refusal in said
    with pytest.raises(Exception, match=".*"):
        _ElmoBiLm(*files)(batch_to_ids([["A", "film"]]))


@pytest.mark.parametrize("clip", [None, 0, 1.5])
def test_a_pair_of_other_clips_is_taken_by_allennlp(tmp_path: Path, clip: float | None) -> None:
    files = random_files(tmp_path, cell_clip=clip, n_highway=0)

    assert fact(files, "AllenNLP") == "its own loader accepts the pair"
    assert fact(files, "clips").startswith("1.5 for" if clip else "none for")


def test_a_projection_that_is_left_out_is_sound_and_refused_by_allennlp(tmp_path: Path) -> None:
    options = make_options(filters=[[2, 6]])
    arrays = random_weights(options)
    arrays = {name: array for name, array in arrays.items() if not name.startswith("CNN_proj")}

    report = check(*write_files(tmp_path, options, arrays))

    assert report.problems == []
    assert "refuses the pair: KeyError: " in dict(report.facts)["AllenNLP"]


# Pairs that are not sound.


def test_every_problem_is_said(tmp_path: Path) -> None:
    arrays = changed(
        CNN__b_cnn_1=lambda array: numpy.append(array, 0),
        CNN_high_1__W_carry=lambda array: 0 * array + 2.5,
        CNN_high_0__b_carry=lambda array: array * numpy.inf,
        CNN_proj__W_proj=lambda array: numpy.where(array == array.max(), numpy.nan, array),
    )
    del arrays[f"{CELL}/B"], arrays["CNN/W_cnn_2"]
    arrays["CNN/W_cnn_3"] = arrays["global_step"] = numpy.ones(1)
    files = write_files(tmp_path, make_options(), arrays)

    problems = check(*files).problems

    assert set(problems) == {
        f"{files[1]}: {problem}"
        for problem in (
            "has CNN/W_cnn_3, which the options do not ask for",
            "has global_step, which the options do not ask for",
            "has no CNN/W_cnn_2, which the options ask for",
            f"has no {CELL}/B, which the options ask for",
            "CNN/b_cnn_1 has shape (7,), but the options ask for (6,)",
            "all values of CNN_high_1/W_carry are 2.5",
            "CNN_high_0/b_carry holds a value that is not a finite number (15 of 15 are not)",
            "CNN_proj/W_proj holds a value that is not a finite number (1 of 90 are not)",
        )
    }
    assert len(problems) == 8


def test_one_problem_is_one(tmp_path: Path) -> None:
    arrays = changed(CNN__W_cnn_0=numpy.zeros_like)

    report = check(*write_files(tmp_path, make_options(), arrays))

    assert "Not sound: 1 problem.\n" in str(report)
    assert report.problems[0].endswith("all values of CNN/W_cnn_0 are 0")
    assert "layer 0" not in dict(report.facts)


def test_a_file_with_another_layer_than_the_options_is_not_sound(tmp_path: Path) -> None:
    options = make_options(n_layers=3)
    files = write_files(tmp_path, make_options(), random_weights(options))

    report = check(*files)

    num_missing = len(random_weights(options)) - len(random_weights(make_options()))
    assert len(report.problems) == num_missing == 6
    assert all("Cell2/LSTMCell/" in problem for problem in report.problems)
    # It would load two of the three layers without an error.
    assert dict(report.facts)["AllenNLP"] == "its own loader accepts the pair nevertheless"


def test_a_row_of_padding_among_the_characters_is_not_sound(tmp_path: Path) -> None:
    arrays = changed(char_embed=lambda table: numpy.concatenate([numpy.zeros((1, 4)), table]))

    assert problems_of(tmp_path, arrays) == [
        "char_embed has shape (262, 4), but the options ask for (261, 4)",
        "char_embed begins with a row of zeros for padding; leave this row out",
    ]


def test_text_in_the_place_of_numbers_is_not_sound(tmp_path: Path) -> None:
    files = random_files(tmp_path)
    with h5py.File(files[1], "a") as file:
        del file["char_embed"]
        file["char_embed"] = "text"

    assert check(*files).problems == [f"{files[1]}: char_embed holds object, which are not numbers"]


def test_every_problem_of_the_options_is_said_with_those_of_the_weights(tmp_path: Path) -> None:
    options = {"char_cnn": make_options(n_characters=100, n_highway=-1)["char_cnn"], "state": "no"}
    files = write_files(tmp_path, options, changed(char_embed=lambda array: array + numpy.inf))

    problems = check(*files).problems

    assert problems == [
        f"{files[0]}: char_cnn.n_highway cannot be -1",
        f"{files[0]}: lstm is missing, or is not an object",
        f"{files[0]}: char_cnn.n_characters must be 262 (or 261, as while training with bilm-tf), "
        "but is 100",
        f"{files[0]}: state must be one of reset, snapshot, carry, but is 'no'",
        f"{files[1]}: char_embed holds a value that is not a finite number (1044 of 1044 are not)",
    ]


@pytest.mark.parametrize("content", ["{", "[1]", "", b"\xff\xfe"])
def test_options_that_are_not_json_do_not_hide_what_is_wrong_with_the_weights(
    tmp_path: Path, content: str | bytes
) -> None:
    files = write_files(tmp_path, make_options(), changed(char_embed=numpy.zeros_like))
    files[0].write_bytes(content if isinstance(content, bytes) else content.encode())

    report = check(*files)

    of_options, of_weights = report.problems
    assert of_options.startswith(f"{files[0]} is not ")
    assert of_weights.endswith("all values of char_embed are 0")
    assert "AllenNLP" not in dict(report.facts)


@pytest.mark.parametrize("size", [0, 1000, 100_000])
def test_a_truncated_file_is_not_sound(tmp_path: Path, size: int) -> None:
    weights = tmp_path / "weights.hdf5"
    weights.write_bytes(FIXTURE_FILES[1].read_bytes()[:size])

    report = check(FIXTURE_FILES[0], weights)

    (problem,) = report.problems
    assert problem.startswith(f"{weights} cannot be read as HDF5; it may be truncated")
    assert dict(report.facts)["LSTM layers"].startswith("2 a direction")


def test_both_files_may_be_missing(tmp_path: Path) -> None:
    options, weights = tmp_path / "no.json", tmp_path / "no.hdf5"

    assert check(options, weights).problems == [
        f"there is no file of options {options}",
        f"there is no file of weights {weights}",
    ]


@pytest.mark.parametrize("seed", range(20))
def test_a_damaged_file_raises_nothing(tmp_path: Path, seed: int) -> None:
    random = numpy.random.RandomState(seed)
    content = bytearray(FIXTURE_FILES[1].read_bytes())
    # The beginning of the file says which data is where.
    for offset in random.randint(0, 8000, size=20):
        content[offset] = random.randint(256)
    weights = tmp_path / "weights.hdf5"
    weights.write_bytes(content)

    check(FIXTURE_FILES[0], weights)


# The layers of a sentence.


def test_weights_so_large_that_vectors_are_not_finite_are_not_sound(tmp_path: Path) -> None:
    problems = problems_of(tmp_path, changed(CNN_proj__W_proj=lambda array: 1e38 * array))

    assert "layer 0, forward: the sentence has values that are not finite numbers" in problems


def test_weights_that_make_all_words_alike_are_not_sound(tmp_path: Path) -> None:
    problems = problems_of(tmp_path, changed(CNN_proj__W_proj=lambda array: 1e-30 * array))

    assert "layer 0, forward: all words of the sentence have the same vector" in problems
    assert "layer 0, backward: all words of the sentence have the same vector" in problems


def test_an_lstm_that_does_not_see_the_context_is_not_sound(tmp_path: Path) -> None:
    def forget(bias: Array) -> Array:
        # The third of four blocks belongs to the forget gates.
        return numpy.where(numpy.arange(36) // 9 == 2, -1e4, bias)

    def cut(weight: Array) -> Array:
        # The first half of the rows reads the input, the second half the previous output.
        return weight * (numpy.arange(12) < 6)[:, None]

    arrays = changed(**{f"{CELL}/B": forget, f"{CELL}/W_0": cut})

    assert problems_of(tmp_path, arrays) == [
        "layer 1, forward: a word has the same vector in two contexts",
    ]


def test_the_files_are_left_as_they_are(tmp_path: Path) -> None:
    files = random_files(tmp_path)
    before = [file.read_bytes() for file in files]

    check(*files)

    assert [file.read_bytes() for file in files] == before
    assert json.loads(before[0]) == make_options()
