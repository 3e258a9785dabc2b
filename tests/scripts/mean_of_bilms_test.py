from pathlib import Path

import pytest
import torch

from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.kernels.blocked_product import scaled
from elmo_tasks.language_model.softmax import Softmax, read_softmax, write_softmax
from scripts.mean_of_bilms import mean_of_bilms
from tests.helpers.reference_bilm import FIXTURE_FILES

WORDS = [["<unk>", "the", "sea", "boat"], ["<unk>", "boat", "storm", "the"]]


def write_two(folder: Path) -> None:
    """Writes two biLMs of one shape, each with a softmax of its own words."""
    for number, words in enumerate(WORDS):
        torch.manual_seed(number)
        bilm = make_bilm(*FIXTURE_FILES)
        with torch.no_grad():
            for weight in bilm.parameters():
                weight.add_(0.1 * torch.randn_like(weight))
        place = folder / str(number)
        bilm.to_files(place)
        weight, bias = torch.randn(4, bilm.options.projection_dim), torch.randn(4) + 5 * number
        write_softmax(place, Softmax(words, weight, bias).in_8_bits(), read(place))


def read(folder: Path) -> BiLm:
    return make_bilm(folder / "options.json", folder / "weights.hdf5")


def test_weights_and_rows_of_common_words_are_means_and_other_words_keep_their_rows(
    tmp_path: Path,
) -> None:
    write_two(tmp_path)
    folders = [tmp_path / name for name in ("0", "1", "mean")]
    mean_of_bilms(str(folders[0]), str(folders[1]), folders[2], share=0.25)

    first, second, mean = (read(folder).weights() for folder in folders)
    for name in first:
        expected = 0.75 * first[name] + 0.25 * second[name]
        torch.testing.assert_close(mean[name], expected, rtol=1e-3, atol=1e-3)

    one, two, both = (read_softmax(folder, read(folder)) for folder in folders)
    assert both.words == WORDS[0]
    rows = [scaled(softmax.weight, softmax.scale) for softmax in (one, two, both)]
    expected = rows[0].clone()
    expected[[1, 3]] = 0.75 * rows[0][[1, 3]] + 0.25 * rows[1][[3, 1]]
    torch.testing.assert_close(rows[2], expected, rtol=0, atol=0.03)
    # The second softmax has biases that are 5 larger, which says nothing about its words.
    there, here = one.bias[[1, 3]], two.bias[[3, 1]]
    means = 0.75 * there + 0.25 * (here - here.mean() + there.mean())
    torch.testing.assert_close(both.bias[[1, 3]], means)
    assert torch.equal(both.bias[[0, 2]], one.bias[[0, 2]])


def test_bilms_of_different_sizes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="base and mini have different options"):
        mean_of_bilms("base", "mini", tmp_path)
