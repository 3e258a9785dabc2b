import math

import pytest
import torch
from torch.nn.functional import embedding

from elmo_tasks.bilm.char_cnn import CharCnn
from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.kernels.lookup_convolution import looks_up
from tests.helpers.reference_bilm import char_ids, make_options


def test_new_weights_are_drawn_as_bilm_tf_draws_them() -> None:
    torch.manual_seed(0)
    options = make_options(filters=[[1, 32], [3, 96]], embedding={"dim": 16}, projection_dim=64)
    cnn = CharCnn(BiLmOptions.from_dict(options))

    assert not cnn.embedding[0].any()
    assert 0.99 < cnn.embedding.abs().max() <= 1
    assert math.isclose(cnn.embedding[1:].std().item(), 1 / math.sqrt(3), rel_tol=0.05)
    for convolution in cnn.convolutions:
        assert 0.045 < convolution.weight.abs().max() <= 0.05
        assert not convolution.bias.any()
    for highway in cnn.highways._layers:
        assert math.isclose(highway.weight.std().item(), 1 / math.sqrt(128), rel_tol=0.05)
        transform, carry = highway.bias.chunk(2)
        # bilm-tf gates the transform, with a bias of -2; AllenNLP gates the input.
        assert not transform.any() and carry.eq(2).all()
    assert math.isclose(cnn.projection.weight.std().item(), 1 / math.sqrt(128), rel_tol=0.05)
    assert not cnn.projection.bias.any()


def test_a_token_alone_has_the_vector_that_it_has_beside_others_to_the_bit() -> None:
    torch.manual_seed(0)
    # Products as large as those of the released biLMs are rounded by the number of their rows.
    options = make_options(filters=[[1, 1024], [3, 1024]], embedding={"dim": 16})
    cnn = CharCnn(BiLmOptions.from_dict(options))
    cnn.freeze()
    ids = torch.tensor([char_ids(token, 50) for token in ("a", "film", "of", "many", "words")]) + 1

    beside = cnn(ids)

    for row, token in enumerate(ids):
        assert torch.equal(cnn(token[None])[0], beside[row])


@pytest.mark.parametrize("length", range(1, 12))
def test_windows_after_the_longest_token_count_once(length: int) -> None:
    torch.manual_seed(0)
    cnn = CharCnn(BiLmOptions.from_dict(make_options(filters=[[3, 8], [5, 8], [7, 8]])))
    ids = torch.tensor([char_ids("x" * length, 50)]) + 1
    characters = embedding(ids, cnn.embedding).transpose(1, 2)

    found = cnn._filters(ids)

    expected = torch.cat([each(characters).amax(dim=2) for each in cnn.convolutions], dim=1)
    torch.testing.assert_close(found, expected)


@pytest.mark.skipif(not looks_up(torch.zeros(1)), reason="no compiled functions")
def test_under_autocast_convolutions_and_their_gradients_are_those_of_float32() -> None:
    torch.manual_seed(0)
    cnn = CharCnn(BiLmOptions.from_dict(make_options(filters=[[1, 5], [3, 40]])))
    ids = torch.tensor([char_ids(word, 50) for word in ("a", "film", "x" * 60)]) + 1
    results = []

    for enabled in (False, True):
        cnn.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            maxima = cnn._lookup_maxima(ids)
        maxima.sin().sum().backward()
        results.append([maxima, cnn.embedding.grad, *(c.weight.grad for c in cnn.convolutions)])

    for expected, found in zip(*results, strict=True):
        torch.testing.assert_close(found, expected)
