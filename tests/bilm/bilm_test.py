import json
import logging
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from allennlp.modules.elmo import _ElmoBiLm

from elmo_tasks.bilm import FrozenBiLm, make_bilm
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.bilm_examples import SENTENCE, SHAPES, WORDS, ids_of, sentences
from tests.helpers.reference_bilm import (
    FIXTURE_FILES,
    ReferenceBiLm,
    assert_equals_upstream,
    make_options,
    random_files,
)
from tests.helpers.stored_bilms import change, fixture_bilm


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_layers_equal_allennlps_over_batches_that_grow_and_shrink_if_the_state_is_carried(
    tmp_path: Path, shape: dict
) -> None:
    files = random_files(tmp_path, **shape)
    bilm, theirs = make_bilm(*files, state="carry"), _ElmoBiLm(*files)

    for lengths in [(3, 5), (2, 0, 9, 1), (4,), (0, 0, 3), (1, 2, 3, 4, 5, 6), (7, 0), (8, 1, 2)]:
        assert_equals_upstream(bilm, theirs, ids_of(sentences(*lengths)))
    # Every kind of word.
    assert_equals_upstream(bilm, theirs, ids_of([WORDS, WORDS[::-1], [""]]))


# What AllenNLP's biLM does not have.
MORE_SHAPES: dict[str, dict[str, Any]] = {
    "no_skip_connections": {"n_layers": 3, "use_skip_connections": False},
    "fewer_characters": {"max_characters_per_token": 20},
}


@pytest.mark.parametrize("name", [*SHAPES, *MORE_SHAPES])
@pytest.mark.parametrize("state", ["reset", "snapshot"])
def test_layers_equal_a_plain_numpy_bilm(tmp_path: Path, name: str, state: str) -> None:
    files = random_files(tmp_path, **{**SHAPES, **MORE_SHAPES}[name])
    bilm, reference = make_bilm(*files, state=state), ReferenceBiLm(*files)
    batch = [SENTENCE, WORDS[44:54], [""], ["\u00e9" * 24, "y" * 300]]

    layers = bilm(batch_char_ids(batch, bilm.options.max_characters)).layers

    start = reference.snapshot() if state == "snapshot" else reference.zeros()
    for row, sentence in enumerate(batch):
        expected, _ = reference.layers(sentence, start)
        numpy.testing.assert_allclose(layers[row, :, : len(sentence)], expected, atol=1e-5)


@pytest.mark.parametrize("state", ["reset", "snapshot", "carry"])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (2, 0), (0, 3)])
def test_a_batch_of_padding_alone_gives_zeros(state: str, shape: tuple[int, int]) -> None:
    bilm = make_bilm(*FIXTURE_FILES, state=state)

    layers, mask = bilm(torch.zeros(*shape, 50, dtype=torch.long))

    assert layers.shape == (shape[0], 3, shape[1], 32)
    assert not layers.any() and mask.shape == shape and not mask.any()


# Construction and errors.


def test_a_bilm_keeps_options_of_its_own(tmp_path: Path) -> None:
    options = make_options()

    bilm = make_bilm(options)

    assert options == make_options()
    options["lstm"]["n_layers"] = 7
    bilm.to_files(tmp_path)
    assert json.loads((tmp_path / "options.json").read_text())["lstm"]["n_layers"] == 2


@pytest.mark.parametrize("copied", [False, True])
def test_a_bilm_without_weights_warns_once(copied: bool, caplog: pytest.LogCaptureFixture) -> None:
    bilm = make_bilm(make_options())
    bilm = FrozenBiLm.of(bilm) if copied else bilm

    with caplog.at_level(logging.WARNING):
        bilm(ids_of([SENTENCE]))
        bilm(ids_of([SENTENCE]))

    warnings = [record.message for record in caplog.records if "random weights" in record.message]
    assert len(warnings) == 1


def test_a_bilm_with_weights_does_not_warn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = random_files(tmp_path)
    loaded = torch.nn.Sequential(make_bilm(make_options()))
    loaded.load_state_dict(torch.nn.Sequential(make_bilm(*files)).state_dict())
    bilms = [make_bilm(*files), make_bilm(make_options(), requires_grad=True), loaded]

    with caplog.at_level(logging.WARNING):
        for bilm in bilms:
            bilm(ids_of([SENTENCE]))

    assert not caplog.records


TRAINED_SNAPSHOT = {"state": "snapshot", "requires_grad": True}
REFUSED: list[tuple[dict[str, Any], str]] = [
    (TRAINED_SNAPSHOT, "use state 'reset' or 'carry'"),
    ({"state": "warm"}, "one of reset, snapshot, carry, not 'warm'"),
    ({"options": "nowhere.json"}, "nowhere.json"),
    *(({"content": text}, "is not JSON") for text in (b"{", b"", b"\xff", 10**5 * b'{"a":')),
    *(({"content": text}, "is not a JSON object") for text in (b"[1, 2]", b"3")),
    *(
        ({"char_ids": shape}, r"\(batch, length, 50\), with all characters of .*elmo_char")
        for shape in ((2, 3), (2, 3, 49), (2, 4, 3, 50))
    ),
]


@pytest.mark.parametrize(("wrong", "words"), REFUSED)
def test_what_makes_no_bilm_or_no_layers_is_refused(
    wrong: dict[str, Any], words: str, tmp_path: Path
) -> None:
    options, weights = FIXTURE_FILES
    own: dict[str, Any] = {"content": options.read_bytes(), "options": "options.json"}
    own |= {"char_ids": (1, 1, 50)}
    own |= {name: wrong[name] for name in own.keys() & wrong.keys()}
    settings = {name: wrong[name] for name in wrong.keys() - own.keys()}
    (tmp_path / "options.json").write_bytes(own["content"])

    with pytest.raises(ConfigurationError, match=words):
        bilm = make_bilm(tmp_path / own["options"], weights, **settings)
        bilm(torch.ones(own["char_ids"], dtype=torch.long))


def test_the_fingerprint_is_that_of_the_weights_and_not_of_the_object(tmp_path: Path) -> None:
    bilm = fixture_bilm()
    loaded = make_bilm(json.loads(FIXTURE_FILES[0].read_text()))
    loaded.load_state_dict(bilm.state_dict())
    bilm.to_files(tmp_path)
    read = make_bilm(tmp_path / "options.json", tmp_path / "weights.hdf5")

    assert bilm.fingerprint() == fixture_bilm().fingerprint()
    assert loaded.fingerprint() == read.fingerprint() == bilm.fingerprint()
    assert change(bilm).fingerprint() != loaded.fingerprint()


@pytest.mark.parametrize("strict", [True, False])
def test_a_state_dict_with_the_fingerprint_of_other_weights_is_refused(strict: bool) -> None:
    bilm, other = fixture_bilm(), change(fixture_bilm())
    state = bilm.leave_out_weights(bilm.state_dict(), "")

    with pytest.raises(RuntimeError, match="The file .* other weights"):
        other.load_state_dict(state, strict=strict)


@pytest.mark.parametrize("cached_tokens", [None, 0])
def test_the_vector_of_a_token_is_computed_once_if_a_cache_is_wanted(
    cached_tokens: int | None,
) -> None:
    settings: dict[str, Any] = {} if cached_tokens is None else {"cached_tokens": cached_tokens}
    bilm = fixture_bilm(**settings)
    computed: list[int] = []
    bilm.char_cnn.register_forward_pre_hook(lambda _, inputs: computed.append(len(inputs[0])))

    for _ in range(2):
        bilm(ids_of([["a", "b", "a"]]))

    # The distinct tokens are the two words and both boundaries, which the snapshot has read too.
    assert sum(computed) == (2 if cached_tokens is None else 8)
