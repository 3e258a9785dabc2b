import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.language_model.softmax_file import SOFTMAX_FILE, WORDS_FILE, read_softmax
from tests.helpers.language_models import WORDS, random_bilm, random_softmax, written_model


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written_model(tmp_path_factory.mktemp("model"), max_words=9)


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "copy"))


@pytest.mark.parametrize("max_words", [None, 9])
def test_what_is_read_is_what_was_written(tmp_path: Path, max_words: int | None) -> None:
    folder = written_model(tmp_path, max_words)
    bilm = make_bilm(folder / "options.json", folder / "weights.hdf5")
    h = torch.randn(3, bilm.options.projection_dim)

    found = read_softmax(folder, bilm)

    expected = random_softmax(bilm.options.projection_dim).in_8_bits(max_words)
    assert found.words == (WORDS if max_words is None else WORDS[:10])
    assert found.distribution(h).equal(expected.distribution(h))


def test_a_softmax_of_another_bilm_is_refused(folder: Path) -> None:
    other = random_bilm()
    other.char_cnn.embedding.data += 1
    other.to_files(folder)

    with pytest.raises(ConfigurationError, match="not the softmax of the biLM beside"):
        LanguageModel.from_pretrained(folder)


def test_words_of_another_softmax_are_refused(folder: Path) -> None:
    text = (folder / WORDS_FILE).read_text()
    (folder / WORDS_FILE).write_text(text.replace("dog", "cow"))

    with pytest.raises(ConfigurationError, match="is not the list of words of softmax"):
        LanguageModel.from_pretrained(folder)


def test_a_bilm_without_a_softmax_is_refused_with_what_to_do(folder: Path) -> None:
    (folder / SOFTMAX_FILE).unlink()

    with pytest.raises(ConfigurationError, match="has no softmax .* elmo-tasks pack writes one"):
        LanguageModel.from_pretrained(folder)


@pytest.mark.parametrize(
    "damage", ["cut", "empty", "text", "no words", "no tensor", "shape", "nan"]
)
def test_a_damaged_file_is_refused(folder: Path, damage: str) -> None:
    path = folder / SOFTMAX_FILE
    content = path.read_bytes()
    length = 8 + int.from_bytes(content[:8], "little")
    tensors = load_file(path)
    if damage == "cut":
        path.write_bytes(content[:-10])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "text":
        path.write_text("a text that is no file of safetensors")
    elif damage == "no words":
        (folder / WORDS_FILE).unlink()
    else:
        if damage == "no tensor":
            del tensors["bias"]
        elif damage == "shape":
            tensors["bias"] = tensors["bias"][:3].clone()
        else:
            tensors["scale"][1] = torch.nan
        # The metadata of the file stays.
        from safetensors import safe_open

        with safe_open(path, framework="pt") as file:
            metadata = file.metadata()
        save_file(tensors, path, metadata)
    assert length > 8

    with pytest.raises(ConfigurationError, match="is damaged, or elmo-tasks pack did not write it"):
        LanguageModel.from_pretrained(folder)
