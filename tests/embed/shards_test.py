import json
import os
import random
from functools import cache
from pathlib import Path
from typing import Any

import fsspec
import numpy
import pytest
import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo import ElmoMix
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.embed import shards
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.embed.parts import EmbedPart
from elmo_tasks.embed.shards import embed_shards, read_vectors
from tests.helpers.reference_bilm import FIXTURE_FILES

NUM_LINES = 40


@cache
def encoder() -> ElmoEncoder:
    return ElmoEncoder.from_pretrained(FIXTURE_FILES)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "PART_TOKENS", 20)


@pytest.fixture()
def text(tmp_path: Path) -> Path:
    drawn, path = random.Random(0), tmp_path / "text.txt"
    words = "The boat left its na\u00efve bank .".split()
    path.write_text(
        "".join(f"{' '.join(drawn.choices(words, k=k % 6))}\n" for k in range(NUM_LINES)),
        encoding="utf-8",
    )
    return path


def embedded(
    text: Path, out: Any, *args: Any, mix: ElmoMix | None = None, **settings: Any
) -> dict[str, Any]:
    with_mix = ElmoEncoder(encoder().bilm, mix)
    return embed_shards(Corpus([text]), out, with_mix, *args, **settings)


def rows(out: Any) -> list[tuple[int, list[str], numpy.ndarray]]:
    return list(read_vectors(out))


def assert_same(found: list, expected: list) -> None:
    assert [row[:2] for row in found] == [row[:2] for row in expected]
    for (_, _, one), (_, _, other) in zip(found, expected):
        assert one.dtype == other.dtype
        numpy.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("embedding", ["all", "top", "average", "mix", "concat"])
def test_each_line_is_a_row_with_the_vectors_of_the_encoder(
    embedding: str, text: Path, tmp_path: Path
) -> None:
    side_by_side = embedding == "concat"
    mix = ElmoMix(3, "concat", dropout=0.0) if side_by_side else encoder().mix
    embedded(text, tmp_path / "out", "mix" if side_by_side else embedding, mix=mix)

    found = rows(tmp_path / "out")
    lines = [line.split() for line in text.read_text(encoding="utf-8").splitlines()]
    assert [row[:2] for row in found] == list(enumerate(lines)) and len(found) == NUM_LINES
    for (_, _, written), layers in zip(found, encoder().layers(lines)):
        vectors = {"all": layers, "top": layers[2], "concat": torch.cat(layers.unbind(), dim=-1)}
        expected = vectors.get(embedding, layers.mean(dim=0)).numpy()
        assert written.dtype == numpy.float16 and written.shape == expected.shape
        numpy.testing.assert_allclose(written, expected, rtol=2**-10, atol=1e-5)


def test_the_manifest_counts_what_there_is(text: Path, tmp_path: Path, capsys: Any) -> None:
    embedded(text, tmp_path / "out")

    manifest = json.loads((tmp_path / "out" / "_manifest.json").read_text())
    num_tokens = len(text.read_text(encoding="utf-8").split())
    assert manifest["complete"] is True and manifest["texts"] == [str(text)]
    assert (manifest["num_sentences"], manifest["num_tokens"]) == (NUM_LINES, num_tokens)
    assert sum(part["num_tokens"] for part in manifest["parts"]) == num_tokens
    assert sum(part["num_sentences"] for part in manifest["parts"]) == NUM_LINES
    names = {part["file"] for part in manifest["parts"]}
    assert len(names) > 4
    assert names | {"_about.json", "_manifest.json"} == set(os.listdir(tmp_path / "out"))
    out, progress = capsys.readouterr()
    assert f"is complete: {len(names)} parts, {NUM_LINES} sentences, {num_tokens} tokens." in out
    assert f"{num_tokens}/{num_tokens}" in progress


def test_a_line_that_is_mended_loses_no_part_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, out = tmp_path / "text.txt", tmp_path / "out"
    text.write_bytes(b"one\n" * 25 + b"\xff\nthree\n")
    with pytest.raises(ValueError, match=f"{text}:26: not UTF-8"):
        embedded(text, out)
    text.write_bytes(b"one\n" * 25 + b"two\nthree\n")

    assert parts_computed(monkeypatch, text, out) == [2]

    assert [tokens for _, tokens, _ in rows(out)] == [["one"]] * 25 + [["two"], ["three"]]


def parts_computed(monkeypatch: pytest.MonkeyPatch, *args: Any, **settings: Any) -> list[int]:
    """Embeds, and returns the indices of the parts that were computed for that."""
    computed = []
    call = EmbedPart.__call__

    def noted(self: EmbedPart, part: Any) -> int:
        computed.append(part.index)
        return call(self, part)

    with monkeypatch.context() as patch:
        patch.setattr(EmbedPart, "__call__", noted)
        embedded(*args, **settings)
    return computed


def test_only_what_is_missing_is_computed_again(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    manifest = embedded(text, out)
    expected = rows(out)
    names = [part["file"] for part in manifest["parts"]]
    for name in (names[1], names[4], "_manifest.json"):
        (out / name).unlink()
    # A process that is killed while it writes leaves a name that begins with a dot.
    (out / f".{names[1]}.abc").write_text("half")
    (out / ".part-time").write_text("of somebody else")
    with pytest.raises(ConfigurationError, match="has no _manifest.json: it is not complete"):
        rows(out)

    computed = parts_computed(monkeypatch, text, out)

    assert computed == [1, 4]
    assert_same(rows(out), expected)
    assert set(os.listdir(out)) == {*names, "_about.json", "_manifest.json", ".part-time"}
    assert parts_computed(monkeypatch, text, out) == []


@pytest.mark.parametrize("address", ["{}/out", "memory://damaged/out"])
def test_one_flipped_bit_is_noticed_and_that_part_alone_is_computed_again(
    address: str, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = address.format(tmp_path)
    manifest = embedded(text, out)
    expected = rows(out)
    system, folder = fsspec.core.url_to_fs(out)
    name = f"{folder}/{manifest['parts'][2]['file']}"
    whole = bytearray(system.cat_file(name))

    for place in range(0, len(whole), len(whole) // 5):
        whole[place] ^= 1
        system.pipe_file(name, bytes(whole))
        with pytest.raises(ConfigurationError, match="part-000002-.* is damaged; run the same"):
            rows(out)

        assert parts_computed(monkeypatch, text, out) == [2]

        assert_same(rows(out), expected)
        whole = bytearray(system.cat_file(name))


def test_with_force_only_what_differs_is_replaced(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    embedded(text, out)
    (out / "_mine.json").write_text("mine")
    lines = text.read_text(encoding="utf-8").splitlines(keepends=True)
    text.write_text("".join([*lines[:20], "Another .\n"]), encoding="utf-8")

    computed = parts_computed(monkeypatch, text, out, force=True)

    assert 0 not in computed and len(rows(out)) == 21
    names = {part["file"] for part in json.loads((out / "_manifest.json").read_text())["parts"]}
    assert set(os.listdir(out)) == {*names, "_about.json", "_manifest.json", "_mine.json"}
    embedded(text, out, "top", force=True)
    assert {vectors.ndim for _, _, vectors in rows(out)} == {2}


def test_a_folder_is_gone_on_with_only_as_it_was_begun(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    embedded(text, out)
    expected = rows(out)

    with pytest.raises(ConfigurationError, match="another embedding"):
        embedded(text, out, "top")
    with monkeypatch.context() as patch:
        patch.setattr(shards, "PART_TOKENS", 50)
        with pytest.raises(ConfigurationError, match="another part_tokens"):
            embedded(text, out)
    lines = text.read_text(encoding="utf-8").splitlines(keepends=True)
    text.write_text("".join(["Another .\n", *lines]), encoding="utf-8")
    with pytest.raises(
        ConfigurationError, match="another text: part-000000-.* has other sentences"
    ):
        embedded(text, out)
    text.write_text("".join(lines[:-15]), encoding="utf-8")
    with pytest.raises(ConfigurationError, match="another text"):
        embedded(text, out)
    assert_same(rows(out), expected)


@pytest.mark.parametrize("name", ["~", "a::b"])
def test_any_name_of_a_folder_is_gone_on_with(
    name: str, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    embedded(text, f"{name}/out")

    assert parts_computed(monkeypatch, text, f"{name}/out") == []
    assert Path(name, "out", "_manifest.json").exists()


def test_files_of_others_are_left_alone(text: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "part-000000.parquet").write_text("mine")

    with pytest.raises(ConfigurationError, match="has files"):
        embedded(text, out)
    assert os.listdir(out) == ["part-000000.parquet"]


def test_the_folder_may_be_at_an_address(
    text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded(text, tmp_path / "out")
    address = "memory://embedded/out"

    manifest = embedded(text, address)

    assert_same(rows(address), rows(tmp_path / "out"))
    system = fsspec.filesystem("memory")
    assert not [name for name in system.ls("/embedded/out", detail=False) if "/." in name]
    system.rm_file(f"/embedded/out/{manifest['parts'][2]['file']}")
    assert parts_computed(monkeypatch, text, address) == [2]


def test_what_cannot_be_embedded_is_refused(text: Path, tmp_path: Path) -> None:
    large = ElmoMix(3, dropout=0.0)
    large.gamma.data.fill_(1e6)
    with pytest.raises(
        ConfigurationError, match="mix has a value that is too large for float16; write HDF5"
    ):
        embedded(text, tmp_path / "large", "mix", mix=large)
    with pytest.raises(ConfigurationError, match="foo://out cannot be opened: Protocol not known"):
        embedded(text, "foo://out")
    text.write_text("", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="is empty: it has no line"):
        embedded(text, tmp_path / "out")
    assert not (tmp_path / "out" / "_manifest.json").exists()
