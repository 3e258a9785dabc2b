import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.language_model.softmax_file import SOFTMAX_FILE, WORDS_FILE, read_softmax
from tests.helpers.language_models import WORDS, random_bilm, random_softmax, written_model


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written_model(tmp_path_factory.mktemp("model"), max_words=9)


@pytest.mark.parametrize("max_words", [None, 9])
def test_what_is_read_is_what_was_written(tmp_path: Path, max_words: int | None) -> None:
    folder = written_model(tmp_path, max_words)
    bilm = make_bilm(folder / "options.json", folder / "weights.hdf5")
    h = torch.randn(3, bilm.options.projection_dim)

    found = read_softmax(folder, bilm)

    expected = random_softmax(bilm.options.projection_dim).in_8_bits(max_words)
    assert found.words == (WORDS if max_words is None else WORDS[:10])
    assert found.distribution(h).equal(expected.distribution(h))


def other_bilm(path: Path) -> None:
    other = random_bilm()
    other.char_cnn.embedding.data += 1
    other.to_files(path.parent)


def other_words(path: Path) -> None:
    words = path.with_name(WORDS_FILE)
    words.write_text(words.read_text().replace("dog", "cow"))


def with_tensors(change: Callable[[dict[str, torch.Tensor]], object]) -> Callable[[Path], None]:
    """Returns what changes the tensors of a file, and leaves its metadata."""

    def damage(path: Path) -> None:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata()
        tensors = load_file(path)
        change(tensors)
        save_file(tensors, path, metadata)

    return damage


DAMAGED = "is damaged, or elmo-tasks pack did not write it"
# What is done to the file of the softmax or beside it, and words of the message.
REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "another biLM": (other_bilm, "not the softmax of the biLM beside"),
    "other words": (other_words, "is not the list of words of softmax"),
    "no softmax": (Path.unlink, "has no softmax .* elmo-tasks pack writes one"),
    "no words": (lambda path: path.with_name(WORDS_FILE).unlink(), DAMAGED),
    "cut": (lambda path: path.write_bytes(path.read_bytes()[:-10]), DAMAGED),
    "empty": (lambda path: path.write_bytes(b""), DAMAGED),
    "text": (lambda path: path.write_text("a text that is no file of safetensors"), DAMAGED),
    "no tensor": (with_tensors(lambda tensors: tensors.pop("bias")), DAMAGED),
    "shape": (with_tensors(lambda tensors: tensors.update(bias=torch.zeros(3))), DAMAGED),
    "nan": (with_tensors(lambda tensors: tensors["scale"][1].fill_(torch.nan)), DAMAGED),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_softmax_of_the_bilm_is_refused(
    written: Path, tmp_path: Path, name: str
) -> None:
    folder = Path(shutil.copytree(written, tmp_path / "copy"))
    harm, words = REFUSED[name]
    harm(folder / SOFTMAX_FILE)

    with pytest.raises(ConfigurationError, match=words):
        LanguageModel.from_pretrained(folder)
