import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.characters import NUM_CHARACTERS, PAD_CHARACTER
from elmo_tasks.kernels.lookup_convolution import convolution_table, looks_up, lookup_convolution
from tests.helpers.bilm_examples import SENTENCE, ids_of
from tests.helpers.reference_bilm import FIXTURE_FILES

pytestmark = pytest.mark.skipif(
    not looks_up(torch.zeros(0)), reason="there are no compiled functions here"
)

NUM_SLOTS = 12


def draw_ids(lengths: list[int]) -> torch.Tensor:
    """Returns tokens of random characters, of these lengths, and padding after them."""
    ids = torch.full((len(lengths), NUM_SLOTS), PAD_CHARACTER)
    for row, length in zip(ids, lengths):
        row[:length] = torch.randint(PAD_CHARACTER, (length,))
    return ids


def windows_of_all_characters(
    ids: torch.Tensor, embedding: torch.Tensor, convolution: torch.nn.Conv1d
) -> torch.Tensor:
    return convolution(embedding[ids].transpose(1, 2)).amax(dim=2)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.lists(st.integers(0, NUM_SLOTS), max_size=5),
    st.integers(1, 7),
    st.sampled_from([1, 5, 31, 32, 33, 70]),
    st.integers(0, 1000),
)
def test_it_and_its_gradient_equal_those_of_a_convolution_over_all_characters(
    lengths: list[int], width: int, num_filters: int, seed: int
) -> None:
    torch.manual_seed(seed)
    ids, embedding = draw_ids(lengths), torch.randn(NUM_CHARACTERS, 4, requires_grad=True)
    convolution = torch.nn.Conv1d(4, num_filters, width)
    tensors = [embedding, convolution.weight]

    table = convolution_table(embedding, convolution.weight)
    found = lookup_convolution(ids, table, num_filters) + convolution.bias

    expected = windows_of_all_characters(ids, embedding, convolution)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    weights = torch.randn_like(expected)
    gradients, expected_gradients = (
        torch.autograd.grad((each * weights).sum(), tensors) for each in (found, expected)
    )
    torch.testing.assert_close(gradients, expected_gradients, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("wrong", [-1, NUM_CHARACTERS])
def test_an_id_that_is_no_character_is_refused(wrong: int) -> None:
    ids = ids_of([SENTENCE])
    ids[0, 0, 3] = wrong

    with pytest.raises(IndexError, match="must be from 0 to 261, but are from"):
        make_bilm(*FIXTURE_FILES).char_cnn(ids[0])
