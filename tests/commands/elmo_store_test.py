import json
import os
import re
from pathlib import Path
from typing import Any

import _jsonnet
import pytest
import torch
from allennlp.modules.elmo import batch_to_ids

from elmo_tasks.bilm import BiLm
from elmo_tasks.commands.elmo_store import fill
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.treebank import parse_tree
from elmo_tasks.store.contents import contents, merge
from elmo_tasks.store.layer_store import LayerStore
from tests.helpers.command_line import allennlp
from tests.store.layer_store_test import computed_by, fixture_bilm

ROOT = Path(__file__).parents[2]
STORE = "model.text_embedder.bilm.store"


@pytest.fixture()
def path(tmp_path: Path) -> str:
    return str(tmp_path / "store")


def config(change: str = "{}", variant: str = "both") -> dict[str, Any]:
    parts = [f"training_configs/sst/{variant}.jsonnet", "fixtures/tiny.libsonnet"]
    snippet = " + ".join(f"(import '{ROOT}/{part}')" for part in parts)
    return json.loads(_jsonnet.evaluate_snippet("test", f"{snippet} + {change}"))


def config_file(folder: Path, change: str = "{}", variant: str = "both") -> Path:
    file = folder / "config.json"
    file.write_text(json.dumps(config(change, variant)))
    return file


def texts_of_the_config() -> set[tuple[str, ...]]:
    """Phrases of at least four tokens, and whole sentences."""
    texts = set()
    for line in (ROOT / "fixtures" / "sst.txt").read_text().splitlines():
        tree = parse_tree(line)
        for node in tree.nodes:
            words = tuple(tree.words[node.start : node.end])
            if len(words) >= 4 or node == tree.root:
                texts.add(words)
    return texts


def refusal(monkeypatch: pytest.MonkeyPatch, *args: object) -> str:
    with pytest.raises(SystemExit) as refused:
        allennlp(monkeypatch, "elmo-store", *args)
    return str(refused.value)


def test_every_text_of_a_config_is_computed_beforehand(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = texts_of_the_config()

    assert fill(config(), path) == len(texts)

    bilm = fixture_bilm(LayerStore(path))
    computed = computed_by(bilm, monkeypatch)
    ids = batch_to_ids([list(words) for words in sorted(texts)])
    layers = bilm(ids).layers
    assert computed == []
    torch.testing.assert_close(layers, fixture_bilm()(ids).layers, rtol=2**-10, atol=1e-5)


def test_filling_again_computes_only_what_is_missing(path: str) -> None:
    number = len(texts_of_the_config())
    done = fill(config(), path, shard="1/2")

    assert 0 < done < number
    assert fill(config(), path) == number - done
    assert fill(config(), path) == 0


def test_shards_are_parts_of_the_whole(path: str) -> None:
    parts = [fill(config(), path, shard=f"{part}/3") for part in (1, 2, 3)]

    assert sum(parts) == contents(path).num_sentences == len(texts_of_the_config())
    assert min(parts) > 0


def test_batches_keep_to_the_number_of_tokens(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = []
    compute = BiLm._layers

    def note(self: BiLm, char_ids: torch.Tensor) -> torch.Tensor:
        shapes.append(tuple(char_ids.shape[:2]))
        return compute(self, char_ids)

    monkeypatch.setattr(BiLm, "_layers", note)
    fill(config(), path, batch_tokens=20)

    assert sum(rows for rows, _ in shapes) == len(texts_of_the_config())
    assert all(rows * length <= 20 or rows == 1 for rows, length in shapes)
    # The longest come first, where memory may run out.
    lengths = [length for _, length in shapes]
    assert lengths == sorted(lengths, reverse=True)


def test_stores_of_two_machines_are_merged(tmp_path: Path, path: str) -> None:
    other = str(tmp_path / "other")
    fill(config(), path, shard="1/2")
    number = fill(config(), other, shard="2/2")

    assert merge(path, other) == number

    assert contents(path).num_sentences == len(texts_of_the_config())
    assert fill(config(), path) == 0


# The command.


def test_command_fills_the_store_of_the_config_and_says_what_is_in_it(
    tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    file, number = config_file(tmp_path, f"{{ store: '{path}' }}"), len(texts_of_the_config())

    allennlp(monkeypatch, "elmo-store", file)
    out, progress = capsys.readouterr()

    assert f"{number} sentences, of which {path} lacks {number}" in out
    assert "100%" in progress and "tokens/s" in progress
    num_bytes = sum(len(words) for words in texts_of_the_config()) * 5 * 16 * 2
    share = rf"2x32_16 float32 +snapshot +float16 +[0-9a-f]{{16}} +{number} +{num_bytes / 1e6:.1f}"
    assert re.search(share, out)
    overrides = json.dumps({STORE: {"path": path, "dtype": "float32"}})
    allennlp(monkeypatch, "elmo-store", file, "--shard", "1/2", "-o", overrides)
    capsys.readouterr()
    allennlp(monkeypatch, "elmo-store", file, "--info")
    lines = capsys.readouterr().out.splitlines()
    done = contents(path).shares[0].num_sentences + contents(path).shares[1].num_sentences
    size = os.path.getsize(os.path.join(path, "data.mdb")) / 1e6
    assert f"{path}: {done} entries of {number} sentences, {size:.1f} MB on disk" in lines
    assert sum("snapshot" in line for line in lines) == 2


def test_path_on_the_command_line_goes_before_that_of_the_config(
    tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    file, other = config_file(tmp_path, f"{{ store: '{path}' }}"), str(tmp_path / "other")

    allennlp(monkeypatch, "elmo-store", file, "--path", other, "--shard", "2/2")
    assert not os.path.exists(path)
    allennlp(monkeypatch, "elmo-store", file, "--merge", other)

    number = contents(other).num_sentences
    assert f"{number} entries of {other} are in {path}" in capsys.readouterr().out
    assert contents(path).num_sentences == number


def test_config_without_a_bilm_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = config_file(tmp_path, variant="baseline")

    assert refusal(monkeypatch, file) == "elmo-store: the model of the config has no biLM"
    assert "has no biLM" in refusal(monkeypatch, file, "--path", tmp_path / "store")


def test_config_without_a_store_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    complaint = "the biLM of the config has no store with a path: give --path"

    assert complaint in refusal(monkeypatch, config_file(tmp_path))
    assert complaint in refusal(monkeypatch, config_file(tmp_path, "{ store: { memory: 5 } }"))


def test_bilm_that_trains_is_refused(tmp_path: Path, path: str) -> None:
    trains = "{ chosen_bilm+:: { requires_grad: true, state: 'reset' } }"

    with pytest.raises(ConfigurationError, match="without requires_grad"):
        fill(config(trains), path)


def test_what_cannot_be_done_is_refused(
    tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = config_file(tmp_path)

    assert f"there is no store at {path}" in refusal(monkeypatch, "--info", "--path", path)
    assert "I/N with I from 1 to N" in refusal(monkeypatch, file, "--path", path, "--shard", "3/2")
    assert "no store at nowhere" in refusal(monkeypatch, file, "--path", path, "--merge", "nowhere")
    assert "not found" in refusal(monkeypatch, tmp_path / "no.jsonnet")
    assert "has no biLM" in refusal(monkeypatch, "--info")
    assert "is a file" in refusal(monkeypatch, file, "--path", file)
    assert not os.path.exists(path)


def test_config_whose_texts_no_bilm_reads_is_refused(path: str) -> None:
    words_only = "{ token_indexers:: { tokens: { type: 'single_id' } } }"

    with pytest.raises(ConfigurationError, match="no text with an elmo_characters indexer"):
        fill(config(words_only), path)
