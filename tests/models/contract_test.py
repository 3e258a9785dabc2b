"""The contract of every task model: training, padding, gradients, metrics and widths."""

import json
from typing import Any, NamedTuple

import pytest
import torch
from allennlp.common.checks import ConfigurationError as AllenNlpError
from allennlp.common.testing import ModelTestCase
from allennlp.data.fields import TextField

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.text_reader import sentences_of
from tests.helpers.configs import evaluate
from tests.helpers.precision import in_dtype, rounding_error
from tests.helpers.task_models import Built, Task


class Contract(NamedTuple):
    """
    # Parameters

    lengths: Numbers of tokens that the fields of three instances are padded to.
    outputs: Outputs that must not depend on the padding.
    metrics: Names of the metrics, without those of the mixes.
    refused: Changes of the model that cannot be, mostly widths, and the complaints.
    choices: Changes of `both` that are trained beside the variants.
    overrides: Settings that make two data loaders give the same batches, which AllenNLP compares.
    num_texts: Texts of an instance.
    at_padding: Outputs that have values at padding, which nothing reads.
    without_gradient: Parameters that are fixed, beside those of the biLM.
    """

    lengths: list[dict[str, int]]
    outputs: list[str]
    metrics: set[str]
    refused: list[tuple[str, str]]
    choices: list[str] = []
    overrides: dict[str, Any] = {"data_loader.batch_sampler.shuffle": False}
    num_texts: int = 1
    at_padding: tuple[str, ...] = ()
    without_gradient: frozenset[str] = frozenset()


def wrong(module: str, source: str, field: str = "input_size") -> tuple[str, str]:
    """Returns a change of the width that a module reads, and the complaint."""
    return f"{{ {module}+: {{ {field}: 5 }} }}", f"{source}.* must match input of {module}"


# A change of the first encoder, which reads the embedded text.
TEXT_TO_ENCODER = wrong("encoder", "output of text_embedder")

CONTRACTS = {
    "classify": Contract(
        choices=["{ separator: ';' }", "{ texts: ['text', 'id'] }", "{ max_tokens: 5 }"],
        lengths=[{"tokens": 60}],
        outputs=["logits"],
        metrics={"accuracy"},
        refused=[TEXT_TO_ENCODER, wrong("feedforward", r"3 \* output of encoder", "input_dim")],
    ),
    "sst": Contract(
        choices=[
            "{ classifier: 'maxout' }",
            "{ output_place: 'integrator' }",
            "{ elmo_layer_norm: 'sentence' }",
            "{ granularity: '2-class' }",
        ],
        lengths=[{"tokens": 40}],
        outputs=["logits"],
        metrics={"accuracy"},
        refused=[
            wrong("feedforward", "output of text_embedder", "input_dim"),
            wrong("encoder", "output of feedforward"),
            wrong("integrator", r"3 \* x"),
            wrong("classifier", r"4 \* output of integrator", "input_dim"),
            ("{ classifier+: { hidden_dims: [9, 9, 7] } }", "number of classes .* got 7 and 5"),
            ("{ output_place: 'roof' }", "encoder or integrator, not 'roof'"),
        ],
    ),
    "snli": Contract(
        num_texts=2,
        lengths=[{"premise": 40, "hypothesis": 30}, {"premise": 20, "hypothesis": 40}],
        outputs=["logits"],
        metrics={"accuracy"},
        refused=[
            TEXT_TO_ENCODER,
            wrong("projection", r"4 \* output of encoder", "input_dim"),
            wrong("composer", "output of projection"),
            wrong("classifier", r"4 \* output of composer", "input_dim"),
            ("{ classifier+: { hidden_dims: [9, 7] } }", "number of classes .* got 7 and 3"),
        ],
    ),
    "squad": Contract(
        num_texts=2,
        lengths=[{"question": 30, "passage": 120}],
        outputs=["start_logits", "end_logits"],
        metrics={"em", "f1"},
        refused=[
            TEXT_TO_ENCODER,
            wrong("start_encoder", "input of residual_encoder"),
            wrong("end_encoder", "residual_encoder with output of start_encoder"),
            ("{ max_answer_tokens: 0 }", "max_answer_tokens must be 1 or more, not 0"),
        ],
    ),
    "ner": Contract(
        choices=[
            "{ hidden_dims: [4] }",
            "{ characters: null }",
        ],
        lengths=[{"tokens": 40, "tags": 40}],
        outputs=["loss"],
        at_padding=("best_tags", "mask", "logits"),
        # The mask of the constraints is a parameter of AllenNLP's CRF.
        without_gradient=frozenset({"crf._constraint_mask"}),
        metrics={
            f"{name}-{of}"
            for name in ("precision", "recall", "f1-measure")
            for of in ("overall", "PER", "LOC", "ORG", "MISC")
        },
        refused=[
            (
                "{ encoders: [super.encoders[0] { input_size: 5 }] }",
                "output of text_embedder must match input of encoder 1",
            ),
            (
                "{ encoders: [super.encoders[0], super.encoders[1] { input_size: 5 }] }",
                "output of encoder 1 must match input of encoder 2.* 16 and 5",
            ),
            ("{ encoders: [] }", "needs at least one encoder"),
        ],
    ),
    "srl": Contract(
        choices=["{ num_layers: 3 }"],
        overrides={
            "data_loader.batch_sampler.shuffle": False,
            "validation_data_loader.batch_sampler.shuffle": False,
        },
        lengths=[{"tokens": 40, "tags": 40, "is_predicate": 40}],
        outputs=["loss"],
        at_padding=("best_tags", "mask", "logits", "predicate_logits"),
        metrics={"predicates-f1"}
        | {
            f"{name}-{of}"
            for name in ("precision", "recall", "f1-measure")
            for of in (
                *("overall", "ARG0", "ARG1", "ARG2", "R-ARG0", "R-ARG1"),
                *("ARGM-DIR", "ARGM-LOC", "ARGM-MOD", "ARGM-NEG", "ARGM-TMP"),
            )
        },
        refused=[
            wrong("encoder", "output of text_embedder with predicate_dim"),
            (
                "{ predicate_dim: 7 }",
                "text_embedder with predicate_dim must match input of encoder",
            ),
        ],
    ),
    "coref": Contract(
        choices=["{ characters: null }"],
        overrides={"data_loader.shuffle": False},
        lengths=[{"tokens": 60}],
        outputs=["loss"],
        metrics={
            "f1-measure-mean",
            *(
                f"{name}-{of}"
                for name in ("precision", "recall", "f1-measure")
                for of in ("muc", "b-cubed", "ceaf")
            ),
        },
        refused=[
            TEXT_TO_ENCODER,
            wrong("mention_feedforward", "width of a span", "input_dim"),
            ("{ feature_dim: 5 }", "width of a span must match input of mention_feedforward"),
            wrong("antecedent_feedforward", "3", "input_dim"),
            ("{ spans_per_word: 0 }", "spans_per_word must be above 0, not 0"),
        ],
    ),
    "tag": Contract(
        choices=["{ column: 'xpos', characters: null }"],
        lengths=[{"tokens": 40, "tags": 40}],
        outputs=["loss"],
        at_padding=("mask", "logits"),
        metrics={"accuracy"},
        refused=[TEXT_TO_ENCODER],
    ),
}
TASKS = {name: Task(name) for name in CONTRACTS}
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
    *((task, "both", change) for task in TASKS for change in CONTRACTS[task].choices),
]
every_task = pytest.mark.parametrize("task", TASKS)


class TestVariants(ModelTestCase):
    @pytest.mark.parametrize(("task", "variant", "change"), CASES)
    def test_trains_saves_loads_and_is_the_same_in_a_batch(
        self, task: str, variant: str, change: str
    ) -> None:
        contract, config = CONTRACTS[task], TASKS[task].config(variant, change)
        # Two batches, and as many to validate on, show as much as more would.
        for reader in config.keys() & {"dataset_reader", "validation_dataset_reader"}:
            config[reader]["max_instances"] = 6
        config_file = self.TEST_DIR / "config.json"
        config_file.write_text(json.dumps(config))

        self.ensure_model_can_train_save_and_load(
            config_file,
            overrides=json.dumps({**contract.overrides, "trainer.num_epochs": 1}),
            gradients_to_ignore=contract.without_gradient,
        )

        self.set_up_model(config_file, config["validation_data_path"])
        # Each is computed alone, too.
        self.instances = self.instances[:4]  # type: ignore[has-type]
        # AllenNLP allows a difference of 1e-6, only some times the rounding of one sum in float32.
        # In float64 the rounding is 2^29 times smaller, so a larger difference is an error.
        with in_dtype(self.model, torch.float64):
            self.ensure_batch_predictions_are_consistent(keys_to_ignore=contract.at_padding)


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
    contract, built = CONTRACTS[task], TASKS[task].build()

    with in_dtype(built.model, dtype):
        outputs, gradients = outputs_and_gradients(built, contract.outputs, {})
        padded = [
            outputs_and_gradients(built, contract.outputs, lengths) for lengths in contract.lengths
        ]

    for lengths, (more_outputs, more_gradients) in zip(contract.lengths, padded, strict=True):
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
    assert without == bilm | CONTRACTS[task].without_gradient
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
    assert len(texts) == 3 * CONTRACTS[task].num_texts


@every_task
def test_metrics_have_the_weights_of_each_place_and_start_anew(task: str) -> None:
    built, names = TASKS[task].build(), CONTRACTS[task].metrics

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
    [(task, *each) for task, contract in CONTRACTS.items() for each in contract.refused],
)
def test_a_model_that_cannot_be_is_refused_by_the_names_of_its_parts(
    task: str, change: str, complaint: str
) -> None:
    # The config without its choices is one text, which jsonnet reads in a tenth of the time.
    whole = json.dumps(TASKS[task].config())

    with pytest.raises((ConfigurationError, AllenNlpError), match=complaint):
        Built(evaluate(f"{whole} + {{ model+: {change} }}"))
