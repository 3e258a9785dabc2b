"""The contract of every task model: training, padding, gradients, metrics and widths."""

import json

import pytest
import torch
from allennlp.common.checks import ConfigurationError as AllenNlpError
from allennlp.common.testing import ModelTestCase
from allennlp.data.fields import TextField

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.text_reader import sentences_of
from tests.helpers.configs import evaluate
from tests.helpers.precision import in_dtype, rounding_error
from tests.helpers.promises import ModelPromise, promises
from tests.helpers.task_models import Built, Task

PROMISES: dict[str, ModelPromise] = {name: task.MODEL for name, task in promises().items()}
TASKS = {name: Task(name) for name in PROMISES}
# The variants whose models have other parts. The rest differ in a number, or in the places of the
# embedder that all tasks share; tests/golden trains them all, and tests/training/recovery_test.py
# saves and loads one with ELMo at one place.
OTHER_PARTS = ("baseline", "both", "paper")
CASES = [
    *(
        (task, variant, "{}")
        for task in TASKS
        for variant in TASKS[task].variants
        if variant in OTHER_PARTS
    ),
    *((task, "both", change) for task in TASKS for change in PROMISES[task].choices),
]
every_task = pytest.mark.parametrize("task", TASKS)


class TestVariants(ModelTestCase):
    @pytest.mark.parametrize(("task", "variant", "change"), CASES)
    def test_trains_saves_loads_and_is_the_same_in_a_batch(
        self, task: str, variant: str, change: str
    ) -> None:
        promise, config = PROMISES[task], TASKS[task].config(variant, change)
        # Two batches, and as many to validate on, show as much as more would.
        for reader in config.keys() & {"dataset_reader", "validation_dataset_reader"}:
            config[reader]["max_instances"] = 6
        config_file = self.TEST_DIR / "config.json"
        config_file.write_text(json.dumps(config))

        self.ensure_model_can_train_save_and_load(
            config_file,
            overrides=json.dumps({**promise.overrides, "trainer.num_epochs": 1}),
            gradients_to_ignore=promise.without_gradient,
        )

        self.set_up_model(config_file, config["validation_data_path"])
        # Each is computed alone, too.
        self.instances = self.instances[:4]  # type: ignore[has-type]
        # AllenNLP allows a difference of 1e-6, only some times the rounding of one sum in float32.
        # In float64 the rounding is 2^29 times smaller, so a larger difference is an error.
        with in_dtype(self.model, torch.float64):
            self.ensure_batch_predictions_are_consistent(keys_to_ignore=promise.at_padding)


def outputs_and_gradients(
    built: Built, names: list[str], lengths: dict[str, int]
) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    built.model.zero_grad()
    output = built.model(**built.tensors(built.instances[:3], **lengths))
    output["loss"].backward()
    gradients = [p.grad.clone() for p in built.model.parameters() if p.grad is not None]
    return [output[name].detach() for name in names], gradients


def largest(values: torch.Tensor) -> float:
    """Returns the largest magnitude, without the smallest number of the dtype at padding."""
    return values[values > torch.finfo(values.dtype).min].abs().max().item()


@every_task
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_padding_changes_neither_outputs_nor_gradients(task: str, dtype: torch.dtype) -> None:
    # float64 shows any part that padding has; float32, whether padding is masked in it as well.
    promise, built = PROMISES[task], TASKS[task].build()

    with in_dtype(built.model, dtype):
        outputs, gradients = outputs_and_gradients(built, promise.outputs, {})
        padded = [
            outputs_and_gradients(built, promise.outputs, lengths) for lengths in promise.lengths
        ]

    for lengths, (more_outputs, more_gradients) in zip(promise.lengths, padded, strict=True):
        bound = rounding_error(built.model, max(lengths.values()), dtype)
        for one, other in zip(outputs, more_outputs, strict=True):
            # A passage has a logit at each token, the padding included.
            other = other[:, : one.size(1)] if one.dim() == 2 else other
            torch.testing.assert_close(other, one, rtol=0, atol=bound * largest(one))
        largest_gradient = max(largest(gradient) for gradient in gradients)
        for one, other in zip(gradients, more_gradients, strict=True):
            torch.testing.assert_close(other, one, rtol=0, atol=bound * largest_gradient)


@every_task
@pytest.mark.parametrize("variant", ["baseline", "both"])
def test_gradients_reach_every_parameter_but_those_that_are_fixed(task: str, variant: str) -> None:
    built = TASKS[task].build(variant=variant)

    built.model(**built.tensors(built.instances))["loss"].backward()

    parameters = dict(built.model.named_parameters())
    without = {name for name, p in parameters.items() if p.grad is None or not p.grad.any()}
    bilm = {name for name in parameters if ".bilm." in name}
    assert without == bilm | PROMISES[task].without_gradient
    assert bool(bilm) == (variant == "both")


@every_task
def test_bilm_runs_once_for_all_texts(task: str) -> None:
    built = TASKS[task].build()
    rows: list[int] = []
    bilm = built.model.text_embedder.bilm
    bilm.register_forward_pre_hook(lambda _, inputs: rows.append(inputs[0].size(0)))

    instances = built.instances[:3]
    built.model(**built.tensors(instances))

    # A frozen biLM reads equal texts once.
    texts = [f for each in instances for f in each.fields.values() if isinstance(f, TextField)]
    sentences = [sentence for text in texts for sentence in sentences_of(text)]
    assert rows == [len({tuple(token.text for token in sentence) for sentence in sentences})]
    assert len(texts) == 3 * PROMISES[task].num_texts


@every_task
def test_metrics_have_the_weights_of_each_place_and_start_anew(task: str) -> None:
    built, names = TASKS[task].build(), PROMISES[task].metrics

    built.model(**built.tensors(built.instances))
    so_far = built.model.get_metrics()
    metrics = built.model.get_metrics(reset=True)
    anew = built.model.get_metrics()

    weights = [f"elmo_{place}_s{j}" for place in ("input", "output") for j in range(3)]
    mixes = {**dict.fromkeys(weights, 1 / 3), "elmo_input_gamma": 1, "elmo_output_gamma": 1}
    assert {name: metrics[name] for name in metrics.keys() - names} == pytest.approx(mixes)
    assert names <= metrics.keys() and so_far == metrics
    assert not any(anew.get(name, 0) for name in names)


@pytest.mark.parametrize(
    ("task", "change", "complaint"),
    [(task, *each) for task, promise in PROMISES.items() for each in promise.refused],
)
def test_a_model_that_cannot_be_is_refused_by_the_names_of_its_parts(
    task: str, change: str, complaint: str
) -> None:
    # The config without its choices is one text, which jsonnet reads in a tenth of the time.
    whole = json.dumps(TASKS[task].config())

    with pytest.raises((ConfigurationError, AllenNlpError), match=complaint):
        Built(evaluate(f"{whole} + {{ model+: {change} }}"))
