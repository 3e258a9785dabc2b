import sys
from pathlib import Path

import pytest
import torch

from elmo_tasks.bilm import make_bilm
from elmo_tasks.bilm.characters import batch_char_ids
from elmo_tasks.language_model.softmax_file import read_softmax
from scripts.add_highway import add_highway, larger, main
from tests.helpers.reference_bilm import FIXTURE_FILES

SENTENCES = [["A", "boat", "left", "."], ["Antidisestablishmentarianism", "!"]]


def test_a_larger_bilm_computes_what_it_did_before_until_its_new_layer_is_trained() -> None:
    bilm, trained = make_bilm(*FIXTURE_FILES), larger(make_bilm(*FIXTURE_FILES))
    grown = larger(bilm)
    with torch.no_grad():
        trained.char_cnn.highways._layers[-1].bias[: bilm.options.num_filters] += 0.1

    before, same, other = (each(batch_char_ids(SENTENCES))[0] for each in (bilm, grown, trained))

    assert grown.options.num_highway == bilm.options.num_highway + 1
    torch.testing.assert_close(same, before, rtol=0, atol=1e-6)
    assert (other - before).abs().max() > 1e-3


def test_the_softmax_comes_along(tmp_path: Path) -> None:
    add_highway("base", tmp_path)
    grown = make_bilm(tmp_path / "options.json", tmp_path / "weights.hdf5")
    bilm = make_bilm("elmo_tasks/pretrained/base/options.json", "base")
    before, after = read_softmax("elmo_tasks/pretrained/base", bilm), read_softmax(tmp_path, grown)
    assert after.words == before.words
    assert torch.equal(after.weight, before.weight)


def test_a_misspelt_name_ends_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["add_highway.py", "bas", str(tmp_path)])
    with pytest.raises(SystemExit):
        main()
    assert "did you mean 'base'?" in capsys.readouterr().err
