import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids

from elmo_tasks.analysis.check import check
from elmo_tasks.archives.elmo_of_model import load_bilm
from elmo_tasks.bilm import make_bilm
from tests.bilm.lexicon_test import write_bilm
from tests.helpers.archives import FIXTURE, classifier, language_model, sst
from tests.helpers.command_line import allennlp, refusal
from tests.helpers.reference_bilm import read_datasets, upstream_layers

ELMO: dict[str, Any] = {"type": "elmo_bilm", "bilm": FIXTURE}
# Each kind has a function that makes an archive, the name of its biLM, and the state of this biLM.
ARCHIVES: dict[str, tuple[Callable[[Path], Path], str, str]] = {
    "language model": (language_model, "bilm", "reset"),
    "windowed language model": (lambda folder: language_model(folder, "carry"), "bilm", "carry"),
    "sst": (lambda folder: sst(folder, "both"), "text_embedder.bilm", "snapshot"),
    "classifier": (
        lambda folder: classifier(folder, elmo=ELMO),
        "_text_field_embedder.token_embedder_elmo.bilm",
        "snapshot",
    ),
}
SENTENCES = [["A", "cat", "saw", "the", "na\u00efve", "dog", "."], ["It", "sleeps"]]


def pair(folder: Path) -> tuple[Path, Path]:
    return folder / "options.json", folder / "weights.hdf5"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the archive of a language model, in the folder of its training."""
    return language_model(tmp_path_factory.mktemp("archive"))


@pytest.mark.parametrize("kind", ARCHIVES)
def test_the_pair_is_that_of_the_archive(
    tmp_path: Path, capsys: pytest.CaptureFixture, kind: str
) -> None:
    make, name, state = ARCHIVES[kind]
    (tmp_path / "archive").mkdir()
    archive = make(tmp_path / "archive")
    _, bilm = load_bilm(archive)
    char_ids = batch_to_ids(SENTENCES)

    allennlp("elmo-export", archive, tmp_path / "new" / "pair")

    files = pair(tmp_path / "new" / "pair")
    num_parameters = sum(array.size for array in read_datasets(files[1]).values())
    assert capsys.readouterr().out.splitlines()[-1] == (
        f"Wrote {files[0]} and {files[1]}: the biLM {name} of {archive}, "
        f"{num_parameters:,} parameters as float32, state {state}."
    )
    assert json.loads(files[0].read_text())["state"] == state
    # Rounding differs, since the biases of the forget gates are written less 1.
    exact = {"atol": 1e-6, "rtol": 0}
    torch.testing.assert_close(make_bilm(*files)(char_ids).layers, bilm(char_ids).layers, **exact)
    from_zeros = make_bilm(*files, state="reset")
    torch.testing.assert_close(
        upstream_layers(_ElmoBiLm(*files), char_ids)[0],
        from_zeros(char_ids).layers,
        atol=1e-5,
        rtol=0,
    )
    assert check(*files).problems == []


def test_weights_too_large_for_16_bits_are_refused(
    tmp_path: Path, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, bilm = load_bilm(archive)
    bilm.char_cnn.embedding.data[5, 0] = 1e6
    monkeypatch.setattr("elmo_tasks.archives.elmo_of_model.load_bilm", lambda *_: (name, bilm))

    message = refusal("elmo-export", archive, tmp_path, "--dtype", "float16")

    assert re.match("elmo-export: char_embed holds a value .* as float16", message)
    assert list(tmp_path.iterdir()) == []

    allennlp("elmo-export", archive, tmp_path, "--dtype", "float32")

    assert check(*pair(tmp_path)).problems == []


# The model, the options, and words of the message.
REFUSED: list[tuple[str, list[str], str]] = [
    ("WORDS", ["--onnx"], "this biLM has a table of words, and only a biLM "),
    ("SST", [], "SST holds no biLM of elmo_tasks, but a Bcn"),
    ("any", ["--place", "input"], "--place chooses a mix: give --onnx as well"),
]


@pytest.mark.parametrize(("model", "options", "words"), REFUSED)
def test_what_cannot_be_written_is_refused(
    model: str, options: list[str], words: str, tmp_path: Path
) -> None:
    archive: Path | str = model
    if model == "WORDS":
        archive = write_bilm(tmp_path / "words")
    elif model == "SST":
        archive = sst(tmp_path, "baseline")

    message = refusal("elmo-export", archive, tmp_path / "new", *options)

    assert message.startswith(f"elmo-export: {words.replace('SST', str(archive))}")
    assert not (tmp_path / "new").exists()
