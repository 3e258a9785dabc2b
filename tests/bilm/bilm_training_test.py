"""Tests gradients, dropout and dtypes of a biLM."""

import json
from pathlib import Path

import pytest
import torch
from allennlp.modules.elmo import _ElmoBiLm

from elmo_tasks.bilm import make_bilm
from tests.helpers.bilm_examples import SENTENCE, SHAPES, ids_of, sentences
from tests.helpers.reference_bilm import (
    FIXTURE_FILES,
    random_files,
    upstream_layers,
    upstream_tensors,
)


def test_every_parameter_has_allennlps_gradient(tmp_path: Path) -> None:
    for name, shape in SHAPES.items():
        files = random_files(tmp_path / name, **shape)
        bilm = make_bilm(*files, state="carry", requires_grad=True)
        theirs = _ElmoBiLm(*files, requires_grad=True)
        for lengths in [(9, 4, 0, 12), (3, 8)]:
            ids = ids_of(sentences(*lengths))
            layers, expected = bilm(ids).layers, upstream_layers(theirs, ids)[0]
            weights = torch.randn_like(expected)
            (layers * weights).sum().backward()
            (expected * weights).sum().backward()

        gradients = {name: parameter.grad for name, parameter in bilm.named_parameters()}
        expected_gradients = upstream_tensors(theirs, lambda parameter: parameter.grad)
        assert gradients.keys() == expected_gradients.keys()
        for name, gradient in gradients.items():
            assert gradient is not None and gradient.any(), name
            torch.testing.assert_close(gradient, expected_gradients[name], atol=1e-4, rtol=1e-4)


def test_no_gradient_flows_into_the_call_that_a_carried_state_comes_from() -> None:
    bilm = make_bilm(*FIXTURE_FILES, state="carry", requires_grad=True)
    bilm(ids_of([SENTENCE])).layers.sum().backward()

    # The graph of the call before is freed, so a gradient that flowed into it would raise an error.
    bilm(ids_of([SENTENCE])).layers.sum().backward()


def test_a_bilm_after_a_step_has_the_layers_of_its_new_weights() -> None:
    bilm = make_bilm(*FIXTURE_FILES, state="reset", requires_grad=True)
    ids, optimizer = ids_of([SENTENCE]), torch.optim.SGD(bilm.parameters(), lr=0.01)
    before = bilm(ids).layers

    before.sum().backward()
    optimizer.step()

    fresh = make_bilm(json.loads(FIXTURE_FILES[0].read_text()), state="reset", requires_grad=True)
    fresh.load_state_dict(bilm.state_dict())
    with torch.no_grad():
        after, expected = bilm(ids).layers, fresh(ids).layers
    torch.testing.assert_close(after, expected, atol=1e-5, rtol=0)
    assert (after - before).abs().amax(dim=(0, 2, 3)).min() > 1e-3


def test_dropout_is_on_while_training_only() -> None:
    options = json.loads(FIXTURE_FILES[0].read_text())
    bilm = make_bilm(options, str(FIXTURE_FILES[1]), "reset", requires_grad=True, dropout=0.5)
    ids = ids_of([SENTENCE])

    trained = bilm.train()(ids).layers
    evaluated = bilm.eval()(ids).layers

    expected = make_bilm(*FIXTURE_FILES, state="reset")(ids).layers
    torch.testing.assert_close(evaluated, expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(trained[:, 0], expected[:, 0], atol=1e-5, rtol=0)
    assert not torch.allclose(trained[:, 1:], expected[:, 1:], atol=1e-3)


# Dtypes.


@pytest.mark.parametrize("state", ["reset", "snapshot", "carry"])
def test_layers_under_autocast_are_float32_and_close(state: str) -> None:
    bilm = make_bilm(*FIXTURE_FILES, state=state)
    expected = make_bilm(*FIXTURE_FILES, state=state)
    ids = ids_of([SENTENCE, *sentences(3)])

    for _ in range(2):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            layers = bilm(ids).layers
        assert layers.dtype == torch.float32
        torch.testing.assert_close(layers, expected(ids).layers, atol=0.1, rtol=0)


def test_a_bilm_trains_under_autocast() -> None:
    bilm = make_bilm(*FIXTURE_FILES, state="reset", requires_grad=True)

    with torch.autocast("cpu", dtype=torch.bfloat16):
        layers = bilm(ids_of([SENTENCE])).layers
    layers.square().sum().backward()

    exact = make_bilm(*FIXTURE_FILES, state="reset", requires_grad=True)
    exact(ids_of([SENTENCE])).layers.square().sum().backward()
    for ours, expected in zip(bilm.parameters(), exact.parameters(), strict=True):
        assert ours.grad is not None and expected.grad is not None
        assert ours.grad.dtype == torch.float32
        assert torch.cosine_similarity(ours.grad.flatten(), expected.grad.flatten(), dim=0) > 0.98
