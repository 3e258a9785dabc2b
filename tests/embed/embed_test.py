import json
import os
from pathlib import Path
from typing import Any

import h5py
import numpy
import pytest
import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo import ElmoMix
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.embed.embed import embed
from tests.helpers.command_line import allennlp, refusal
from tests.helpers.embedding import LINES, Paths, read_hdf5, write_text
from tests.helpers.reference_bilm import FIXTURE_FILES


@pytest.fixture()
def paths(tmp_path: Path) -> Paths:
    return write_text(tmp_path)


@pytest.fixture(scope="module")
def encoder() -> ElmoEncoder:
    return ElmoEncoder.from_pretrained(FIXTURE_FILES)


def test_code_written_for_the_old_commands_files_reads_it(
    paths: Paths, encoder: ElmoEncoder
) -> None:
    embed(Corpus([paths.text]), paths.hdf5, encoder)

    # This is code of AllenNLP's tutorial on ELMo.
    with h5py.File(paths.hdf5, "r") as file:
        sentence_to_index = json.loads(file.get("sentence_to_index")[0])
        embedding = file.get(sentence_to_index["The boat left the bank ."])
        assert embedding.shape == (3, 6, 32)
        assert len(embedding[2][5]) == 32
    # Published probes read a layer at a time, and take every other key for a number.
    with h5py.File(paths.hdf5, "r") as file:
        numbers = sorted(int(key) for key in list(file) if key != "sentence_to_index")
        assert numbers == list(range(len(LINES)))
        for number in numbers:
            layer = file[str(number)][1]
            assert layer.shape[0] == len(LINES[number].split())


def test_the_index_is_from_a_sentence_to_its_last_number(
    paths: Paths, encoder: ElmoEncoder
) -> None:
    embed(Corpus([paths.text]), paths.hdf5, encoder)

    with h5py.File(paths.hdf5, "r") as file:
        assert file["sentence_to_index"].shape == (1,)
        index = json.loads(file["sentence_to_index"].asstr()[0])
    assert index == {LINES[0]: "0", LINES[1]: "4", "": "5", LINES[3]: "3", "A": "6"}


def test_a_text_of_empty_lines_alone_is_written(paths: Paths, encoder: ElmoEncoder) -> None:
    paths.text.write_text("\n\n")

    embed(Corpus([paths.text]), paths.hdf5, encoder, "top")

    assert read_hdf5(paths.hdf5)["1"].shape == (0, 32)


@pytest.mark.parametrize("changed", ["gamma", "scalar_parameters", "layer_norm"])
def test_an_embedding_that_was_begun_with_another_mix_is_not_completed(
    changed: str, paths: Paths, encoder: ElmoEncoder
) -> None:
    mix = ElmoMix(3)
    text = Corpus([paths.text])

    with pytest.raises(KeyboardInterrupt):
        embed(text, paths.hdf5, ElmoEncoder(encoder.bilm, mix), "mix", engine=stop)
    if changed == "layer_norm":
        mix.layer_norm = "sentence"
    else:
        torch.nn.init.normal_(getattr(mix, changed))

    with pytest.raises(ConfigurationError, match="another mix"):
        embed(text, paths.hdf5, ElmoEncoder(encoder.bilm, mix), "mix")


def stop(*arguments: Any) -> Any:
    """Computes all parts, as an engine does, and then stops."""
    list(map(*arguments))
    raise KeyboardInterrupt


@pytest.mark.parametrize("name", ["mine.txt", "part-000000.hdf5", "_about.json"])
def test_a_folder_of_the_user_is_left_alone(name: str, paths: Paths, encoder: ElmoEncoder) -> None:
    paths.partial.mkdir()
    (paths.partial / name).write_text("{}")

    for force in (False, True):
        with pytest.raises(ConfigurationError, match="out.hdf5.partial has files that"):
            embed(Corpus([paths.text]), paths.hdf5, encoder, force=force)

    assert (paths.partial / name).read_text() == "{}" and not paths.hdf5.exists()


def test_only_its_own_parts_are_removed(paths: Paths, encoder: ElmoEncoder) -> None:
    with pytest.raises(KeyboardInterrupt):
        embed(Corpus([paths.text]), paths.hdf5, encoder, engine=stop)
    for name in ("mine.txt", ".part-time", "part-0.hdf5"):
        (paths.partial / name).write_text("mine")

    embed(Corpus([paths.text]), paths.hdf5, encoder)

    assert len(read_hdf5(paths.hdf5)) == len(LINES) + 1
    assert sorted(os.listdir(paths.partial)) == [".part-time", "mine.txt", "part-0.hdf5"]


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.99])
def test_a_part_with_a_flipped_bit_is_said_and_computed_again(
    share: float, paths: Paths, encoder: ElmoEncoder, caplog: pytest.LogCaptureFixture
) -> None:
    whole = paths.hdf5.with_name("whole.hdf5")
    embed(Corpus([paths.text]), whole, encoder)
    with pytest.raises(KeyboardInterrupt):
        embed(Corpus([paths.text]), paths.hdf5, encoder, engine=stop)
    (part,) = paths.partial.glob("part-*")
    content = bytearray(part.read_bytes())
    content[int(share * len(content))] ^= 4
    part.write_bytes(content)

    embed(Corpus([paths.text]), paths.hdf5, encoder)

    assert f"{part.name} is damaged, and is computed again" in caplog.text
    assert paths.hdf5.read_bytes() == whole.read_bytes()


def test_with_force_parts_of_other_settings_are_replaced(
    paths: Paths, encoder: ElmoEncoder
) -> None:
    with pytest.raises(KeyboardInterrupt):
        embed(Corpus([paths.text]), paths.hdf5, encoder, engine=stop)

    with pytest.raises(ConfigurationError, match="another embedding; use the same .* --force"):
        embed(Corpus([paths.text]), paths.hdf5, encoder, "top")
    embed(Corpus([paths.text]), paths.hdf5, encoder, "top", force=True)

    assert read_hdf5(paths.hdf5)["0"].shape == (6, 32) and not paths.partial.exists()


FILES = ["--options", FIXTURE_FILES[0], "--weights", FIXTURE_FILES[1]]


@pytest.mark.parametrize(("option", "output"), [(None, "elmo"), ("--top", "lstm_outputs2")])
def test_each_of_the_most_frequent_words_has_the_mean_over_its_occurrences(
    paths: Paths, encoder: ElmoEncoder, option: str | None, output: str
) -> None:
    words = paths.hdf5.with_name("words")
    occurrences: dict[str, list[torch.Tensor]] = {}
    for line in LINES:
        for word, vector in zip(line.split(), encoder([line])[output][0]):
            occurrences.setdefault(word, []).append(vector)

    allennlp("elmo-embed", paths.text, words, "--words", 9, *FILES, *filter(None, [option]))

    header, *lines = words.read_text(encoding="utf-8").splitlines()
    assert header == "9 32"
    assert [line.split(" ")[0] for line in lines] == ". Banks a lend money 's / : A".split()
    for line in lines:
        word, *numbers = line.split(" ")
        expected = torch.stack(occurrences[word]).mean(0)
        numpy.testing.assert_allclose(numpy.array(numbers, "float32"), expected, atol=1e-6)


def test_a_text_without_words_is_refused(paths: Paths) -> None:
    paths.text.write_text("\n\n")

    assert "nothing to embed" in refusal("elmo-embed", paths.text, paths.hdf5, "--words", 9, *FILES)
    assert not paths.hdf5.exists()


def test_the_datasets_are_in_the_order_of_the_lines(tmp_path: Path, encoder: ElmoEncoder) -> None:
    text, path = tmp_path / "text.txt", tmp_path / "text.hdf5"
    text.write_text("".join(f"line {number}\n" for number in range(12)))

    embed(Corpus([text]), path, encoder)

    with h5py.File(path) as file:
        assert list(file) == [*map(str, range(12)), "sentence_to_index"]
