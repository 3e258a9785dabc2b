from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
from allennlp.modules.elmo import batch_to_ids

from elmo_tasks.analysis.check import check
from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
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


def test_a_sound_pair_is_described(tmp_path: Path) -> None:
    files = random_files(tmp_path)

    report = check(*files)

    num_parameters = sum(array.size for array in read_datasets(files[1]).values())
    for subject, text in {
        "options": str(files[0]),
        "LSTM layers": "2 a direction, cell state of 9, output of 6",
        "layers for ELMo": "3 of width 12",
        "parameters": f"{num_parameters:,}",
        "state": "snapshot: the options have no state; training with carried state is assumed",
        "weights": f"{files[1]}: 0.0 MB, float32",
    }.items():
        assert report.facts[subject] == text
    assert report.problems == []


def test_the_layers_of_a_sentence_are_measured() -> None:
    facts = check(*FIXTURE_FILES).facts

    layers = make_bilm(*FIXTURE_FILES)(batch_to_ids([facts["sentence"].split()])).layers[0]
    for number, layer in enumerate(layers.tolist()):
        values = numpy.array(layer)
        assert facts[f"layer {number}"] == (
            f"standard deviation {values.std(ddof=1):.3f}, largest value {abs(values).max():.2f}"
        )


def test_the_state_of_the_options_is_said(tmp_path: Path) -> None:
    raw = {**make_options(), "state": "carry"}
    files = write_files(tmp_path, raw, random_weights(raw))

    report = check(*files)

    assert report.facts["state"] == "carry, as given in the options" and report.problems == []


def test_the_precision_of_the_file_is_said(tmp_path: Path) -> None:
    make_bilm(*FIXTURE_FILES).to_files(tmp_path, dtype="float16")
    files = tmp_path / "options.json", tmp_path / "weights.hdf5"

    assert check(*files).facts["weights"] == f"{files[1]}: 0.1 MB, float16"


def _other_layers(folder: Path) -> tuple[Path, Path]:
    return write_files(folder, make_options(), random_weights(make_options(n_layers=3)))


REFUSED = {
    "another layer": (_other_layers, "Cell2/LSTMCell/B, which the options do not ask for"),
    "no files": (lambda folder: (folder / "no", folder / "no"), "there is no file of options"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_the_problem_is_the_error_of_opening_the_bilm(tmp_path: Path, kind: str) -> None:
    make, words = REFUSED[kind]
    files = make(tmp_path)

    report = check(*files)

    with pytest.raises(ConfigurationError) as caught:
        make_bilm(*files)
    assert report.problems == [str(caught.value)] and words in report.problems[0]
    assert "Not sound: 1 problem.\n" in str(report)


def _forget(bias: Array) -> Array:
    # The third of four blocks belongs to the forget gates.
    return numpy.where(numpy.arange(36) // 9 == 2, -1e4, bias)


def _cut(weight: Array) -> Array:
    # The first half of the rows reads the input, the second half the previous output.
    return weight * (numpy.arange(12) < 6)[:, None]


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        (
            {"CNN_proj/W_proj": lambda array: 1e38 * array},
            ["layer 0, forward: the sentence has values that are not finite numbers"],
        ),
        (
            {"CNN_proj/W_proj": lambda array: 1e-30 * array},
            [
                "layer 0, forward: all words of the sentence have the same vector",
                "layer 0, backward: all words of the sentence have the same vector",
            ],
        ),
        (
            {f"{CELL}/B": _forget, f"{CELL}/W_0": _cut},
            ["layer 1, forward: a word has the same vector in two contexts"],
        ),
    ],
)
def test_layers_that_say_nothing_are_not_sound(
    tmp_path: Path, changes: dict[str, Callable[[Array], Array]], problems: list[str]
) -> None:
    arrays = random_weights(make_options())
    arrays |= {name: change(arrays[name]) for name, change in changes.items()}
    files = write_files(tmp_path, make_options(), arrays)

    assert check(*files).problems[: len(problems)] == problems
