import json
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy
import pytest
import torch

from elmo_tasks.analysis.check import check
from elmo_tasks.archives.elmo_of_model import load_bilm
from elmo_tasks.bilm import make_bilm
from elmo_tasks.common import fetch
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo import ElmoEncoder
from tests.helpers.archives import sst
from tests.helpers.reference_bilm import Array, ReferenceBiLm, make_options, random_weights

WORDS = ["<S>", "</S>", "<UNK>", "the", "na\u00efve", "x" * 60, "\u0e44\u0e17\u0e22" * 20, "the"]
SENTENCES = [["the", "na\u00efve", "dog", "<UNK>"], ["x" * 60, "\u0e44\u0e17\u0e22" * 20, "The"]]


class ReferenceOfWords(ReferenceBiLm):
    """As bilm-tf with `use_character_inputs=False`: a word has the id of its last line."""

    def layers(self, tokens: list[str], state: Any = None) -> tuple[Array, Any]:
        self._ids = {word: index for index, word in enumerate(WORDS)}
        state = self.zeros() if state is None else state
        ids = [self._ids.get(token, 2) for token in ["<S>", *tokens, "</S>"]]
        x = self.weights["embedding"][ids]
        forward, last = self._stack(0, x, state[0])
        backward, backward_last = self._stack(1, x[::-1], state[1])
        x2 = numpy.concatenate([forward, backward[:, ::-1]], axis=-1)
        return x2[:, 1:-1], [last, backward_last]


def write_bilm(
    folder: Path, weights_name: str = "weights.hdf5", dim: int = 6, **changes: Any
) -> Path:
    """Writes the files of a random biLM of words, as bilm-tf does after training one."""
    folder.mkdir()
    options = make_options(projection_dim=dim)
    weights = random_weights(options)
    del options["char_cnn"]
    options |= {"n_tokens_vocab": len(WORDS), "bidirectional": True, **changes}
    (folder / "options.json").write_text(json.dumps(options))
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    table = numpy.random.RandomState(1).uniform(-1, 1, (len(WORDS), dim)).astype("float32")
    with h5py.File(folder / weights_name, "w") as file:
        file["embedding"] = table
        for name, values in weights.items():
            if name.startswith("RNN"):
                file[name] = values
    return folder


def reference(folder: Path) -> ReferenceBiLm:
    options = json.loads((folder / "options.json").read_text())
    cnn = {"max_characters_per_token": 50}
    (folder / "of_reference.json").write_text(json.dumps({**options, "char_cnn": cnn}))
    return ReferenceOfWords(folder / "of_reference.json", next(folder.glob("*.hdf5")))


@pytest.mark.parametrize("state", ["reset", "snapshot"])
def test_the_layers_equal_a_table_and_lstms_in_numpy(tmp_path: Path, state: str) -> None:
    folder = write_bilm(tmp_path / "bilm", state=state)
    expected = reference(folder)
    start = expected.snapshot() if state == "snapshot" else None

    encoder = ElmoEncoder.from_pretrained(folder)

    for words, layers in zip(SENTENCES, encoder.layers(SENTENCES)):
        numpy.testing.assert_allclose(layers, expected.layers(words, start)[0], atol=1e-5)


def test_zip_files_and_exported_folders_have_their_vocabulary(tmp_path: Path) -> None:
    folder = write_bilm(tmp_path / "bilm", "220_weights.hdf5")
    encoder = ElmoEncoder.from_pretrained(folder)
    zipped = shutil.make_archive(str(tmp_path / "220"), "zip", folder)
    encoder.save_pretrained(tmp_path / "saved")

    for again in (zipped, tmp_path / "saved"):
        layers = ElmoEncoder.from_pretrained(again).layers(SENTENCES)
        for one, other in zip(layers, encoder.layers(SENTENCES)):
            torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_the_archive_of_a_task_needs_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_bilm(tmp_path / "bilm", dim=16)
    expected = make_bilm(folder / "options.json", folder / "weights.hdf5")
    options = json.loads((folder / "options.json").read_text())
    fields = {"options": options, "pretrained_file": str(folder)}
    monkeypatch.setattr("tests.helpers.archives.FIXTURE", fields)
    (tmp_path / "sst").mkdir()
    archive = sst(tmp_path / "sst", "input")
    shutil.rmtree(folder)

    _, bilm = load_bilm(archive)

    char_ids = batch_char_ids(SENTENCES)
    torch.testing.assert_close(bilm(char_ids).layers, expected(char_ids).layers)


def test_another_vocabulary_has_another_fingerprint(tmp_path: Path) -> None:
    one, other = write_bilm(tmp_path / "one"), write_bilm(tmp_path / "other")
    (other / "vocab.txt").write_text("\n".join([*WORDS[:3], "a", "b", "c", "d", "e"]))

    fingerprints = {
        ElmoEncoder.from_pretrained(each).layers.bilm.fingerprint() for each in (one, other)
    }

    assert len(fingerprints) == 2


def test_a_vocabulary_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    folder = write_bilm(tmp_path / "bilm")
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8-sig")

    bilm = ElmoEncoder.from_pretrained(folder).layers.bilm

    assert bilm.word_table.lexicon.get_words()[0] == WORDS[0]


def test_the_vocabulary_of_weights_at_an_address_is_fetched_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_bilm(tmp_path / "bilm")

    def copied(address: str) -> str:
        name = address.removeprefix("https://host/bilm/")
        return str(shutil.copy(folder / name, tmp_path / f"copy-{name}"))

    monkeypatch.setattr(fetch, "_fetch", copied)

    encoder = ElmoEncoder.from_pretrained("https://host/bilm/weights.hdf5")

    expected = ElmoEncoder.from_pretrained(folder)
    assert encoder.bilm.fingerprint() == expected.bilm.fingerprint()


def test_every_word_of_the_table_gets_a_gradient(tmp_path: Path) -> None:
    folder = write_bilm(tmp_path / "bilm")
    bilm = make_bilm(folder / "options.json", folder / "weights.hdf5", requires_grad=True)

    bilm(batch_char_ids(SENTENCES)).layers.sum().backward()

    seen = bilm.word_table.embedding.grad.abs().sum(dim=1) > 0
    assert seen.tolist() == [True, True, True, False, True, True, True, True]


@pytest.mark.parametrize(
    ("vocabulary", "problem"),
    [
        (None, "a biLM of words needs vocab.txt beside .*weights.hdf5"),
        (WORDS[:-1], "vocab.txt has 7 words, but n_tokens_vocab of the options is 8"),
        ([*WORDS, "x", "y"], "vocab.txt has 10 words"),
        (["a"] * 8, "the vocabulary has no <UNK>"),
        (b"\xe9t\xe9\n", "needs vocab.txt beside .*weights.hdf5: 'utf-8' codec"),
    ],
)
def test_a_wrong_vocabulary_is_refused(
    tmp_path: Path, vocabulary: list[str] | bytes | None, problem: str
) -> None:
    folder = write_bilm(tmp_path / "bilm")
    (folder / "vocab.txt").unlink()
    if isinstance(vocabulary, list):
        vocabulary = "\n".join(vocabulary).encode()
    if vocabulary is not None:
        (folder / "vocab.txt").write_bytes(vocabulary)

    with pytest.raises(ConfigurationError, match=problem):
        ElmoEncoder.from_pretrained(folder)


def test_options_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    folder = write_bilm(tmp_path / "bilm", n_tokens_vocab=9)
    with pytest.raises(ConfigurationError, match="embedding has shape .*8, 6.* ask for .9, 6"):
        ElmoEncoder.from_pretrained(folder)

    options = json.loads((folder / "options.json").read_text())
    del options["n_tokens_vocab"]
    (folder / "options.json").write_text(json.dumps(options))
    with pytest.raises(
        ConfigurationError, match="char_cnn is missing.*a biLM of words has n_tokens_vocab"
    ):
        ElmoEncoder.from_pretrained(folder)


def test_a_check_finds_it_sound(tmp_path: Path) -> None:
    folder = write_bilm(tmp_path / "bilm")

    report = check(folder / "options.json", folder / "weights.hdf5")

    assert not report.problems
    assert "8, all others as <UNK>" in str(report)
