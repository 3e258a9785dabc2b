import copy
import json
import os
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.from_config import bilm_from_config, with_options
from elmo_tasks.elmo.locate import locate_bilm
from elmo_tasks.elmo.store import LayerStore
from tests.helpers.bilm_examples import SENTENCE, ids_of
from tests.helpers.reference_bilm import FIXTURE_FILES

OPTIONS = json.loads(FIXTURE_FILES[0].read_text())


def fields_of(**others: Any) -> dict[str, Any]:
    return {"options": OPTIONS, "pretrained_file": str(FIXTURE_FILES[1]), **others}


def test_a_config_builds_the_bilm_of_the_files() -> None:
    bilm = bilm_from_config(fields_of())

    ids = ids_of([SENTENCE])
    assert torch.equal(bilm(ids).layers, make_bilm(*FIXTURE_FILES)(ids).layers)
    assert bilm.num_layers == 3 and bilm.get_output_dim() == 32
    assert bilm_from_config(bilm) is bilm


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (fields_of(stat="reset"), "bilm has no field stat; did you mean 'state'"),
        ({}, "bilm needs the field options"),
        ({"pretrained_file": "x.hdf5"}, "there are no options for the biLM x.hdf5"),
        ({"pretrained_file": "fixtures"}, "fixtures has no options.json; the folder of a biLM has"),
        (fields_of(state=3), "state of bilm cannot be 3"),
        (fields_of(requires_grad="yes"), "requires_grad of bilm cannot be 'yes'"),
        (
            fields_of(store={"folder": "x"}),
            "LayerStore has no field folder; there are path, dtype, memory",
        ),
        (fields_of(store={"memory": "1 GB"}), "memory of LayerStore cannot be '1 GB'"),
        ("smal", "no biLM is known as 'smal'; did you mean 'small'?"),
        *[(each, "bilm must be the name of a biLM, or an object") for each in (None, ["mini"], 3)],
    ],
)
def test_a_wrong_field_is_refused_by_its_name(fields: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        bilm_from_config(fields)


# Stores.


def test_a_config_gives_a_store(tmp_path: Path) -> None:
    path = str(tmp_path / "store")
    fields = fields_of(store={"path": path, "dtype": "float32", "memory": 20})
    before = copy.deepcopy(fields)

    bilm = bilm_from_config(fields)

    assert fields == before
    assert isinstance(bilm.store, LayerStore)
    assert (bilm.store.path, bilm.store.dtype, bilm.store.memory) == (path, "float32", 20)
    # The folder is made at the first use.
    assert not os.path.exists(path)


@pytest.mark.parametrize("pretrained_file", [None, str(FIXTURE_FILES[1])])
def test_the_bilm_of_an_archive_has_no_store(tmp_path: Path, pretrained_file: str | None) -> None:
    fields = {"options": OPTIONS, "pretrained_file": pretrained_file, "store": {"path": "x"}}

    bilm = bilm_from_config(fields, str(tmp_path))

    # A training that is recovered reads its weights anew, and those of an archive have no file.
    assert (bilm.store is not None) == (pretrained_file is not None)


# Names.


@pytest.mark.parametrize("as_field", [False, True], ids=["name", "field"])
@pytest.mark.parametrize("name", ["mini", str(FIXTURE_FILES[0].parent), str(FIXTURE_FILES[1])])
def test_a_bilm_is_given_by_its_name_folder_or_weights(name: str, as_field: bool) -> None:
    fields = {"pretrained_file": name, "store": {"memory": 1}}

    bilm = bilm_from_config(fields if as_field else name)

    files = locate_bilm("mini").files if name == "mini" else FIXTURE_FILES
    assert bilm.fingerprint() == make_bilm(*files).fingerprint()
    assert (bilm.store is not None) == as_field


def test_options_are_put_in_wherever_a_config_names_a_bilm() -> None:
    embedders: dict[str, Any] = {
        "elmo": {"type": "elmo_bilm", "bilm": str(FIXTURE_FILES[1])},
        "tokens": [1],
    }
    config = {"a": [embedders], "bilm": fields_of(state="reset"), "dropout": 0.5}

    full = with_options(config)

    elmo = {"type": "elmo_bilm", "bilm": fields_of()}
    assert full == {**config, "a": [{**embedders, "elmo": elmo}]}
    assert embedders["elmo"]["bilm"] == str(FIXTURE_FILES[1])
