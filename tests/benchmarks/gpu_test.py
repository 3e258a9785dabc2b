import json
import sys
from pathlib import Path

import pytest
import torch
from allennlp.modules.elmo import _ElmoBiLm

from benchmarks import gpu
from benchmarks.plain_bilm import PlainBiLm
from elmo_tasks.bilm import make_bilm
from tests.helpers.bilm_examples import SENTENCE, ids_of
from tests.helpers.reference_bilm import make_options, random_files, upstream_layers

IDS = ids_of([SENTENCE[:3], SENTENCE, SENTENCE[1:]])


def test_the_plain_bilm_computes_the_layers_of_allennlp(tmp_path: Path) -> None:
    files = random_files(tmp_path)

    with torch.no_grad():
        layers = PlainBiLm(make_bilm(*files, state="reset"))(IDS)

    expected, _ = upstream_layers(_ElmoBiLm(*map(str, files)), IDS)
    torch.testing.assert_close(layers, expected, atol=1e-5, rtol=0)


@pytest.fixture(autouse=True)
def _tiny(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(gpu, "make_options", lambda size: make_options())
    arguments = "--device cpu --sizes small --batch-sizes 3 --sentences 20 --samples 50 --turns 1"
    monkeypatch.setattr(sys, "argv", ["gpu.py", *arguments.split(), "--out", str(tmp_path)])


def test_each_part_is_measured_once_and_none_starts_after_the_minutes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(sys, "argv", [*sys.argv, "--minutes", "0.001"])
        gpu.main()
    assert "goes on with ELMo of a text by small" in capsys.readouterr().out

    gpu.main()

    found = json.loads((tmp_path / "gpu.json").read_text())
    assert list(found["parts"]) == [
        "layers of small, batches of 3",
        "ELMo of a text by small",
        "pre-training of small",
    ]
    layers, corpus, training = found["parts"].values()
    assert [len(rows) for rows in (layers, corpus, training)] == [5, 6, 3]
    assert all(row["tokens_per_second"] > 0 for row in layers + corpus + training)
    errors = {row["what"]: row["error"] for row in layers}
    assert errors["float32"] < 1e-5 < errors["bfloat16"] < 0.2
    assert (tmp_path / "gpu.md").read_text() == gpu.tables(found) + "\n"

    monkeypatch.setattr(gpu, "compare", lambda *_: pytest.fail("measured again"))
    gpu.main()
    assert json.loads((tmp_path / "gpu.json").read_text()) == found


def test_a_row_that_fails_has_its_message_and_the_others_their_speed() -> None:
    def fails() -> None:
        raise RuntimeError("out of memory\nand more")

    failed, works = gpu.compare({"a": fails, "b": lambda: None}, 10, gpu.parse())

    assert failed == {"what": "a", "failed": "out of memory"}
    assert works["tokens_per_second"] > 0
    lines = gpu.tables({"machine": "A GPU", "parts": {"layers": [failed, works]}}).splitlines()
    assert lines[4].startswith("| a      | failed: out of memory |")
    assert lines[5].startswith("| b      | ")
