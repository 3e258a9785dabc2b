import json
from pathlib import Path
from typing import Any

import pytest

from elmo_tasks.analysis.mix import mix_table, read_mixes
from elmo_tasks.analysis.tables import table
from tests.helpers.archives import FIXTURE, classifier
from tests.helpers.configs import tiny
from tests.helpers.training import train

ELMO: dict[str, Any] = {"type": "elmo_bilm", "bilm": FIXTURE}
ONE_LAYER: dict[str, Any] = {"type": "elmo_bilm", "bilm": {**FIXTURE}, "mix": {"layers": 1}}


def placed(model: str, place: str, weights: list[float], gamma: float) -> dict[str, Any]:
    return {"model": model, "place": place, "weights": weights, "gamma": gamma}


def test_a_token_embedder_is_at_the_input_and_one_layer_alone_has_all_the_weight(
    tmp_path: Path,
) -> None:
    archive = classifier(tmp_path, elmo=ONE_LAYER)

    (mix,) = read_mixes("one", str(archive))

    assert (mix["place"], mix["weights"]) == ("input", [0.0, 1.0, 0.0])


def test_two_token_embedders_have_their_names(tmp_path: Path) -> None:
    classifier(tmp_path, first=ELMO, second=ONE_LAYER)

    first, second = read_mixes("two", str(tmp_path))

    assert first["place"] == "_text_field_embedder.token_embedder_first.mix"
    assert second["place"] == "_text_field_embedder.token_embedder_second.mix"
    assert first["weights"] == pytest.approx([1 / 3] * 3)
    assert second["weights"] == [0.0, 1.0, 0.0]


def test_a_mix_of_fewer_layers_leaves_cells_empty() -> None:
    mixes = [
        placed("sst", "input", [0.2, 0.3, 0.5], 2.0),
        placed("own", "output", [0.75, 0.25], 1.0),
    ]

    lines = mix_table(mixes).splitlines()

    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:4]]
    assert rows == [
        ["sst", "input", "0.200", "0.300", "0.500", "2.000"],
        ["own", "output", "0.750", "0.250", "", "1.000"],
    ]
    assert (
        lines[-1]
        == "s0 is the weight of tokens, s1 is the weight of LSTM 1, s2 is the weight of LSTM 2."
    )


def test_the_same_values_are_metrics_of_every_epoch_and_scalars_of_tensorboard(
    tmp_path: Path,
) -> None:
    change = """{ trainer+: {
        callbacks: ['tensorboard'], num_epochs: 3, optimizer+: { lr: 0.1 }, patience: null,
        validation_metric: '-elmo_input_gamma',
    } }"""

    train(tiny("sst", "both", change), tmp_path / "run")

    epochs = [
        json.loads((tmp_path / "run" / f"metrics_epoch_{epoch}.json").read_text())
        for epoch in range(3)
    ]
    places = ("elmo_input_", "elmo_output_")
    names = [place + value for place in places for value in ("s0", "s1", "s2", "gamma")]
    for log, split in (("train", "training"), ("validation", "validation")):
        (events,) = (tmp_path / "run" / "log" / log).iterdir()
        for name in names:
            assert len({epoch[f"{split}_{name}"] for epoch in epochs}) == 3
            assert events.read_bytes().count(f"/{name}".encode()) == 3
    mixes = read_mixes("run", str(tmp_path / "run" / "model.tar.gz"))
    for prefix, mix in zip(places, mixes, strict=True):
        best = [epochs[-1][f"best_validation_{prefix}{value}"] for value in ("s0", "s1", "s2")]
        assert mix["weights"] == pytest.approx(best)
        assert mix["gamma"] == pytest.approx(epochs[-1][f"best_validation_{prefix}gamma"])


def test_names_are_aligned_to_the_left_and_numbers_to_the_right() -> None:
    assert table(["name", "value"], [["a long one", "1.5"], ["b", "-20.25"]]).splitlines() == [
        "| name       | value  |",
        "| ---------- | ------ |",
        "| a long one |    1.5 |",
        "| b          | -20.25 |",
    ]
