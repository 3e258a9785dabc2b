from pathlib import Path

import pytest

from tests.helpers.command_line import allennlp, refusal
from tests.helpers.store_configs import config_file, texts_of_the_config
from tests.helpers.stored_bilms import num_entries


@pytest.fixture()
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store")


def test_command_fills_the_store_of_the_config(
    tmp_path: Path, path: str, capsys: pytest.CaptureFixture
) -> None:
    file, number = config_file(tmp_path, f"{{ store: '{path}' }}"), len(texts_of_the_config())

    for lacking, processes in ((number, 2), (0, 1)):
        allennlp("elmo-store", file, "--processes", processes)
        out, progress = capsys.readouterr()
        assert f"{number} sentences, of which {path} lacks {lacking}" in out
        assert "tokens/s" in progress

    assert num_entries(path) == number


def test_config_without_a_bilm_or_a_store_is_refused(tmp_path: Path) -> None:
    complaint = "the biLM of the config has no store with a path"

    assert complaint in refusal("elmo-store", config_file(tmp_path))
    assert complaint in refusal("elmo-store", config_file(tmp_path, "{ store: { memory: 5 } }"))
    file = config_file(tmp_path, variant="baseline")
    assert refusal("elmo-store", file) == "elmo-store: the model of the config has no biLM"


def test_what_cannot_be_done_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("")
    file = config_file(tmp_path, f"{{ store: '{tmp_path / 'store'}' }}")

    assert "is a file" in refusal("elmo-store", file)
    assert "not found" in refusal("elmo-store", tmp_path / "no.jsonnet")
