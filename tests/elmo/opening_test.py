import copy
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.archives.elmo_of_model import load_bilm
from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo import ElmoMix
from elmo_tasks.elmo.opening import find_bilms, find_mixes
from tests.helpers.archives import FIXTURE, classifier, language_model
from tests.helpers.reference_bilm import FIXTURE_FILES

ELMO: dict[str, Any] = {"type": "elmo_bilm", "bilm": FIXTURE}


def test_every_bilm_of_a_model_is_found_once_by_its_name() -> None:
    shared, other = (make_bilm(*FIXTURE_FILES) for _ in range(2))
    inner = torch.nn.ModuleDict({"bilm": shared, "words": torch.nn.Linear(1, 1)})
    model = torch.nn.ModuleDict({"embedder": inner, "again": shared, "other": other})

    assert find_bilms(model) == {"embedder.bilm": shared, "other": other}
    assert find_bilms(shared) == {"": shared} and find_bilms(torch.nn.Linear(1, 1)) == {}


def test_mixes_are_found_by_their_places() -> None:
    first, second = ElmoMix(3), ElmoMix(3)
    text_embedder = torch.nn.ModuleDict({"input_mix": first, "output_mix": second})
    token_embedder = torch.nn.ModuleDict({"elmo": torch.nn.ModuleDict({"mix": first})})

    assert find_mixes(text_embedder) == {"input": first, "output": second}
    assert find_mixes(token_embedder) == {"input": first}
    assert find_mixes(torch.nn.Linear(1, 1)) == {}
    # Mixes that would share a place have their names.
    embedders = {each: torch.nn.ModuleDict({"mix": ElmoMix(3)}) for each in "ab"}
    assert list(find_mixes(torch.nn.ModuleDict(embedders))) == ["a.mix", "b.mix"]


def test_the_one_bilm_of_an_archive_is_loaded(tmp_path: Path) -> None:
    name, bilm = load_bilm(language_model(tmp_path))

    assert name == "bilm" and not bilm.training
    best = torch.load(tmp_path / "best.th")
    assert torch.equal(bilm.char_cnn.embedding, best["bilm.char_cnn.embedding"])


def test_an_archive_without_one_bilm_says_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "two").mkdir()
    archive = classifier(tmp_path / "two", first=ELMO, second=copy.deepcopy(ELMO))
    with pytest.raises(ConfigurationError, match="holds 2 biLMs: .*first.bilm, .*second.bilm"):
        load_bilm(archive)
