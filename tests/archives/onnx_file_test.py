"""Tests of `elmo-tasks export --onnx`, with onnxruntime as the reader of its files."""

import functools
import tempfile
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks import ElmoEncoder
from elmo_tasks.archives.onnx_file import ONNX_FILE, write_onnx
from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.elmo import ElmoMix
from scripts.try_docs import blocks, lines
from tests.helpers.archives import FIXTURE, set_mixes, sst
from tests.helpers.bilm_examples import SHAPES, WORDS, ids_of, sentences
from tests.helpers.command_line import allennlp, refusal
from tests.helpers.reference_bilm import make_options

pytest.importorskip("onnx", reason="onnx is not installed: pip install 'elmo-tasks[onnx]'")
onnxruntime = pytest.importorskip(
    "onnxruntime", reason="onnxruntime is not installed: pip install 'elmo-tasks[onnx]'"
)

ROOT = Path(__file__).parents[2]
CLOSE: dict[str, Any] = {"rtol": 0, "atol": 1e-5}
BATCH = sentences(3, 0, 7, 1, 7)

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(WORDS)
batches = st.lists(st.lists(words, max_size=6), min_size=1, max_size=5).filter(any)


def session_of(bilm: BiLm, mix: ElmoMix | None = None) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        write_onnx(Path(folder, ONNX_FILE), bilm, mix or ElmoMix(bilm.num_layers))
        return onnxruntime.InferenceSession(Path(folder, ONNX_FILE))


def run(session: Any, char_ids: torch.Tensor) -> list[numpy.ndarray]:
    """Returns the layers and ELMo."""
    return session.run(["layers", "elmo"], {"char_ids": char_ids.numpy()})


@functools.cache
def fixture(state: str) -> tuple[BiLm, Any]:
    bilm = make_bilm(**FIXTURE, state=state)
    return bilm, session_of(bilm)


@pytest.mark.parametrize("state", ["reset", "snapshot"])
@given(batch=batches)
def test_any_batch_has_the_layers_of_the_bilm(state: str, batch: list[list[str]]) -> None:
    bilm, session = fixture(state)
    char_ids = ids_of(batch)

    layers, elmo = run(session, char_ids)

    numpy.testing.assert_allclose(layers, bilm(char_ids).layers, **CLOSE)
    numpy.testing.assert_allclose(elmo, layers.mean(1), **CLOSE)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
@pytest.mark.parametrize("skips", [True, False])
def test_a_bilm_of_any_shape_has_its_layers(shape: dict[str, Any], skips: bool) -> None:
    torch.manual_seed(0)
    options = make_options(**shape, use_skip_connections=skips)
    bilm = make_bilm(options, requires_grad=True).eval()
    char_ids = ids_of(BATCH, more_padding=2)

    layers, _ = run(session_of(bilm), char_ids)

    numpy.testing.assert_allclose(layers, bilm(char_ids).layers.detach(), **CLOSE)


@pytest.mark.parametrize("layer_norm", [None, "batch", "sentence"])
@pytest.mark.parametrize("chosen", ["all", "concat", "last", 0])
def test_elmo_is_that_of_the_encoder(chosen: str | int, layer_norm: str | None) -> None:
    bilm, _ = fixture("reset")
    mix = ElmoMix(bilm.num_layers, chosen, layer_norm=layer_norm)
    mix.gamma.data.fill_(1.7)
    if mix.scalar_parameters is not None:
        mix.scalar_parameters.data = torch.tensor([0.5, -1.0, 0.1])
    expected = ElmoEncoder(bilm, mix)(BATCH)["elmo"]

    _, elmo = run(session_of(bilm, mix), batch_char_ids(BATCH))

    numpy.testing.assert_allclose(elmo, expected, **CLOSE)


def test_a_bilm_that_carries_its_state_is_written_as_the_encoder_uses_it() -> None:
    bilm = make_bilm(**FIXTURE, state="carry")
    expected = ElmoEncoder(bilm)(BATCH)["elmo"]

    _, elmo = run(session_of(bilm), batch_char_ids(BATCH))

    numpy.testing.assert_allclose(elmo, expected, **CLOSE)


def test_the_lines_of_the_page_give_the_vectors_of_the_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = blocks(ROOT / "docs" / "without_pytorch.md")
    (command,) = [line for block in page for line in lines(block) if line.endswith("--onnx")]
    (code,) = [block.text for block in page if "onnxruntime" in block.text]
    names: dict[str, Any] = {}

    _, name, *arguments = command.split()
    allennlp(f"elmo-{name}", *arguments)
    exec(compile(code, "page", "exec"), names)

    expected = ElmoEncoder.from_pretrained("base")(names["sentences"])["elmo"]
    numpy.testing.assert_allclose(names["elmo"], expected, **CLOSE)
    examples = [[word for word in WORDS if word not in ("<S>", "</S>")]]
    numpy.testing.assert_array_equal(names["char_ids"](examples), batch_char_ids(examples))


def test_a_model_is_written_with_the_mix_of_a_place(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    sst(tmp_path, "both")
    set_mixes(tmp_path, input_mix=([1.0, -0.5, 2.0], 0.5), output_mix=([0.0, 3.0, 0.0], 2.0))
    file = tmp_path / "onnx" / ONNX_FILE

    message = refusal("elmo-export", tmp_path, file.parent, "--onnx")
    assert "place must be one of them, not None" in message and not file.parent.exists()

    allennlp("elmo-export", tmp_path, file.parent, "--onnx", "--place", "output")

    assert capsys.readouterr().out.endswith(" parameters; elmo is the trained mix.\n")
    expected = ElmoEncoder.from_pretrained(tmp_path, "output")(BATCH)["elmo"]
    _, elmo = run(onnxruntime.InferenceSession(file), batch_char_ids(BATCH))
    numpy.testing.assert_allclose(elmo, expected, **CLOSE)
