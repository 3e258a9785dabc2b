import io
import itertools
import json
import os
import random
import shutil
import signal
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy
import pytest
import torch

import elmo_tasks.elmo.sentence_layers
from elmo_tasks.bilm import FrozenBiLm
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from elmo_tasks.embed import embed as embed_module
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.embed.embed import embed
from elmo_tasks.kernels.threads import operator_threads
from tests.helpers.archives import SENTENCES, sst
from tests.helpers.command_line import allennlp, refusal
from tests.helpers.embedding import LINES, Paths, read_hdf5, write_text
from tests.helpers.processes import run
from tests.helpers.reference_bilm import FIXTURE_FILES

FILES = ["--options", FIXTURE_FILES[0], "--weights", FIXTURE_FILES[1]]


@pytest.fixture()
def paths(tmp_path: Path) -> Paths:
    return write_text(tmp_path)


@cache
def fixture_encoder() -> ElmoEncoder:
    return ElmoEncoder.from_pretrained(FIXTURE_FILES)


@pytest.fixture()
def encoder() -> ElmoEncoder:
    return fixture_encoder()


@pytest.fixture()
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elmo_tasks.elmo.sentence_layers, "WINDOW_TOKENS", 12)


# Where the text comes from.


RAW = """A film of charm.\nIt isn't bad. Is it?\nDull, "dull"."""
TOKENIZED = ["A film of charm .", "It is n't bad .", "Is it ?", 'Dull , " dull " .']


# tests/embed/corpus_test.py has the formats of files.
@pytest.mark.parametrize("is_stdin", [True, False])
def test_raw_text_is_split_wherever_it_comes_from(
    is_stdin: bool, tmp_path: Path, encoder: ElmoEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(RAW.encode()), encoding="utf-8"))
    (tmp_path / "raw.txt").write_text(RAW)
    file = "-" if is_stdin else tmp_path / "raw.txt"

    allennlp("elmo-embed", file, tmp_path / "out.hdf5", "--split", *FILES)

    arrays = read_hdf5(tmp_path / "out.hdf5")
    index = json.loads(arrays.pop("sentence_to_index")[0])
    assert index == {sentence: str(k) for k, sentence in enumerate(TOKENIZED)}
    for k, layers in enumerate(encoder.layers(map(str.split, TOKENIZED))):
        numpy.testing.assert_allclose(arrays.pop(str(k)), layers, atol=1e-5)
    assert not arrays


# What is written.


def test_the_command_writes_the_file_and_says_so(
    paths: Paths, encoder: ElmoEncoder, capsys: Any
) -> None:
    table = paths.text.with_name("text.jsonl")
    table.write_text("".join(json.dumps({"words": line}) + "\n" for line in LINES))

    allennlp("elmo-embed", table, paths.hdf5, *FILES, "--column", "words")

    out, progress = capsys.readouterr()
    assert f"Wrote {paths.hdf5}: 7 sentences, 25 tokens, 0.0 MB." in out
    assert "25/25" in progress and "tokens/s" in progress
    arrays = read_hdf5(paths.hdf5)
    assert arrays.keys() - {"sentence_to_index"} == {str(number) for number in range(7)}
    (first,) = encoder.layers([LINES[0].split()])
    numpy.testing.assert_allclose(arrays["0"], first, atol=1e-5)
    assert not paths.partial.exists()


@pytest.mark.parametrize("embedding", ["all", "top", "average"])
def test_what_is_read_back_equals_what_is_in_memory_bit_for_bit(
    embedding: str, paths: Paths, encoder: ElmoEncoder
) -> None:
    allennlp("elmo-embed", paths.text, paths.hdf5, *FILES, f"--{embedding}")

    read_back = read_hdf5(paths.hdf5)
    for number, of_line in enumerate(encoder.layers(line.split() for line in LINES)):
        expected = {"all": of_line, "top": of_line[2], "average": of_line.mean(dim=0)}[embedding]
        assert read_back[str(number)].dtype == numpy.float32
        assert torch.equal(torch.from_numpy(read_back[str(number)]), expected)


# Several processes, and folders.


@pytest.mark.fork
def test_several_texts_and_processes_make_the_file_of_one(
    paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, several = paths.hdf5.with_name("one.hdf5"), paths.hdf5.with_name("several.hdf5")
    twice = paths.text.with_name("twice.txt")
    twice.write_text(2 * paths.text.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(elmo_tasks.elmo.sentence_layers, "WINDOW_TOKENS", 12)

    with operator_threads(1):
        allennlp("elmo-embed", twice, one, *FILES)
        texts = [paths.text, paths.text]
        allennlp("elmo-embed", *texts, several, *FILES, "--processes", 2)

    assert several.read_bytes() == one.read_bytes()


def test_a_folder_has_the_embedding_of_the_option(paths: Paths) -> None:
    out = paths.hdf5.with_name("out")

    allennlp("elmo-embed", paths.text, out, *FILES, "--shards", "--average")

    manifest = json.loads((out / "_manifest.json").read_text())
    assert manifest["num_sentences"] == len(LINES) and manifest["embedding"] == "average"


def test_the_trained_mix_of_a_model_is_written(paths: Paths, tmp_path: Path) -> None:
    (tmp_path / "training").mkdir()
    archive = sst(tmp_path / "training", "both")
    command = ["elmo-embed", paths.text, paths.hdf5, "--bilm", archive, "--mix"]

    assert "has mixes at the places input, output" in refusal(*command)
    allennlp(*command, "--place", "output")

    trained = ElmoEncoder.from_pretrained(archive, "output")
    expected = trained([LINES[0].split()])["elmo"][0]
    numpy.testing.assert_allclose(read_hdf5(paths.hdf5)["0"], expected, atol=1e-5)


# The output, the options, and words of the message.
REFUSED: list[tuple[str, list[Any], str]] = [
    ("out.hdf5", ["--processes", 2, "--cuda-device", 0], "--cuda-device, which is for one process"),
    ("out.hdf5", ["--ray", "local", "--cuda-device", 0], "--ray uses all GPUs"),
    ("out.hdf5", ["--place", "input"], "--place chooses a mix: give --mix as well"),
    ("out.txt", ["--words", 9, "--all"], "leave out --all"),
    ("out.txt", ["--words", 9, "--processes", 2], "and --processes"),
    ("there.hdf5", ["--shards"], "there.hdf5 has files that elmo-tasks embed did not write"),
    ("there.hdf5", [], "there.hdf5 exists; choose another name, or replace it with --force"),
    (".", [], ". is a folder with the input text.txt in it"),
    (os.curdir + "/new/../there.hdf5", [], "there.hdf5 exists"),
    ("memory://out.hdf5", [], "memory://out.hdf5 is an address: give --shards"),
    ("out.csv", [], "out.csv: the vectors are written as HDF5: choose a name that ends in .hdf5"),
    ("out.hdf5.gz", [], "out.hdf5.gz: the vectors are written as HDF5"),
    ("out.hdf5", ["--column", "text"], "text.txt is neither a table (.csv, .tsv, .parquet or .xls"),
    ("out.hdf5", [*FILES, "--bilm", "mini"], "without --bilm"),
    ("out.hdf5", FILES[:2], "give --options together with --weights"),
    ("out.hdf5", ["--bilm", "tiny"], "no biLM is known as 'tiny'; there are"),
    ("out.hdf5", ["--bilm", "nowhere/model.tar.gz"], "nowhere/model.tar.gz not found"),
    ("out.hdf5", ["--mix"], "weights.hdf5 has no trained mix: give --bilm a model that"),
]


@pytest.mark.parametrize(("output", "options", "words"), REFUSED)
def test_what_cannot_be_done_is_refused(
    output: str, options: list[Any], words: str, paths: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(paths.text.parent)
    Path("there.hdf5").write_text("mine")

    files = [] if {"--bilm", "--options"} & set(options) else FILES
    assert words in refusal("elmo-embed", "text.txt", output, *files, *options)
    assert sorted(os.listdir()) == ["text.txt", "there.hdf5"]


# Which biLM.


def test_the_bilm_is_the_one_in_the_package_unless_another_is_given(paths: Paths) -> None:
    allennlp("elmo-embed", paths.text, paths.hdf5)

    (layers,) = ElmoEncoder.from_pretrained("base").layers([LINES[0].split()])
    numpy.testing.assert_allclose(read_hdf5(paths.hdf5)["0"], layers, atol=1e-5)


def test_the_dtype_of_the_products_may_be_chosen(paths: Paths, encoder: ElmoEncoder) -> None:
    allennlp("elmo-embed", paths.text, paths.hdf5, *FILES, "--dtype", "bfloat16")

    written, (exact,) = read_hdf5(paths.hdf5)["0"], encoder.layers([LINES[0].split()])
    error = numpy.linalg.norm(written - exact.numpy()) / numpy.linalg.norm(exact)
    assert 1e-4 < error < 0.05


# Stopped, and begun again.


NUM_PARTS = 12


@pytest.fixture()
def long_text(paths: Paths, small_parts: None) -> Paths:
    """Returns the paths of a text of 40 lines, which is embedded in `NUM_PARTS` parts."""
    words = " ".join(SENTENCES).split()
    drawn = random.Random(0)
    lines = [" ".join(drawn.choices(words, k=drawn.randrange(6))) for _ in range(40)]
    paths.text.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return paths


def embedded(paths: Paths) -> None:
    embed(Corpus([paths.text]), paths.hdf5, fixture_encoder())


def killed_at(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, number: int) -> None:
    """Replaces a function by one that kills the process on its `number`th call."""
    calls, call = itertools.count(1), getattr(owner, name)

    def counted(*args: Any, **kwargs: Any) -> Any:
        if next(calls) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return call(*args, **kwargs)

    monkeypatch.setattr(owner, name, counted)


def tokens_computed(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> int:
    """Embeds the text, and returns the number of tokens that the biLM computed for that."""
    computed = []
    forward = FrozenBiLm.forward

    def counted(self: FrozenBiLm, char_ids: torch.Tensor) -> Any:
        computed.append(int((char_ids > 0).any(dim=2).sum()))
        return forward(self, char_ids)

    with monkeypatch.context() as patch:
        patch.setattr(FrozenBiLm, "forward", counted)
        embedded(paths)
    return sum(computed)


@pytest.mark.parametrize(
    ("owner", "name", "number", "parts_done"),
    [
        # The run is killed when a part has been computed, when it has been written but not named,
        # and when it has been named; when the file is half written, and when it has been written
        # but not named.
        (embed_module, "_write_part", 6, 5),
        (Path, "replace", 7, 5),
        (SentenceLayers, "of_tokens", 6, 5),
        (h5py.h5o, "copy", 30, NUM_PARTS),
        (Path, "replace", NUM_PARTS + 3, NUM_PARTS),
    ],
)
def test_a_killed_run_goes_on_and_loses_one_part_at_most(
    owner: Any,
    name: str,
    number: int,
    parts_done: int,
    long_text: Paths,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = Paths(long_text.text, long_text.hdf5.with_name("whole.hdf5"))
    num_tokens = tokens_computed(whole, monkeypatch)

    with monkeypatch.context() as patch:
        killed_at(patch, owner, name, number)
        assert run(lambda: embedded(long_text)) == -signal.SIGKILL
    assert not long_text.hdf5.exists()
    assert len(list(long_text.partial.glob("part-*"))) == parts_done

    computed = tokens_computed(long_text, monkeypatch)

    assert (computed == 0) == (parts_done == NUM_PARTS) and computed < num_tokens
    assert long_text.hdf5.read_bytes() == whole.hdf5.read_bytes()
    assert not long_text.partial.exists()


@pytest.fixture()
def begun(long_text: Paths, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """Returns the paths of a run that was killed after its fifth part."""
    with monkeypatch.context() as patch:
        killed_at(patch, embed_module, "_write_part", 6)
        run(lambda: embedded(long_text))
    assert len(list(long_text.partial.glob("part-*"))) == 5
    return long_text


@pytest.mark.parametrize(
    ("changes", "differ"),
    [
        (["--bilm", "mini"], "biLM and another dim"),
        (["--bilm", "mini", "--top"], "embedding and another biLM and another dim"),
    ],
)
def test_what_was_begun_otherwise_is_gone_on_with_only_as_it_was(
    changes: list[Any], differ: str, begun: Paths
) -> None:
    command = ["elmo-embed", begun.text, begun.hdf5, *changes]

    message = refusal(*command)

    assert message == (
        f"elmo-embed: {begun.partial} was begun with another {differ}; use the same settings and "
        "text as then, or replace it with --force"
    )
    assert len(list(begun.partial.glob("part-*"))) == 5


# What cannot be done.


def test_a_text_that_is_missing_is_refused_before_anything_is_done(paths: Paths) -> None:
    missing = paths.text.with_name("missing.txt")

    assert f"{missing} not found" in refusal("elmo-embed", missing, paths.hdf5, *FILES)
    assert os.listdir(paths.text.parent) == ["text.txt"]


def test_a_full_disk_loses_nothing(
    long_text: Paths, monkeypatch: pytest.MonkeyPatch, encoder: ElmoEncoder
) -> None:
    with monkeypatch.context() as patch:
        usage = shutil.disk_usage(long_text.text)._replace(free=30_000)
        patch.setattr(shutil, "disk_usage", lambda _: usage)
        message = refusal("elmo-embed", long_text.text, long_text.hdf5, *FILES)

    assert "GB of the disk are free; make room and run the same command again" in message
    assert not long_text.hdf5.exists()
    assert tokens_computed(long_text, monkeypatch) == 0
    assert long_text.hdf5.exists()
