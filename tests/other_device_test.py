"""
Tests that the biLM, its training and the task models compute the same on another device.
"""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch

from elmo_tasks import ElmoEncoder
from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.elmo import Elmo
from elmo_tasks.language_model.prediction import predict
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax
from tests.helpers.bilm_examples import SENTENCE
from tests.helpers.other_device import DEVICE, other_device
from tests.helpers.reference_bilm import make_options
from tests.helpers.stored_bilms import fixture_bilm
from tests.helpers.task_models import Task

TEXT = [SENTENCE, SENTENCE[:3], SENTENCE[1:]]
CPU = torch.device("cpu")


def on_both(compute: Callable[[torch.device], Any]) -> tuple[Any, Any]:
    """Returns what is computed on the CPU, and on the other device."""
    expected = compute(CPU)
    with other_device():
        return expected, on(compute(DEVICE), CPU)


def on(data: Any, device: torch.device) -> Any:
    """Moves the tensors in lists and dictionaries to a device."""
    if isinstance(data, dict):
        return {key: on(value, device) for key, value in data.items()}
    if isinstance(data, list):
        return [on(value, device) for value in data]
    return data.to(device) if isinstance(data, torch.Tensor) else data


def test_tensors_of_two_devices_are_refused() -> None:
    with other_device(), pytest.raises(RuntimeError, match="add got tensors of two devices"):
        torch.ones(2).to(DEVICE) + torch.ones(2)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_layers_do_not_depend_on_the_device(dtype: str) -> None:
    def layers(device: torch.device) -> torch.Tensor:
        elmo = Elmo(fixture_bilm(dtype=dtype)).to(device)
        vectors, _ = elmo.eval()(TEXT)
        assert vectors.device == device
        return vectors.detach()

    expected, found = on_both(layers)

    torch.testing.assert_close(found, expected, atol=1e-5 if dtype == "float32" else 0.05, rtol=0)


def test_an_encoder_gives_its_vectors_on_the_cpu() -> None:
    expected, found = on_both(lambda device: ElmoEncoder(fixture_bilm().to(device))(TEXT)["elmo"])

    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def test_steps_of_pre_training_do_not_depend_on_the_device() -> None:
    char_ids = batch_char_ids([["<S>", *words, "</S>"] for words in TEXT])
    words = torch.arange(char_ids[..., 0].numel()) % 30 + 1

    def train(device: torch.device) -> list[torch.Tensor]:
        torch.manual_seed(0)
        bilm = make_bilm(make_options(), requires_grad=True, state="carry").to(device)
        softmax = SampledSoftmax(40, bilm.options.projection_dim, 20).to(device)
        weights = [*bilm.parameters(), *softmax.parameters()]
        optimizer = torch.optim.Adagrad(weights, lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            loss = sum(
                softmax(output, words.to(device)[targets]).mean()
                for output, targets in predict(bilm, char_ids.to(device))[0]
            )
            loss.backward()
            torch.nn.utils.clip_grad_norm_(weights, 0.5)
            optimizer.step()
        return [loss.detach(), *(weight.detach() for weight in weights)]

    expected, found = on_both(train)

    for each, other in zip(found, expected, strict=True):
        torch.testing.assert_close(each, other, atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("task", ["classify", "coref", "ner", "snli", "squad", "srl", "sst", "tag"])
def test_gradients_of_a_task_model_do_not_depend_on_the_device(task: str) -> None:
    built = Task(task).build()
    # A test of this kind takes a time for each token, and two short texts have all operators.
    instances = sorted(built.instances, key=lambda instance: len(str(instance)))[:2]

    def train(device: torch.device) -> dict[str, torch.Tensor]:
        torch.manual_seed(0)
        model = copy.deepcopy(built.model).to(device).train()
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0
        loss = model(**on(built.tensors(instances), device))["loss"]
        loss.backward()
        gradients = {name: weight.grad for name, weight in model.named_parameters()}
        return {"loss": loss.detach(), **gradients}

    expected, found = on_both(train)

    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        close = 1e-6 + 1e-3 * (0 if gradient is None else gradient.abs().max().item())
        torch.testing.assert_close(found[name], gradient, atol=close, rtol=0)
