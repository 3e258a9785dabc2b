import json
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch

from elmo_tasks.analysis.check import check
from elmo_tasks.bilm import char_cnn
from elmo_tasks.bilm.files.many_langs import many_langs_options
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.elmo.from_config import bilm_from_config
from elmo_tasks.elmo.opening import open_elmo
from elmo_tasks.elmo.store import LayerStore
from tests.helpers import many_langs
from tests.helpers.many_langs import SENTENCES


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("sizes_in", [".", "configs"])
@pytest.mark.parametrize("most", [5, char_cnn._MAX_LOOKED_UP], ids=["windows", "look-up"])
def test_the_layers_equal_those_in_numpy(
    tmp_path: Path, old: bool, sizes_in: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(char_cnn, "_MAX_LOOKED_UP", most)
    folder = many_langs.write(tmp_path / "de", old, sizes_in)

    encoder = ElmoEncoder.from_pretrained(folder)

    for words, layers in zip(SENTENCES, encoder.layers(SENTENCES)):
        numpy.testing.assert_allclose(layers, many_langs.layers(words), atol=1e-5)


def test_a_zip_file_a_config_and_a_store_have_the_same_layers(tmp_path: Path) -> None:
    folder = many_langs.write(tmp_path / "de")
    zipped = shutil.make_archive(str(tmp_path / "142"), "zip", folder)
    char_ids = batch_char_ids(SENTENCES[:1], 20)
    expected = open_elmo(folder).bilm(char_ids).layers

    store = LayerStore(dtype="float32")
    bilms = (
        open_elmo(zipped).bilm,
        bilm_from_config(str(folder)),
        open_elmo(folder, store=store).bilm,
    )

    for bilm in bilms:
        torch.testing.assert_close(bilm(char_ids).layers, expected, rtol=0, atol=1e-6)


def test_the_sample_config_need_not_be_there(tmp_path: Path) -> None:
    folder = many_langs.write(tmp_path / "de", sizes_in=None)

    options = many_langs_options({"config_path": "cnn_50_100_512_4096_sample.json"}, folder)

    assert options["lstm"]["dim"] == 4096 and options["many_langs"]["word_dim"] == 100


@pytest.mark.parametrize("name", ["char.dic", "word.dic", "config.json", "sizes.json"])
def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path, name: str) -> None:
    folder = many_langs.write(tmp_path / "de")
    expected = ElmoEncoder.from_pretrained(folder).bilm
    content = (folder / name).read_text(encoding="utf-8")
    (folder / name).write_text(content, encoding="utf-8-sig")

    assert ElmoEncoder.from_pretrained(folder).bilm.fingerprint() == expected.fingerprint()


@pytest.mark.parametrize("sizes_in", [".", "configs", "config.json"])
@pytest.mark.parametrize("config", [{}, {"config_path": None}, {"seed": 1}])
def test_the_sizes_are_found_without_their_path(
    tmp_path: Path, sizes_in: str, config: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    folder = many_langs.write(tmp_path / "de", sizes_in=None)
    is_own = sizes_in == "config.json"
    sizes = folder / sizes_in if is_own else folder / sizes_in / "large.json"
    sizes.parent.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    sizes.write_text(json.dumps({**many_langs.SIZES, **(config if is_own else {})}))

    encoder = ElmoEncoder.from_pretrained(folder)

    expected = many_langs.layers(SENTENCES[0])
    numpy.testing.assert_allclose(next(encoder.layers(SENTENCES[:1])), expected, atol=1e-5)
    assert is_own or f"{folder}: config.json names no config_path; taken: large" in caplog.text


def test_sizes_that_are_nowhere_are_those_of_the_sample_if_they_fit(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = many_langs.write(tmp_path / "de", sizes_in=None)
    (folder / "config.json").write_text("{}")

    with pytest.raises(ConfigurationError, match="embedding.weight has shape .*, but its config"):
        ElmoEncoder.from_pretrained(folder)
    assert "taken: cnn_50_100_512_4096_sample.json" in caplog.text


class Program:
    """Would run a program when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("false",)


# The last bytes of a file are cut off.
CUT = object()


def damage(path: Path, content: Any) -> None:
    """Writes another content; fields of JSON and tensors are put beside those that are there."""
    if content is None:
        path.unlink()
    elif content is CUT:
        path.write_bytes(path.read_bytes()[:-300])
    elif isinstance(content, bytes):
        path.write_bytes(content)
    elif path.suffix == ".json":
        sizes = json.loads(path.read_text())
        for name, fields in content.items():
            sizes[name] |= fields
        path.write_text(json.dumps(sizes))
    else:
        torch.save(content if isinstance(content, list) else {**torch.load(path), **content}, path)


PROGRAM = pickle.dumps(Program(), 2)
IN_TORCH_FILE = pickle.dumps(torch.serialization.MAGIC_NUMBER, 2) + PROGRAM
DAMAGED = "encoder.pkl is damaged, or not a file of PyTorch"
BIAS = "projection.bias"
REFUSED: list[tuple[str, Any, str]] = [
    ("encoder.pkl", CUT, DAMAGED),
    ("encoder.pkl", PROGRAM, DAMAGED),
    ("encoder.pkl", IN_TORCH_FILE, DAMAGED),
    ("encoder.pkl", [1], "not tensors by name"),
    ("token_embedder.pkl", None, "there is no file .*_embedder.pkl"),
    ("char.dic", None, "the dictionary .*char.dic cannot be read"),
    ("sizes.json", None, "has no sizes.json, which its config.json"),
    ("word.dic", "<oov>\t0\n\u00e9\t1".encode("latin1"), "word.dic cannot be read: 'utf-8' codec"),
    ("word.dic", b"<oov>\t0\na b\n", "word.dic:2: expected an entry, a tab and a number"),
    ("word.dic", b"a\t1\n", "are not 0, 1, 2, ..."),
    (
        "char.dic",
        b"a\t0\n<oov>\t1\n",
        "char.dic lacks the entries <bos>, <eos>, <pad>, <bow>, <eow>",
    ),
    ("encoder.pkl", {"further": torch.zeros(1)}, "has the weights 'further', which a biLM"),
    ("token_embedder.pkl", {BIAS: torch.zeros(2)}, r"bias has shape \(2,\), .* ask for \(6,\)"),
    ("token_embedder.pkl", {BIAS: torch.full((6,), torch.nan)}, "bias holds "),
    ("sizes.json", {"token_embedder": {"char_dim": 0}}, "char_cnn.embedding.dim "),
    ("sizes.json", {"encoder": {"n_layers": 3}}, "forward_layer_2.* is missing"),
    ("sizes.json", {"encoder": {"dim": 10**9}}, "lstm.dim "),
    ("sizes.json", b"{}", "not as in ELMoForManyLangs"),
]


@pytest.mark.parametrize(("file", "content", "words"), REFUSED)
def test_a_wrong_folder_is_refused_in_one_line(
    tmp_path: Path, file: str, content: Any, words: str
) -> None:
    folder = many_langs.write(tmp_path / "de")
    damage(folder / file, content)

    with pytest.raises(ConfigurationError, match=words) as refused:
        ElmoEncoder.from_pretrained(folder)

    assert "\n" not in str(refused.value)


def test_a_check_finds_it_sound_or_says_what_is_wrong(tmp_path: Path) -> None:
    folder = many_langs.write(tmp_path / "de")
    files = folder / "config.json", folder / "encoder.pkl"

    sound = check(*files)
    damage(folder / "encoder.pkl", CUT)
    damaged = check(*files)

    assert not sound.problems
    assert sound.facts["words"] == "8, all others as <UNK>"
    (problem,) = damaged.problems
    assert "encoder.pkl is damaged" in problem


def test_it_is_not_written_in_another_layout(tmp_path: Path) -> None:
    encoder = ElmoEncoder.from_pretrained(many_langs.write(tmp_path / "de"))

    with pytest.raises(ConfigurationError, match="use the folder that it was read from"):
        encoder.save_pretrained(tmp_path / "saved")
