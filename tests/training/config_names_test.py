from pathlib import Path

import pytest
from allennlp.common import Params

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.training.config_names import read_config
from tests.helpers.configs import CONFIGS


def test_our_commands_read_a_shipped_config_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    config = read_config("elmo_tasks:sst/both", "{ num_epochs:: 1 }")

    expected = Params.from_file(CONFIGS / "sst" / "both.jsonnet").as_dict(quiet=True)
    assert config == expected
    with pytest.raises(ConfigurationError, match="there is no config elmo_tasks:sst/bth"):
        read_config("elmo_tasks:sst/bth")


def test_a_config_in_any_folder_imports_a_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "local sst = import 'elmo_tasks/sst.libsonnet'; sst { elmo_at: ['input', 'output'] }"
    Path("mine.jsonnet").write_text(text, encoding="utf-8")

    mine = read_config("mine.jsonnet")
    changed = read_config("mine.jsonnet", "{ model: (import 'elmo_tasks/sst.libsonnet').model }")

    assert mine == read_config("elmo_tasks:sst/both")
    assert "bilm" not in changed["model"]["text_embedder"] or changed != mine


@pytest.mark.parametrize(
    ("text", "overrides", "message"),
    [
        ("{", "", r"^mine.jsonnet:1:\S+: "),
        ("{ a: error 'b' }", "", "^mine.jsonnet: b"),
        ("{}", "{", "^the overrides: .*syntax|^the overrides: "),
        ("import 'elmo_tasks/sst.libsonet'", "", "sst.libsonet"),
    ],
)
def test_a_config_that_cannot_be_evaluated_is_named(
    text: str, overrides: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.jsonnet").write_text(text, encoding="utf-8")

    with pytest.raises(ConfigurationError, match=message):
        read_config("mine.jsonnet", overrides)


def test_a_folder_in_place_of_a_config_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="folder"):
        read_config(tmp_path)


def test_allennlp_itself_reads_configs_as_before(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Params.from_file("elmo_tasks:sst/both")
    (tmp_path / "mine.jsonnet").write_text("import 'elmo_tasks/sst.libsonnet'")
    with pytest.raises(RuntimeError, match="couldn't open import"):
        Params.from_file(tmp_path / "mine.jsonnet")
