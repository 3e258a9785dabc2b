"""The right-hand sides of the tables "From other code" in docs/vectors.md and docs/pytorch.md."""

import torch

from elmo_tasks import ElmoEncoder
from elmo_tasks.bilm import make_bilm
from elmo_tasks.bilm.characters import batch_char_ids
from elmo_tasks.elmo import Elmo
from elmo_tasks.elmo.mix import ElmoMix
from tests.helpers.reference_bilm import FIXTURE_FILES

SENTENCES = [["The", "boat", "left"], ["Banks", "lend"]]
PADDED = [["The", "boat", "left"], ["Banks", "lend", ""]]


def test_the_encoder_gives_layers_of_sentences_and_takes_padded_tokens() -> None:
    encoder = ElmoEncoder.from_pretrained(FIXTURE_FILES)

    # Layers, tokens, 2 * projection_dim.
    shapes = [layers.shape for layers in encoder.layers(SENTENCES)]
    outputs = encoder(PADDED)

    assert shapes == [(3, 3, 32), (3, 2, 32)]
    assert outputs["mask"].tolist() == [[True, True, True], [True, True, False]]
    assert outputs["default"].shape == (2, 32)


def test_elmo_takes_char_ids_sentences_and_lengths() -> None:
    elmo = Elmo.from_pretrained(FIXTURE_FILES, num_mixes=2, dropout=0.0)

    first, _, _ = elmo(batch_char_ids(SENTENCES))

    assert torch.equal(first, elmo(SENTENCES)[0])
    assert torch.equal(first, elmo(PADDED, [3, 2])[0])


def test_fixed_scalar_parameters_choose_a_layer() -> None:
    top = Elmo.from_pretrained(FIXTURE_FILES, trainable=False, dropout=0.0)
    with torch.no_grad():
        top.mixes[0].scalar_parameters.copy_(torch.tensor([0.0, 0.0, 100.0]))

    last = Elmo.from_pretrained(FIXTURE_FILES, layers="last", dropout=0.0)

    torch.testing.assert_close(top(SENTENCES)[0], last(SENTENCES)[0])


def test_a_bilm_and_a_mix_of_their_own_have_a_penalty() -> None:
    bilm = make_bilm(*FIXTURE_FILES)
    layers, mask = bilm(batch_char_ids(SENTENCES))
    mix = ElmoMix(bilm.num_layers)

    penalty = 0.001 * mix.scalar_parameters.square().sum()

    assert mix(layers, mask).shape == (2, 3, 32) and penalty.requires_grad
