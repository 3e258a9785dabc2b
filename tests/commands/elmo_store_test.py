import json
import os
import re
from pathlib import Path

import pytest

from elmo_tasks.elmo.store.contents import contents
from tests.helpers.command_line import allennlp, refusal
from tests.helpers.store_configs import config_file, texts_of_the_config

STORE = "model.text_embedder.bilm.store"


@pytest.fixture()
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store")


def test_command_fills_the_store_of_the_config_and_says_what_is_in_it(
    tmp_path: Path, path: str, capsys: pytest.CaptureFixture
) -> None:
    file, number = config_file(tmp_path, f"{{ store: '{path}' }}"), len(texts_of_the_config())

    allennlp("elmo-store", file)
    out, progress = capsys.readouterr()

    assert f"{number} sentences, of which {path} lacks {number}" in out
    assert "100%" in progress and "tokens/s" in progress
    num_bytes = sum(len(words) for words in texts_of_the_config()) * 5 * 16 * 2
    share = rf"2x32_16 float32 +snapshot +float16 +[0-9a-f]{{16}} +{number} +{num_bytes / 1e6:.1f}"
    assert re.search(share, out)
    overrides = json.dumps({STORE: {"path": path, "dtype": "float32"}})
    allennlp("elmo-store", file, "--shard", "1/2", "-o", overrides)
    capsys.readouterr()
    allennlp("elmo-store", file, "--info")
    lines = capsys.readouterr().out.splitlines()
    done = contents(path).shares[0].num_sentences + contents(path).shares[1].num_sentences
    size = sum(os.path.getsize(file) for file in Path(path).glob("*.sqlite")) / 1e6
    assert f"{path}: {done} entries of {number} sentences, {size:.1f} MB on disk" in lines
    assert sum("snapshot" in line for line in lines) == 2


def test_path_on_the_command_line_goes_before_that_of_the_config(
    tmp_path: Path, path: str, capsys: pytest.CaptureFixture
) -> None:
    file, other = config_file(tmp_path, f"{{ store: '{path}' }}"), str(tmp_path / "other")

    allennlp("elmo-store", file, "--path", other, "--shard", "2/2")
    assert not os.path.exists(path)
    allennlp("elmo-store", file, "--merge", other)

    number = contents(other).num_sentences
    assert f"{number} entries of {other} are in {path}" in capsys.readouterr().out
    assert contents(path).num_sentences == number


def test_shards_write_files_of_their_own_which_one_store_reads(
    tmp_path: Path, path: str, capsys: pytest.CaptureFixture
) -> None:
    file, number = config_file(tmp_path, f"{{ store: '{path}' }}"), len(texts_of_the_config())

    allennlp("elmo-store", file, "--shard", "1/2")
    allennlp("elmo-store", file, "--shard", "2/2", "--processes", "2")
    capsys.readouterr()
    allennlp("elmo-store", file)

    assert f"{number} sentences, of which {path} lacks 0" in capsys.readouterr().out
    assert {file.name for file in Path(path).glob("*.sqlite")} == {
        "1-of-2.sqlite",
        "2-of-2.sqlite",
        "layers.sqlite",
    }
    merged = str(tmp_path / "merged")
    allennlp("elmo-store", "--path", merged, "--merge", path)
    assert f"{number} entries of {path} are in {merged}" in capsys.readouterr().out
    assert contents(merged).num_sentences == contents(path).num_sentences == number


@pytest.mark.parametrize("options", [(), ("--info",), ("--path", "store")])
def test_what_needs_a_config_asks_for_one(options: tuple[str, ...]) -> None:
    complaint = "give the path of a training config, or --path with --info or --merge"

    assert complaint in refusal("elmo-store", *options)


def test_config_without_a_bilm_is_refused(tmp_path: Path) -> None:
    file = config_file(tmp_path, variant="baseline")

    assert refusal("elmo-store", file) == "elmo-store: the model of the config has no biLM"
    assert "has no biLM" in refusal("elmo-store", file, "--path", tmp_path / "store")


def test_config_without_a_store_is_refused(tmp_path: Path) -> None:
    complaint = "the biLM of the config has no store with a path: give --path"

    assert complaint in refusal("elmo-store", config_file(tmp_path))
    assert complaint in refusal("elmo-store", config_file(tmp_path, "{ store: { memory: 5 } }"))


def test_what_cannot_be_done_is_refused(tmp_path: Path, path: str) -> None:
    file = config_file(tmp_path)

    assert f"there is no store at {path}" in refusal("elmo-store", "--info", "--path", path)
    assert "I/N with I from 1 to N" in refusal("elmo-store", file, "--path", path, "--shard", "3/2")
    assert "--processes must be 1 or more, not 0" in refusal(
        "elmo-store", file, "--path", path, "--processes", "0"
    )
    assert "no store at nowhere" in refusal(
        "elmo-store", file, "--path", path, "--merge", "nowhere"
    )
    assert "not found" in refusal("elmo-store", tmp_path / "no.jsonnet")
    assert "is a file" in refusal("elmo-store", file, "--path", file)
    assert not os.path.exists(path)
