from collections.abc import Callable
from pathlib import Path

import numpy
import pytest
import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.embed import words as words_module
from elmo_tasks.embed.words import embed_words
from tests.helpers.command_line import allennlp, refusal
from tests.helpers.reference_bilm import FIXTURE_FILES

LINES = ["the na\u00efve film", "", "the film the", "a dull film", "rare"]
FILES = ["--options-file", FIXTURE_FILES[0], "--weight-file", FIXTURE_FILES[1]]


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


def read_binary(path: Path) -> dict[str, numpy.ndarray]:
    content = path.read_bytes()
    header, content = content.split(b"\n", 1)
    num_words, dim = map(int, header.split())
    read = {}
    for _ in range(num_words):
        word, content = content.split(b" ", 1)
        read[word.decode()] = numpy.frombuffer(content[: 4 * dim], "<f4")
        assert content[4 * dim : 4 * dim + 1] == b"\n"
        content = content[4 * dim + 1 :]
    assert not content
    return read


@pytest.mark.parametrize(
    ("option", "output"), [(None, "elmo"), ("--top", "lstm_outputs2"), ("--token", "word_emb")]
)
@pytest.mark.parametrize(("format", "read"), [("text", read_text), ("binary", read_binary)])
def test_a_word_has_the_mean_over_its_occurrences(
    text: Path,
    tmp_path: Path,
    option: str | None,
    output: str,
    format: str,
    read: Callable[[Path], dict[str, numpy.ndarray]],
) -> None:
    path = tmp_path / "words"

    allennlp("elmo-embed", text, path, "--words", format, *FILES, *filter(None, [option]))

    vectors, means = read(path), expected(output)
    assert list(vectors) == ["film", "the", "a", "dull", "na\u00efve", "rare"]
    for word, vector in vectors.items():
        numpy.testing.assert_allclose(vector, means[word], atol=1e-6)


def test_only_the_most_frequent_words_are_kept(text: Path, tmp_path: Path) -> None:
    path = tmp_path / "words"

    allennlp("elmo-embed", text, path, "--words", "text", "--num-words", "2", *FILES)

    assert list(read_text(path)) == ["film", "the"]


def test_counting_leaves_out_the_rarest_words_when_there_are_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words_module, "_MAX_COUNTED", 20)
    lines = [f"often word_{index}" for index in range(100)]
    encoder = ElmoEncoder.from_pretrained(FIXTURE_FILES)

    embed_words(lambda: iter(lines), tmp_path / "words", encoder, "token", num_words=1)

    assert list(read_text(tmp_path / "words")) == ["often"]


def test_what_cannot_be_written_is_refused(text: Path, tmp_path: Path) -> None:
    empty, path = tmp_path / "empty.txt", tmp_path / "words"
    empty.write_text("\n\n")
    encoder = ElmoEncoder.from_pretrained(FIXTURE_FILES)

    assert "nothing to embed" in refusal("elmo-embed", empty, path, "--words", "text", *FILES)
    with pytest.raises(ConfigurationError, match="1 or more, not 0"):
        embed_words(lambda: iter(LINES), path, encoder, num_words=0)
    assert not path.exists()
