import copy
import functools
import io
import json
import logging
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.bilm import BiLm
from elmo_tasks.bilm.state import CarryState, SnapshotState
from scripts.make_fixture_bilm import make_bilm
from tests.bilm.reference import (
    FIXTURE_FILES,
    ReferenceBiLm,
    make_options,
    random_files,
    read_datasets,
    upstream_layers,
    upstream_tensors,
)

# Each differs from the others in filters, activation, highway layers, LSTM layers and bounds.
SHAPES: dict[str, dict[str, Any]] = {
    "two_of_each": {},
    "bounds_that_bite": {
        "filters": [[1, 3], [4, 5], [7, 2]],
        "activation": "tanh",
        "n_highway": 1,
        "n_layers": 1,
        "cell_clip": 0.3,
        "proj_clip": 0.2,
    },
    "three_layers_no_highway_no_bounds": {
        "filters": [[2, 6], [50, 4]],
        "n_highway": 0,
        "n_layers": 3,
        "cell_clip": None,
        "proj_clip": None,
    },
    "as_wide_as_its_filters": {
        "filters": [[3, 8]],
        "activation": "tanh",
        "n_highway": 0,
        "projection_dim": 8,
        "dim": 5,
        "proj_clip": 0.4,
    },
}
IN_EVERY_SHAPE = pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))

SENTENCE = ["It", "'s", "a", "naïve", "film", ",", "with", "<b>", "of", "100", "%", "charm", "."]
WORDS = [
    *("x" * number for number in range(1, 61)),
    *("\u00e9" * number for number in (23, 24, 25, 30)),
    "x" + "\u00e9" * 24,
    "\U0001f600",
    "\u6f22\u5b57",
    "\u00a0",
    "",
    "<S>",
    "</S>",
    "\x00",
    "y" * 300,
]


def sentences(*lengths: int) -> list[list[str]]:
    """Sentences of these lengths, which differ."""
    return [
        [WORDS[(7 * row + 3 * place) % len(WORDS)] for place in range(length)]
        for row, length in enumerate(lengths)
    ]


def ids_of(batch: list[list[str]], more_padding: int = 0) -> torch.Tensor:
    ids = batch_to_ids(batch)
    ids = ids.reshape(len(batch), -1, 50)
    return torch.nn.functional.pad(ids, (0, 0, 0, more_padding))


def assert_equals_upstream(bilm: BiLm, upstream: _ElmoBiLm, ids: torch.Tensor) -> torch.Tensor:
    layers, mask = bilm(ids)
    expected_layers, expected_mask = upstream_layers(upstream, ids)

    torch.testing.assert_close(layers, expected_layers, atol=1e-5, rtol=0)
    assert torch.equal(mask, expected_mask)
    return layers


@IN_EVERY_SHAPE
def test_layers_equal_allennlps_while_carried_over_batches_that_grow_and_shrink(
    tmp_path: Path, shape: dict
) -> None:
    files = random_files(tmp_path, **shape)
    bilm, upstream = BiLm.from_files(*files, state="carry"), _ElmoBiLm(*files)

    for lengths in [(3, 5), (2, 0, 9, 1), (4,), (0, 0, 3), (1, 2, 3, 4, 5, 6), (7, 0), (8, 1, 2)]:
        assert_equals_upstream(bilm, upstream, ids_of(sentences(*lengths)))


def test_bounds_that_bite_are_reached_and_kept(tmp_path: Path) -> None:
    shape = SHAPES["bounds_that_bite"]
    free = BiLm.from_files(*random_files(tmp_path / "free", **{**shape, "proj_clip": None}))
    bounded = BiLm.from_files(*random_files(tmp_path / "bounded", **shape))
    ids = ids_of([SENTENCE])

    assert free(ids).layers[:, 1].abs().max() > 0.2
    assert bounded(ids).layers[:, 1].abs().max().item() == pytest.approx(0.2)


@IN_EVERY_SHAPE
def test_layers_of_every_kind_of_word_equal_allennlps(tmp_path: Path, shape: dict) -> None:
    files = random_files(tmp_path, **shape)
    bilm, upstream = BiLm.from_files(*files, state="reset"), _ElmoBiLm(*files)

    assert_equals_upstream(bilm, upstream, ids_of([WORDS, WORDS[::-1], [""]]))


@IN_EVERY_SHAPE
@pytest.mark.parametrize("state", ["reset", "snapshot"])
def test_layers_equal_a_plain_numpy_bilm(tmp_path: Path, shape: dict, state: str) -> None:
    files = random_files(tmp_path, **shape)
    bilm, reference = BiLm.from_files(*files, state=state), ReferenceBiLm(*files)
    batch = [SENTENCE, WORDS[44:54], [""], ["\u00e9" * 24, "y" * 300]]

    layers = bilm(ids_of(batch)).layers

    start = reference.snapshot() if state == "snapshot" else reference.zeros()
    for row, sentence in enumerate(batch):
        expected, _ = reference.layers(sentence, start)
        numpy.testing.assert_allclose(layers[row, :, : len(sentence)], expected, atol=1e-5)


def test_layers_without_skip_connections_equal_a_plain_numpy_bilm(tmp_path: Path) -> None:
    files = random_files(tmp_path, n_layers=3, use_skip_connections=False)

    layers = BiLm.from_files(*files, state="reset")(ids_of([SENTENCE])).layers

    expected, _ = ReferenceBiLm(*files).layers(SENTENCE)
    numpy.testing.assert_allclose(layers[0], expected, atol=1e-5)


def test_layers_carried_over_sentences_equal_a_plain_numpy_bilm(tmp_path: Path) -> None:
    files = random_files(tmp_path)
    bilm, reference = BiLm.from_files(*files, state="carry"), ReferenceBiLm(*files)
    state = reference.zeros()

    for sentence in sentences(3, 1, 8):
        layers = bilm(ids_of([sentence])).layers
        expected, state = reference.layers(sentence, state)
        numpy.testing.assert_allclose(layers[0], expected, atol=1e-5)


def test_a_sentence_of_1000_tokens_gives_allennlps_layers() -> None:
    bilm, upstream = BiLm.from_files(*FIXTURE_FILES, state="reset"), _ElmoBiLm(*FIXTURE_FILES)

    layers = assert_equals_upstream(bilm, upstream, ids_of(sentences(1000, 3)))

    assert layers.shape == (2, 3, 1000, 32)


def test_words_that_differ_after_48_bytes_are_one_word(tmp_path: Path) -> None:
    bilm = BiLm.from_files(*FIXTURE_FILES, state="reset")
    batch = [["x" * 48], ["x" * 49], ["x" * 300], ["x" * 47]]

    layers = bilm(ids_of(batch)).layers

    assert torch.equal(layers[0], layers[1]) and torch.equal(layers[0], layers[2])
    assert not torch.allclose(layers[0], layers[3], atol=1e-3)


@pytest.mark.parametrize("state", ["reset", "snapshot", "carry"])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (2, 0), (0, 3)])
def test_a_batch_of_padding_alone_gives_zeros(state: str, shape: tuple[int, int]) -> None:
    bilm = BiLm.from_files(*FIXTURE_FILES, state=state)

    layers, mask = bilm(torch.zeros(*shape, 50, dtype=torch.long))

    assert layers.shape == (shape[0], 3, shape[1], 32)
    assert not layers.any() and mask.shape == shape and not mask.any()


# Properties, of random batches.

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(WORDS)
batches = st.lists(st.lists(words, max_size=6), min_size=1, max_size=5)
STARTED_ANEW = pytest.mark.parametrize("state", ["reset", "snapshot"])


@functools.cache
def fixture_bilm(state: str) -> BiLm:
    return BiLm.from_files(*FIXTURE_FILES, state=state)


@STARTED_ANEW
@given(batch=batches)
def test_a_sentence_has_the_same_layers_alone(state: str, batch: list[list[str]]) -> None:
    layers = fixture_bilm(state)(ids_of(batch)).layers

    for row, sentence in zip(layers, batch, strict=True):
        alone = fixture_bilm(state)(ids_of([sentence])).layers[0]
        torch.testing.assert_close(row[:, : len(sentence)], alone, atol=1e-5, rtol=0)


@STARTED_ANEW
@given(batch=batches, data=st.data())
def test_a_sentence_has_the_same_layers_in_any_order(
    state: str, batch: list[list[str]], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(range(len(batch))))
    ids = ids_of(batch)

    layers, mask = fixture_bilm(state)(ids)
    permuted_layers, permuted_mask = fixture_bilm(state)(ids[order])

    torch.testing.assert_close(permuted_layers, layers[order], atol=1e-5, rtol=0)
    assert torch.equal(permuted_mask, mask[order])


@STARTED_ANEW
@given(batch=batches, more_padding=st.integers(1, 4))
def test_a_sentence_has_the_same_layers_with_more_padding(
    state: str, batch: list[list[str]], more_padding: int
) -> None:
    layers, mask = fixture_bilm(state)(ids_of(batch))
    padded_layers, padded_mask = fixture_bilm(state)(ids_of(batch, more_padding))

    length = mask.size(1)
    torch.testing.assert_close(padded_layers[:, :, :length], layers, atol=1e-5, rtol=0)
    assert not padded_layers[:, :, length:].any() and not padded_mask[:, length:].any()


@given(batch=batches)
def test_the_mask_is_true_at_tokens_and_layers_are_zero_elsewhere(batch: list[list[str]]) -> None:
    layers, mask = fixture_bilm("snapshot")(ids_of(batch))

    for row, sentence in enumerate(batch):
        assert mask[row].tolist() == [place < len(sentence) for place in range(mask.size(1))]
    assert not layers.transpose(1, 2)[~mask].any()
    assert layers.transpose(1, 2)[mask].any(dim=-1).all()


@given(batch=batches)
def test_layer_0_is_the_same_twice_and_depends_on_its_token_alone(batch: list[list[str]]) -> None:
    layers, _ = fixture_bilm("snapshot")(ids_of(batch))

    assert torch.equal(layers[:, 0, :, :16], layers[:, 0, :, 16:])
    for row, sentence in enumerate(batch):
        for place, word in enumerate(sentence):
            alone = fixture_bilm("reset")(ids_of([[word]])).layers[0, 0, 0]
            torch.testing.assert_close(layers[row, 0, place], alone, atol=1e-5, rtol=0)


@STARTED_ANEW
def test_a_sentence_has_the_same_layers_after_other_batches(state: str) -> None:
    bilm = BiLm.from_files(*FIXTURE_FILES, state=state)
    before = bilm(ids_of([SENTENCE])).layers

    bilm(ids_of(sentences(4, 0, 9)))

    assert torch.equal(bilm(ids_of([SENTENCE])).layers, before)


def test_a_sentence_has_other_layers_after_other_batches_when_carried() -> None:
    bilm = BiLm.from_files(*FIXTURE_FILES, state="carry")
    before = bilm(ids_of([SENTENCE])).layers

    bilm(ids_of(sentences(4, 0, 9)))
    after = bilm(ids_of([SENTENCE])).layers

    assert torch.equal(after[:, 0], before[:, 0])
    assert not torch.allclose(after[:, 1:], before[:, 1:], atol=1e-3)


# What it starts from, and what it saves.


def test_the_state_is_by_default_that_of_the_options_and_otherwise_a_snapshot(
    tmp_path: Path,
) -> None:
    files = random_files(tmp_path)
    assert BiLm.from_files(*files).state_name == "snapshot"
    assert BiLm.from_files(*files, requires_grad=True).state_name == "reset"

    for state in ("reset", "snapshot", "carry"):
        files[0].write_text(json.dumps({**make_options(), "state": state}))
        assert BiLm.from_files(*files).state_name == state
        assert BiLm.from_files(*files, state="reset").state_name == "reset"


def test_allennlp_ignores_the_state_that_our_options_say(tmp_path: Path) -> None:
    bilm = make_bilm()
    bilm.to_files(tmp_path)
    files = tmp_path / "options.json", tmp_path / "weights.hdf5"
    assert json.loads(files[0].read_text())["state"] == "snapshot"

    bilm = BiLm.from_files(*files, state="carry")

    upstream = _ElmoBiLm(*files)
    for lengths in [(3,), (5, 2)]:
        assert_equals_upstream(bilm, upstream, ids_of(sentences(*lengths)))


def test_a_new_snapshot_is_that_of_the_present_weights(tmp_path: Path) -> None:
    bilm = BiLm.from_files(*random_files(tmp_path))
    files = random_files(tmp_path / "other", seed=1)
    weights = BiLm.from_files(*files, state="reset").state_dict()
    bilm.load_state_dict(weights, strict=False)

    bilm.take_snapshot()

    reference = ReferenceBiLm(*files)
    expected, _ = reference.layers(SENTENCE, reference.snapshot())
    numpy.testing.assert_allclose(bilm(ids_of([SENTENCE])).layers[0], expected, atol=1e-5)


def test_a_snapshot_is_not_changed_by_the_sentences_that_start_from_it() -> None:
    bilm = BiLm.from_files(*FIXTURE_FILES)
    assert isinstance(bilm.state, SnapshotState)
    h, c = bilm.state.h.clone(), bilm.state.c.clone()

    bilm(ids_of(sentences(4, 9)))

    assert torch.equal(bilm.state.h, h) and torch.equal(bilm.state.c, c)


@STARTED_ANEW
def test_layers_are_the_same_after_save_and_load(state: str) -> None:
    bilm = BiLm.from_files(*FIXTURE_FILES, state=state)
    buffer = io.BytesIO()
    torch.save(bilm.state_dict(), buffer)
    buffer.seek(0)

    loaded = BiLm(json.loads(FIXTURE_FILES[0].read_text()), state=state)
    loaded.load_state_dict(torch.load(buffer, weights_only=True))

    ids = ids_of([SENTENCE, *sentences(4, 0)])
    assert torch.equal(loaded(ids).layers, bilm(ids).layers)


def test_a_copy_carries_a_state_of_its_own() -> None:
    bilm = BiLm.from_files(*FIXTURE_FILES, state="carry")
    copied = copy.deepcopy(bilm)
    first = bilm(ids_of([SENTENCE])).layers

    bilm(ids_of([SENTENCE]))

    assert torch.equal(copied(ids_of([SENTENCE])).layers, first)


def test_a_carried_state_is_forgotten_on_reset() -> None:
    bilm = BiLm.from_files(*FIXTURE_FILES, state="carry")
    first = bilm(ids_of([SENTENCE])).layers

    assert isinstance(bilm.state, CarryState)
    bilm.state.reset()

    assert torch.equal(bilm(ids_of([SENTENCE])).layers, first)


# Training it.


def test_every_parameter_has_allennlps_gradient(tmp_path: Path) -> None:
    for number, shape in enumerate(SHAPES.values()):
        files = random_files(tmp_path / str(number), **shape)
        bilm = BiLm.from_files(*files, state="carry", requires_grad=True)
        upstream = _ElmoBiLm(*files, requires_grad=True)
        for lengths in [(9, 4, 0, 12), (3, 8)]:
            ids = ids_of(sentences(*lengths))
            layers, expected = bilm(ids).layers, upstream_layers(upstream, ids)[0]
            weights = torch.randn_like(expected)
            (layers * weights).sum().backward()
            (expected * weights).sum().backward()

        gradients = {name: parameter.grad for name, parameter in bilm.named_parameters()}
        expected_gradients = upstream_tensors(upstream, lambda parameter: parameter.grad)
        assert gradients.keys() == expected_gradients.keys()
        for name, gradient in gradients.items():
            assert gradient is not None and gradient.any(), name
            torch.testing.assert_close(gradient, expected_gradients[name], atol=1e-4, rtol=1e-4)


def test_a_frozen_bilm_has_no_gradient() -> None:
    bilm = BiLm.from_files(*FIXTURE_FILES)

    assert not any(parameter.requires_grad for parameter in bilm.parameters())
    assert not bilm(ids_of([SENTENCE])).layers.requires_grad


def test_a_bilm_that_trains_keeps_no_graph_without_gradients() -> None:
    bilm = BiLm.from_files(*FIXTURE_FILES, state="reset", requires_grad=True)

    assert bilm(ids_of([SENTENCE])).layers.requires_grad
    with torch.no_grad():
        assert not bilm(ids_of([SENTENCE])).layers.requires_grad


def test_the_gradient_ends_where_a_carried_state_begins() -> None:
    bilm = BiLm.from_files(*FIXTURE_FILES, state="carry", requires_grad=True)
    bilm(ids_of([SENTENCE])).layers.sum().backward()

    # The graph of the call before is freed, so that going back into it would be an error.
    bilm(ids_of([SENTENCE])).layers.sum().backward()


def test_dropout_is_on_while_training_only() -> None:
    options = json.loads(FIXTURE_FILES[0].read_text())
    bilm = BiLm(options, str(FIXTURE_FILES[1]), "reset", requires_grad=True, dropout=0.5)
    ids = ids_of([SENTENCE])

    trained = bilm.train()(ids).layers
    evaluated = bilm.eval()(ids).layers

    expected = BiLm.from_files(*FIXTURE_FILES, state="reset")(ids).layers
    assert torch.equal(evaluated, expected)
    assert torch.equal(trained[:, 0], expected[:, 0])
    assert not torch.allclose(trained[:, 1:], expected[:, 1:], atol=1e-3)


# Number formats.


def test_layers_in_float64_equal_those_in_float32() -> None:
    bilm = BiLm.from_files(*FIXTURE_FILES)
    layers = bilm(ids_of([SENTENCE])).layers

    wide = bilm.double()(ids_of([SENTENCE])).layers

    assert wide.dtype == torch.float64
    torch.testing.assert_close(layers.double(), wide, atol=1e-5, rtol=0)


@pytest.mark.parametrize("state", ["reset", "snapshot", "carry"])
def test_layers_under_autocast_are_float32_and_close(state: str) -> None:
    bilm = BiLm.from_files(*FIXTURE_FILES, state=state)
    expected = BiLm.from_files(*FIXTURE_FILES, state=state)
    ids = ids_of([SENTENCE, *sentences(3)])

    for _ in range(2):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            layers = bilm(ids).layers
        assert layers.dtype == torch.float32
        torch.testing.assert_close(layers, expected(ids).layers, atol=0.1, rtol=0)


def test_a_bilm_trains_under_autocast() -> None:
    bilm = BiLm.from_files(*FIXTURE_FILES, state="reset", requires_grad=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        layers = bilm(ids_of([SENTENCE])).layers
    layers.square().sum().backward()

    exact = BiLm.from_files(*FIXTURE_FILES, state="reset", requires_grad=True)
    exact(ids_of([SENTENCE])).layers.square().sum().backward()
    for ours, expected in zip(bilm.parameters(), exact.parameters(), strict=True):
        assert ours.grad is not None and expected.grad is not None
        assert ours.grad.dtype == torch.float32
        assert torch.cosine_similarity(ours.grad.flatten(), expected.grad.flatten(), dim=0) > 0.98


# Construction and errors.


def test_a_config_builds_the_bilm_of_the_files() -> None:
    params = Params(
        {
            "options": json.loads(FIXTURE_FILES[0].read_text()),
            "pretrained_file": str(FIXTURE_FILES[1]),
        }
    )

    bilm = BiLm.from_params(params)

    ids = ids_of([SENTENCE])
    assert torch.equal(bilm(ids).layers, BiLm.from_files(*FIXTURE_FILES)(ids).layers)
    assert bilm.num_layers == 3 and bilm.get_output_dim() == 32


def test_a_bilm_keeps_options_of_its_own(tmp_path: Path) -> None:
    options = make_options()

    bilm = BiLm(options)
    assert options == make_options()
    options["lstm"]["n_layers"] = 7
    bilm.to_files(tmp_path)

    assert json.loads((tmp_path / "options.json").read_text())["lstm"]["n_layers"] == 2


def test_a_bilm_without_weights_warns_once(caplog: pytest.LogCaptureFixture) -> None:
    bilm = BiLm(make_options())
    with caplog.at_level(logging.WARNING):
        bilm(ids_of([SENTENCE]))
        bilm(ids_of([SENTENCE]))

    warnings = [record.message for record in caplog.records if "random weights" in record.message]
    assert len(warnings) == 1


def test_a_bilm_with_weights_does_not_warn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    files = random_files(tmp_path)
    loaded = torch.nn.Sequential(BiLm(make_options()))
    loaded.load_state_dict(torch.nn.Sequential(BiLm.from_files(*files)).state_dict())
    bilms = [BiLm.from_files(*files), BiLm(make_options(), requires_grad=True), loaded]

    with caplog.at_level(logging.WARNING):
        for bilm in bilms:
            bilm(ids_of([SENTENCE]))

    assert not caplog.records


@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 49), (2, 4, 3, 50)])
def test_char_ids_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    bilm = BiLm.from_files(*FIXTURE_FILES)

    with pytest.raises(ConfigurationError, match=r"\(batch, length, 50\), but have .*elmo_char"):
        bilm(torch.ones(shape, dtype=torch.long))


def test_a_snapshot_of_a_bilm_that_trains_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="state must be reset or carry"):
        BiLm.from_files(*FIXTURE_FILES, state="snapshot", requires_grad=True)


def test_an_unknown_state_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="one of reset, snapshot, carry, not 'warm'"):
        BiLm.from_files(*FIXTURE_FILES, state="warm")


def test_options_that_are_missing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no file of options .*nowhere.json"):
        BiLm.from_files(tmp_path / "nowhere.json", FIXTURE_FILES[1])


@pytest.mark.parametrize("content", [b"{", b"", b"\xff", b"[1, 2]", b"3"])
def test_options_that_are_not_a_json_object_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "options.json"
    path.write_bytes(content)

    with pytest.raises(ConfigurationError, match="options.json is not (JSON|a JSON object)"):
        BiLm.from_files(path, FIXTURE_FILES[1])


def test_tokens_of_fewer_characters_are_read_too(tmp_path: Path) -> None:
    files = random_files(tmp_path, max_characters_per_token=20)
    bilm = BiLm.from_files(*files)
    ids = ids_of([SENTENCE])[:, :, :20]

    reference = ReferenceBiLm(*files)
    expected, _ = reference.layers(SENTENCE, reference.snapshot())
    numpy.testing.assert_allclose(bilm(ids).layers[0], expected, atol=1e-5)


def test_the_fixture_is_what_its_script_makes(tmp_path: Path) -> None:
    make_bilm().to_files(tmp_path)

    assert (tmp_path / "options.json").read_bytes() == FIXTURE_FILES[0].read_bytes()
    made, kept = read_datasets(tmp_path / "weights.hdf5"), read_datasets(FIXTURE_FILES[1])
    assert made.keys() == kept.keys()
    for name, values in made.items():
        numpy.testing.assert_array_equal(values, kept[name], err_msg=name)
