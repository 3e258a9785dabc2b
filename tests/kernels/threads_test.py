import threading
from collections.abc import Iterator
from unittest import mock

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elmo_tasks.bilm import bilm, make_bilm
from elmo_tasks.kernels import threads
from elmo_tasks.kernels.threads import for_each, operator_threads
from tests.helpers.bilm_examples import SENTENCE, ids_of
from tests.helpers.processes import run
from tests.helpers.reference_bilm import make_options
from tests.helpers.stored_bilms import fixture_bilm

IDS = ids_of([SENTENCE, SENTENCE[:3], SENTENCE[1:]])


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    # A test of a command may have chosen in this process.
    monkeypatch.setattr("elmo_tasks.common.threads._divides", None)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture()
def used(monkeypatch: pytest.MonkeyPatch) -> set[tuple[int, int]]:
    """Collects, while a biLM runs, each thread with the threads that its operators may use."""
    seen = set()
    read = bilm.LstmStack.forward

    def watched(*arguments):
        seen.add((threading.get_ident(), torch.get_num_threads()))
        return read(*arguments)

    monkeypatch.setattr(bilm.LstmStack, "forward", watched)
    return seen


def test_the_directions_run_on_two_threads_whose_operators_use_one_each(
    used: set[tuple[int, int]],
) -> None:
    model = fixture_bilm()
    # Its snapshot was computed on other threads.
    used.clear()

    model(IDS)

    assert len(used) == 2 and {num_threads for _, num_threads in used} == {1}
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize("cached_tokens", [0, 1000])
def test_layers_do_not_depend_on_the_number_of_threads(cached_tokens: int) -> None:
    model = fixture_bilm(cached_tokens=cached_tokens)
    divided = model(IDS).layers
    torch.set_num_threads(1)

    torch.testing.assert_close(divided, fixture_bilm()(IDS).layers, atol=1e-5, rtol=0)


def test_products_of_many_rows_have_half_of_the_threads_each(
    used: set[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "_SHARED_PRODUCT", 1)
    torch.set_num_threads(4)

    fixture_bilm()(IDS)

    assert {num_threads for _, num_threads in used} == {2}


@pytest.mark.parametrize("why", ["one thread", "gradients", "dropout", "autocast"])
def test_work_is_not_divided_where_threads_would_change_it(
    why: str, used: set[tuple[int, int]]
) -> None:
    draws = why == "dropout"
    model = make_bilm(
        make_options(),
        requires_grad=why in ("gradients", "dropout"),
        dropout=0.1 if draws else 0,
        state="reset",
    )
    if why == "one thread":
        torch.set_num_threads(1)

    with torch.set_grad_enabled(not draws), torch.autocast("cpu", enabled=why == "autocast"):
        model.train()(IDS)

    assert used == {(threading.get_ident(), torch.get_num_threads())}


@given(
    words=st.lists(st.sampled_from("abcdefgh"), min_size=1), num_threads=st.sampled_from([2, 4, 8])
)
@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_each_token_and_each_direction_is_computed_once(words: list[str], num_threads: int) -> None:
    torch.set_num_threads(num_threads)
    model = make_bilm(make_options(), state="reset", cached_tokens=0)
    model.is_random = False
    embed, read = bilm.CharCnn.forward, bilm.LstmStack.forward
    tokens: list[tuple[int, ...]] = []
    stacks: list[torch.nn.Module] = []

    def embeds(cnn, char_ids):
        tokens.extend(map(tuple, char_ids.tolist()))
        return embed(cnn, char_ids)

    def reads(stack, *arguments):
        stacks.append(stack)
        return read(stack, *arguments)

    with (
        mock.patch.object(bilm.CharCnn, "forward", embeds),
        mock.patch.object(bilm.LstmStack, "forward", reads),
    ):
        model(ids_of([words, words[:1]]))

    assert len(tokens) == len(set(tokens))
    # The two boundaries are tokens, too, and the padding is one without characters.
    assert len([token for token in tokens if any(token)]) == len(set(words)) + 2
    assert len(stacks) == 2 and set(stacks) == {model.forward_stack, model.backward_stack}


@pytest.mark.parametrize("cached_tokens", [0, 1000])
@pytest.mark.parametrize("first", [True, False])
def test_a_bilm_may_change_between_inference_mode_and_others(
    first: bool, cached_tokens: int
) -> None:
    expected = fixture_bilm()(IDS).layers
    with torch.inference_mode(first):
        model = fixture_bilm(cached_tokens=cached_tokens)

    for inference in (first, not first, first):
        with torch.inference_mode(inference):
            # At first the cache does not have all tokens.
            model(IDS[:1])
            layers = model(IDS).layers
            assert torch.equal(layers, expected) and layers.is_inference() == inference


def test_a_fork_of_a_process_that_divided_its_work_divides_its_own() -> None:
    model = fixture_bilm()
    expected = model(IDS).layers

    def work() -> None:
        assert torch.equal(model(IDS).layers, expected)

    assert run(work) == 0


def test_results_keep_their_order_and_an_error_of_any_thread_is_raised() -> None:
    assert for_each(lambda item: 2 * item, [3, 4, 5], True) == [6, 8, 10]
    assert for_each(lambda item: 2 * item, [], True) == []

    for divisors in ([0, 1], [1, 0]):
        with pytest.raises(ZeroDivisionError):
            for_each(lambda item: 1 / item, divisors, True)


def test_operators_get_their_threads_back_after_an_error() -> None:
    with pytest.raises(ValueError), operator_threads(1):
        assert torch.get_num_threads() == 1
        raise ValueError

    assert torch.get_num_threads() == 2
