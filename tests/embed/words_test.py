from pathlib import Path

import numpy
import pytest
import torch

from elmo_tasks.elmo.encoder import ElmoEncoder
from tests.helpers.command_line import allennlp, refusal
from tests.helpers.reference_bilm import FIXTURE_FILES

LINES = ["the na\u00efve film", "", "the film the", "a dull film", "rare"]
FILES = ["--options", FIXTURE_FILES[0], "--weights", FIXTURE_FILES[1]]


@pytest.fixture()
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return path


def expected(output: str) -> dict[str, numpy.ndarray]:
    """Returns the mean of an output of `ElmoEncoder` over the occurrences of each word."""
    encoder = ElmoEncoder.from_pretrained(FIXTURE_FILES)
    found: dict[str, list[torch.Tensor]] = {}
    for line in LINES:
        for word, vector in zip(line.split(), encoder([line])[output][0]):
            found.setdefault(word, []).append(vector)
    return {word: torch.stack(each).mean(0).numpy() for word, each in found.items()}


def read_text(path: Path) -> dict[str, numpy.ndarray]:
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    rows = [line.split(" ") for line in lines]
    assert header == f"{len(rows)} {len(rows[0]) - 1}"
    return {word: numpy.array(numbers, "float32") for word, *numbers in rows}


@pytest.mark.parametrize(("option", "output"), [(None, "elmo"), ("--top", "lstm_outputs2")])
def test_a_word_has_the_mean_over_its_occurrences(
    text: Path, tmp_path: Path, option: str | None, output: str
) -> None:
    path = tmp_path / "words"

    allennlp("elmo-embed", text, path, "--words", 9, *FILES, *filter(None, [option]))

    vectors, means = read_text(path), expected(output)
    assert list(vectors) == ["film", "the", "a", "dull", "na\u00efve", "rare"]
    for word, vector in vectors.items():
        numpy.testing.assert_allclose(vector, means[word], atol=1e-6)


def test_only_the_most_frequent_words_are_kept(text: Path, tmp_path: Path) -> None:
    path = tmp_path / "words"

    allennlp("elmo-embed", text, path, "--words", 2, *FILES)

    assert list(read_text(path)) == ["film", "the"]


def test_a_text_without_words_is_refused(tmp_path: Path) -> None:
    empty, path = tmp_path / "empty.txt", tmp_path / "words"
    empty.write_text("\n\n")

    assert "nothing to embed" in refusal("elmo-embed", empty, path, "--words", 9, *FILES)
    assert not path.exists()
