from pathlib import Path

import pytest
import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.hashed_file import read_hashed, write_hashed
from scripts.mean_of_models import mean_of_models


def packed(folder: Path, weight: float, words: str = "a\nb\n") -> Path:
    """Writes the files of a packed model that has one weight."""
    (folder / "vocabulary").mkdir(parents=True)
    (folder / "vocabulary" / "tokens.txt").write_text(words)
    write_hashed(
        folder / "weights.safetensors", {"w": torch.full((2,), weight).half()}, {"bilms": {}}
    )
    return folder


def test_weights_are_means_and_the_other_files_those_of_the_second(tmp_path: Path) -> None:
    first, second = packed(tmp_path / "a", 1.0), packed(tmp_path / "b", 3.0)
    (second / "config.json").write_text("{}")
    for folder, names in ((first, "*tags\n*labels\n"), (second, "*labels\n*tags\n")):
        (folder / "vocabulary" / "non_padded_namespaces.txt").write_text(names)

    mean_of_models(first, second, tmp_path / "mean", share=0.75)

    tensors, about = read_hashed(tmp_path / "mean" / "weights.safetensors", "pack", ["bilms"])
    assert tensors["w"].tolist() == [2.5, 2.5] and tensors["w"].dtype == torch.float16
    assert about == {"bilms": {}}
    assert (tmp_path / "mean" / "config.json").read_text() == "{}"
    with pytest.raises(FileExistsError):
        mean_of_models(first, second, tmp_path / "mean")


def test_models_of_other_words_are_refused(tmp_path: Path) -> None:
    first, second = packed(tmp_path / "a", 1.0), packed(tmp_path / "b", 1.0, "b\na\n")

    with pytest.raises(ConfigurationError, match="differ in their biLMs, words or sizes"):
        mean_of_models(first, second, tmp_path / "mean")
    assert not (tmp_path / "mean").exists()
