from pathlib import Path

import pytest
from allennlp.common import Params

from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.configs import CONFIGS


def test_allennlp_reads_a_shipped_config_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    config = Params.from_file("elmo_tasks:sst/both", "{ num_epochs:: 1 }").as_dict(quiet=True)

    expected = Params.from_file(CONFIGS / "sst" / "both.jsonnet").as_dict(quiet=True)
    assert config == expected
    with pytest.raises(ConfigurationError, match="there is no config elmo_tasks:sst/bth"):
        Params.from_file("elmo_tasks:sst/bth")


def test_a_config_in_any_folder_imports_a_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "local sst = import 'elmo_tasks/sst.libsonnet'; sst { elmo_at: ['input', 'output'] }"
    Path("mine.jsonnet").write_text(text, encoding="utf-8")

    mine = Params.from_file("mine.jsonnet").as_dict(quiet=True)
    changed = Params.from_file(
        "mine.jsonnet", "{ model: (import 'elmo_tasks/sst.libsonnet').model }"
    ).as_dict(quiet=True)

    assert mine == Params.from_file("elmo_tasks:sst/both").as_dict(quiet=True)
    assert "bilm" not in changed["model"]["text_embedder"] or changed != mine
