import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from allennlp.modules.elmo import _ElmoBiLm

from benchmarks import gpu, gpu_training
from benchmarks.gpu_table import table
from benchmarks.graphed_bilm import GraphedBiLm
from benchmarks.plain_bilm import PlainBiLm
from elmo_tasks.bilm import make_bilm
from tests.helpers.bilm_examples import SENTENCE, ids_of
from tests.helpers.other_device import DEVICE, other_device
from tests.helpers.reference_bilm import make_options, random_files, upstream_layers

IDS = ids_of([SENTENCE[:3], SENTENCE, SENTENCE[1:]])


def test_the_plain_bilm_computes_the_layers_of_allennlp(tmp_path: Path) -> None:
    files = random_files(tmp_path)

    with torch.no_grad():
        layers = PlainBiLm(make_bilm(*files, state="reset"))(IDS)

    expected, _ = upstream_layers(_ElmoBiLm(*map(str, files)), IDS)
    torch.testing.assert_close(layers, expected, atol=1e-5, rtol=0)


def test_a_graphed_bilm_computes_each_batch_of_these_lengths(tmp_path: Path) -> None:
    bilm = make_bilm(*random_files(tmp_path), state="snapshot")
    graphed = GraphedBiLm(bilm, IDS)
    other = IDS.clone()
    other[0, 0] = IDS[1, 1]

    for char_ids in (IDS, other, IDS):
        torch.testing.assert_close(graphed(char_ids), bilm(char_ids).layers)


def test_the_cpu_waits_for_nothing_in_a_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bilm = make_bilm(*random_files(tmp_path), state="snapshot")
    expected = bilm(IDS).layers
    with other_device() as waits:
        graphed = GraphedBiLm(bilm.to(DEVICE), IDS.to(DEVICE))
        graphed(IDS.to(DEVICE))
        for name in ("is_initialized", "is_current_stream_capturing"):
            monkeypatch.setattr(torch.cuda, name, lambda: True)
        waits.clear()

        graphed._read()

        assert not waits
        layers = graphed(IDS.to(DEVICE)).cpu()
    torch.testing.assert_close(layers, expected, atol=1e-5, rtol=0)


@pytest.fixture()
def _tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module in (gpu, gpu_training):
        monkeypatch.setattr(module, "make_options", lambda size: make_options())
    call(monkeypatch, tmp_path)


def call(monkeypatch: pytest.MonkeyPatch, folder: Path, minutes: str = "5") -> None:
    sizes = ["--sizes", "small", "--batch-sizes", "3", "--sentences", "20", "--samples", "50"]
    arguments = ["--device", "cpu", "--out", str(folder), "--turns", "1", "--minutes", minutes]
    monkeypatch.setattr(sys, "argv", ["gpu.py", *sizes, *arguments])


@pytest.mark.usefixtures("_tiny")
def test_each_part_is_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu.main()

    found = json.loads((tmp_path / "gpu.json").read_text())
    assert list(found["parts"]) == [
        "layers of small, batches of 3",
        "ELMo of a text by small",
        "pre-training of small",
    ]
    layers, corpus, training = found["parts"].values()
    assert [len(rows) for rows in (layers, corpus, training)] == [8, 6, 3]
    assert all(row["tokens_per_second"] > 0 for row in layers + corpus + training)
    errors = {row["what"]: row["error"] for row in layers}
    assert errors["float32, CUDA graph"] < 1e-5 < errors["bfloat16"] < 0.2
    assert (tmp_path / "gpu.md").read_text() == table(found) + "\n"

    monkeypatch.setattr(gpu, "alternate", lambda *_: pytest.fail("measured again"))
    gpu.main()
    assert json.loads((tmp_path / "gpu.json").read_text()) == found


@pytest.mark.usefixtures("_tiny")
def test_no_part_starts_after_the_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setattr(gpu, "layers", lambda *_: [{"what": "float32", "tokens_per_second": 10}])
    call(monkeypatch, tmp_path, minutes="0")
    clock = SimpleNamespace(monotonic=iter([0.0, 0.0, 0.1]).__next__)
    monkeypatch.setattr(gpu, "time", clock)

    gpu.main()

    assert "goes on with ELMo of a text by small" in capsys.readouterr().out
    parts = json.loads((tmp_path / "gpu.json").read_text())["parts"]
    assert list(parts) == ["layers of small, batches of 3"]


@pytest.mark.usefixtures("_tiny")
def test_a_row_that_fails_has_its_message_and_the_others_their_speed() -> None:
    def fails() -> None:
        raise RuntimeError("out of memory\nand more")

    failed, works = gpu.alternate({"a": fails, "b": lambda: None}, 10, gpu.parse())

    assert failed == {"what": "a", "failed": "out of memory"}
    assert works["tokens_per_second"] > 0
    lines = table({"machine": "A GPU", "parts": {"layers": [failed, works]}}).splitlines()
    assert lines[4] == "| a | failed: out of memory | | |" and lines[5].startswith("| b | ")
