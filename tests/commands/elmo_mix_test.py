import json
import math
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _jsonnet
import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from tensorboardX.proto.event_pb2 import Event

from elmo_tasks.commands.elmo_mix import named_archives
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.archives import FIXTURE, ROOT, classifier, sst
from tests.helpers.command_line import allennlp
from tests.helpers.reference_bilm import FIXTURE_FILES

Mixes = Callable[..., list[dict[str, Any]]]

ELMO: dict[str, Any] = {"type": "elmo_bilm", "bilm": FIXTURE}
ONE_LAYER: dict[str, Any] = {"type": "elmo_bilm", "bilm": {**FIXTURE}, "mix": {"layers": 1}}


def set_mixes(folder: Path, **values: tuple[list[float], float]) -> None:
    """Gives the mixes of an archive's folder other weights and gammas, by their names."""
    state = torch.load(folder / "best.th")
    for name, (weights, gamma) in values.items():
        prefix = f"text_embedder.{name}"
        state[f"{prefix}.scalar_parameters"] = torch.tensor(weights)
        state[f"{prefix}.gamma"] = torch.tensor([gamma])
    torch.save(state, folder / "best.th")


def softmax(weights: list[float]) -> list[float]:
    powers = [math.exp(weight) for weight in weights]
    return [power / sum(powers) for power in powers]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "sst" / "both"
    folder.mkdir(parents=True)
    sst(folder, "both")
    set_mixes(folder, input_mix=([1.0, -0.5, 2.0], 0.5), output_mix=([0.0, 3.0, 0.0], 2.0))
    return folder


@pytest.fixture
def mixes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mixes:
    """What the command says of some archives, as JSON."""

    def run(*archives: object) -> list[dict[str, Any]]:
        allennlp(monkeypatch, "elmo-mix", *archives, "--json", tmp_path / "mix.json")
        return json.loads((tmp_path / "mix.json").read_text())["mixes"]

    return run


def refusal(monkeypatch: pytest.MonkeyPatch, *args: object) -> str:
    with pytest.raises(SystemExit) as refused:
        allennlp(monkeypatch, "elmo-mix", *args)
    return str(refused.value)


def test_weights_gamma_and_their_products_are_those_of_equation_1(both: Path, mixes: Mixes) -> None:
    at_input, at_output = mixes(both)

    expected = softmax([1.0, -0.5, 2.0])
    assert (at_input["model"], at_input["place"], at_input["gamma"]) == ("both", "input", 0.5)
    assert at_input["weights"] == pytest.approx(expected)
    assert at_input["products"] == pytest.approx([0.5 * weight for weight in expected])
    assert (at_output["place"], at_output["gamma"]) == ("output", 2.0)
    assert at_output["weights"] == pytest.approx(softmax([0.0, 3.0, 0.0]))


def test_the_table_has_a_row_for_each_place_and_the_files_say_the_same(
    both: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    numbers, chart = tmp_path / "made" / "mix.json", tmp_path / "made" / "mix.png"

    allennlp(monkeypatch, "elmo-mix", f"SST={both}", "--json", numbers, "--chart", chart)

    table = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if "|" in line]
    rows = [[cell.strip() for cell in line] for line in table]
    columns = "model place s0 s1 s2 gamma".split() + ["gamma s0", "gamma s1", "gamma s2"]
    assert rows[0] == columns
    # exp(1), exp(-0.5) and exp(2) are 2.718, 0.607 and 7.389: 10.714 together.
    shown = ["SST", "input", "0.254", "0.057", "0.690", "0.500", "0.127", "0.028", "0.345"]
    assert rows[2] == shown
    assert len(rows) == 4 and len({len(line) for line in table}) == 1
    written = json.loads(numbers.read_text())
    assert [mix["model"] for mix in written["mixes"]] == ["SST", "SST"]
    assert written["command"].startswith("allennlp elmo-mix SST=")
    assert chart.read_bytes().startswith(b"\x89PNG")
    assert {path.name for path in numbers.parent.iterdir()} == {"mix.json", "mix.png"}


def test_one_layer_alone_has_all_the_weight(tmp_path: Path, mixes: Mixes) -> None:
    sst(tmp_path, "last_only")

    rows = mixes(tmp_path)

    assert [(row["place"], row["weights"]) for row in rows] == [
        ("input", [0.0, 0.0, 1.0]),
        ("output", [0.0, 0.0, 1.0]),
    ]


def test_a_token_embedder_is_at_the_input_and_two_have_their_names(
    tmp_path: Path, mixes: Mixes
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    archive = classifier(tmp_path / "one", elmo=ONE_LAYER)
    classifier(tmp_path / "two", first=ELMO, second=ONE_LAYER)

    rows = mixes(archive, tmp_path / "two")

    assert [(row["model"], row["place"]) for row in rows] == [
        ("one", "input"),
        ("two", "_text_field_embedder.token_embedder_first.mix"),
        ("two", "_text_field_embedder.token_embedder_second.mix"),
    ]
    assert rows[0]["weights"] == rows[2]["weights"] == [0.0, 1.0, 0.0]
    assert rows[1]["weights"] == pytest.approx([1 / 3] * 3)


def test_an_archive_without_elmo_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = sst(tmp_path, "baseline")

    message = refusal(monkeypatch, archive)

    assert message.startswith(f"elmo-mix: {archive} holds no mix of elmo_tasks, but a Bcn of ")


def test_an_archive_with_allennlps_elmo_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"options_file": str(FIXTURE_FILES[0]), "weight_file": str(FIXTURE_FILES[1])}
    archive = classifier(tmp_path, elmo={"type": "elmo_token_embedder", **files})

    assert "the ELMo in it is AllenNLP's own" in refusal(monkeypatch, archive)


def test_what_is_no_archive_is_refused_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "model.tar.gz"
    text.write_text("no archive")
    torn = tmp_path / "torn.tar.gz"
    (tmp_path / "whole").mkdir()
    whole = classifier(tmp_path / "whole", elmo={"type": "elmo_bilm", "bilm": FIXTURE})
    torn.write_bytes(whole.read_bytes()[:-1000])

    for path in (tmp_path / "missing.tar.gz", text, torn):
        message = refusal(monkeypatch, path)
        assert message.startswith("elmo-mix: ") and "\n" not in message


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["runs/sst/both"], ["both"]),
        (["runs/sst/both/model.tar.gz", "runs/snli/both"], ["sst/both", "snli/both"]),
        (["runs/sst/both", "runs/sst/moved.tar.gz"], ["both", "moved.tar.gz"]),
        (["A=runs/sst/both", "runs/snli/both"], ["A", "snli/both"]),
        (["A=runs/sst/both", "B=runs/sst/both"], ["A", "B"]),
    ],
)
def test_an_archive_is_named_after_its_path_where_the_paths_differ(
    arguments: list[str], names: list[str]
) -> None:
    assert list(named_archives(arguments)) == names


def test_a_path_with_an_equals_sign_is_a_path(tmp_path: Path) -> None:
    folder = tmp_path / "lr=1"
    folder.mkdir()

    assert named_archives([str(folder)]) == {"lr=1": str(folder)}


def test_two_archives_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="a/b and a/b/model.tar.gz .* named b: give one"):
        named_archives(["a/b", "a/b/model.tar.gz"])


def test_the_same_values_are_metrics_of_every_epoch_and_scalars_of_tensorboard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mixes: Mixes
) -> None:
    monkeypatch.chdir(ROOT)
    change = """{ trainer+: {
        callbacks: ['tensorboard'], num_epochs: 3, optimizer+: { lr: 0.1 }, patience: null,
        validation_metric: '-elmo_input_gamma',
    } }"""
    snippet = "(import 'training_configs/sst/both.jsonnet') + (import 'fixtures/tiny.libsonnet')"
    config = json.loads(_jsonnet.evaluate_snippet("test", f"{snippet} + {change}"))

    train_model(Params(config), str(tmp_path / "run"))

    epochs = [
        json.loads((tmp_path / "run" / f"metrics_epoch_{epoch}.json").read_text())
        for epoch in range(3)
    ]
    places = ("elmo_input_", "elmo_output_")
    names = [place + value for place in places for value in ("s0", "s1", "s2", "gamma")]
    for log, split in (("train", "training"), ("validation", "validation")):
        scalars = read_scalars(tmp_path / "run" / "log" / log)
        for name in names:
            expected = [epoch[f"{split}_{name}"] for epoch in epochs]
            assert scalars[name] == pytest.approx(expected, rel=1e-6)
            assert len(set(expected)) == 3
    rows = mixes(tmp_path / "run" / "model.tar.gz")
    for prefix, row in zip(places, rows, strict=True):
        best = [epochs[-1][f"best_validation_{prefix}{value}"] for value in ("s0", "s1", "s2")]
        assert row["weights"] == pytest.approx(best)
        assert row["gamma"] == pytest.approx(epochs[-1][f"best_validation_{prefix}gamma"])


def read_scalars(folder: Path) -> dict[str, list[float]]:
    """Those of every epoch in TensorBoard's files, by the last part of their names."""
    (path,) = folder.iterdir()
    content = path.read_bytes()
    scalars: dict[str, list[float]] = {}
    place = 0
    while place < len(content):
        # A record: its length in 8 bytes, their checksum, the event, its checksum.
        (length,) = struct.unpack_from("<Q", content, place)
        event = Event.FromString(content[place + 12 : place + 12 + length])
        place += 12 + length + 4
        for value in event.summary.value:
            if match := re.fullmatch(r"(?:train|validation)/(.+)", value.tag):
                scalars.setdefault(match[1], []).append(value.simple_value)
    return scalars
