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
from elmo_tasks.language_model.softmax import (
    SOFTMAX_FILE,
    UNKNOWN_CLASS,
    WORDS_FILE,
    LeftOut,
    Softmax,
    read_softmax,
)
from tests.helpers.language_models import (
    WORDS,
    limit_words,
    random_bilm,
    random_softmax,
    written_model,
)


@pytest.fixture
def h() -> torch.Tensor:
    return torch.randn(6, 4, generator=torch.Generator().manual_seed(3))


def probabilities(softmax: Softmax, h: torch.Tensor) -> torch.Tensor:
    return (h.double() @ softmax.weight.double().T + softmax.bias.double()).softmax(dim=1)


def test_log_probabilities_are_those_of_a_softmax_and_sum_to_one(h: torch.Tensor) -> None:
    softmax = random_softmax(4)
    classes = torch.arange(6)

    found = softmax.log_probs(h, classes)

    expected = probabilities(softmax, h)
    torch.testing.assert_close(
        found.double().exp(), expected[classes, classes], rtol=1e-5, atol=1e-6
    )
    distribution = softmax.distribution(h).double().exp()
    torch.testing.assert_close(distribution, expected, rtol=1e-5, atol=1e-6)
    assert distribution.sum(dim=1).tolist() == pytest.approx([1.0] * 6)


def test_words_that_are_left_out_give_the_unknown_class_their_probability(h: torch.Tensor) -> None:
    softmax = random_softmax(4)
    fewer = limit_words(softmax, 6)

    found = fewer.distribution(h).double().exp()

    whole = probabilities(softmax, h)
    expected = torch.cat([whole[:, :1] + whole[:, 7:].sum(1, True), whole[:, 1:7]], dim=1)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    classes = torch.tensor([UNKNOWN_CLASS, 1, 6, UNKNOWN_CLASS, 2, 3])
    of_classes = fewer.log_probs(h, classes).double().exp()
    torch.testing.assert_close(of_classes, expected[range(6), classes], rtol=1e-5, atol=1e-6)
    assert fewer.classes(["the", "house", "<S>"]) == [4, UNKNOWN_CLASS, 2]
    assert fewer.knows("the") and not fewer.knows("house")


def test_what_stands_for_many_words_is_exact_for_normal_rows() -> None:
    generator = torch.Generator().manual_seed(0)
    weight = 0.3 * torch.randn(20_000, 4, generator=generator)
    bias = torch.rand(20_000, generator=generator)
    h = torch.randn(50, 4, generator=generator)

    found = LeftOut.of(weight, bias).log_sums(h)

    torch.testing.assert_close(found, (h @ weight.T + bias).logsumexp(dim=1), rtol=0, atol=0.02)


def test_8_bits_are_near_float32_with_all_words_and_with_fewer(h: torch.Tensor) -> None:
    softmax = random_softmax(4)

    for max_words, atol in ((None, 0.05), (100, 0.05), (14, 0.05)):
        found = softmax.in_8_bits(max_words)
        assert found.weight.dtype == torch.int8
        # A row's largest number is exact.
        assert (found.weight.abs().amax(dim=1) == 127).all()
        exact = softmax if max_words is None or max_words > 15 else limit_words(softmax, max_words)
        assert found.words == exact.words
        expected = exact.distribution(h)
        torch.testing.assert_close(found.distribution(h), expected, rtol=0, atol=atol)


def test_a_row_of_zeros_has_8_bits() -> None:
    softmax = Softmax(["@@UNKNOWN@@", "a"], torch.zeros(2, 3), torch.tensor([0.0, 1.0]))

    found = softmax.in_8_bits().distribution(torch.ones(1, 3))

    torch.testing.assert_close(found, torch.tensor([[0.0, 1.0]]).log_softmax(dim=1))


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


DAMAGED = "softmax.safetensors is not a softmax that elmo-tasks pack wrote for this biLM"
# What is done to the file of the softmax or beside it, and words of the message.
REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "another biLM": (other_bilm, "is not the softmax of the biLM beside it"),
    "other words": (other_words, "softmax_words.txt is not the list of its words"),
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
