"""
Says where the time of a training step goes: of `base` or of a task. Prints two tables in Markdown:
of the parts, and of PyTorch's operators.

    python -m benchmarks.training_parts base snli squad [--text my/text.txt] [--turns 5]

Times are milliseconds of CPU time on one thread, medians of the turns, and shares of the whole.
`base` trains on batches of `--text`, a tokenized sentence a line, with a softmax of 50,000 words; a
task trains on the first instances of the data that its `both` names, with layers from a store.
"Products of layers" are those outside of the recurrences, forward and backward: the projections of
their inputs, feed-forward layers, highways. The operators' shares are of the time of day of as many
steps more, each without the operators that it calls. `LstmSteps`, `GruSteps` and `Recurrence` are
the compiled functions, and Python, between the operators.
"""

import argparse
import json
import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import _jsonnet
import torch
from allennlp.common import Params
from allennlp.models import Model
from allennlp.training.optimizers import Optimizer
from torch.profiler import ProfilerActivity, profile

import elmo_tasks.plugin  # noqa: F401  registers every name
from benchmarks import epochs, pretraining
from benchmarks.machine import machine
from benchmarks.one_sentence import Clock
from elmo_tasks.bilm import BiLm
from elmo_tasks.kernels.lookup_convolution import _LookupConvolution
from elmo_tasks.kernels.recurrence import Recurrence
from elmo_tasks.kernels.trained_product import _TrainedProduct
from elmo_tasks.language_model.sampled_loss import SampledLoss
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax
from elmo_tasks.modules.gru import GruSteps
from elmo_tasks.modules.lstm import LstmSteps

ROOT = Path(__file__).parents[1]
FUNCTIONS = {
    Recurrence: "recurrences",
    LstmSteps: "recurrences",
    GruSteps: "recurrences",
    _TrainedProduct: "products of layers",
    _LookupConvolution: "convolutions of characters",
    SampledLoss: "softmax",
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("trainings", nargs="+", choices=("base", *epochs.TASKS, "srl", "coref"))
    add("--text", type=Path, default=ROOT / "fixtures" / "corpus" / "train.txt",
        help="of base; plain, .gz or .xz (default: the text of the tests)")  # fmt: skip
    add("--words", type=int, default=50_000, help="words of the softmax (default: 50000)")
    add("--dtype", default="auto", help="of base's products (default: auto)")
    add("--instances", type=int, default=500, help="of a task (default: 500)")
    add("--turns", type=int, default=5, help="steps after the first two (default: 5)")
    add("--set", default="{}", help="a jsonnet object that is added to each config")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"{date.today()}, {machine()}, 1 thread, torch {torch.__version__}")
    for name in arguments.trainings:
        torch.manual_seed(0)
        with tempfile.TemporaryDirectory() as store:
            path = f"bilm/{name}" if name == "base" else f"{name}/both"
            snippet = f"(import '{ROOT}/training_configs/{path}.jsonnet') + {arguments.set}"
            if name != "base":
                snippet += f" + {{ store: '{store}' }}"
            config = json.loads(_jsonnet.evaluate_snippet(name, snippet))
            model, batches = (language_model if name == "base" else task)(config, arguments)
            trainer = config["trainer"]
            optimizer = optimizer_of(model, trainer["optimizer"])
            step = partial(epochs.step, model, optimizer, trainer.get("grad_norm"))
            report(name, measure(model, optimizer, step, batches, arguments.turns))
            report_operators(step, batches, arguments.turns)


def language_model(
    config: dict[str, Any], arguments: argparse.Namespace
) -> tuple[Model, Iterator[Any]]:
    loader, vocab = pretraining.indexed_loader(arguments, config["data_loader"]["batch_tokens"])
    return pretraining.build(config["model"], vocab, arguments.dtype), _endless(loader)


def task(config: dict[str, Any], arguments: argparse.Namespace) -> tuple[Model, Iterator[Any]]:
    loader, vocab = epochs.read(config, arguments.instances)
    model = Model.from_params(Params(config["model"]), vocab=vocab).train()
    with torch.no_grad():
        for batch in loader:
            model(**batch)  # Fills the store.
    return model, _endless(loader)


def measure(
    model: Model,
    optimizer: torch.optim.Optimizer,
    step: Callable[[Any], None],
    batches: Iterator[Any],
    turns: int,
) -> list[dict[str, float]]:
    """Returns the seconds of each part in each step."""
    taken, clock = [], Clock()
    with ExitStack() as stack:

        def patch(
            place: Any, method: str, part: str, wrap: Callable[..., Any] = lambda f: f
        ) -> None:
            timed = wrap(clock.timed(part, getattr(place, method)))
            stack.enter_context(mock.patch.object(place, method, timed))

        for function, part in FUNCTIONS.items():
            patch(function, "forward", part, staticmethod)
            patch(function, "backward", part, staticmethod)
        for module in model.modules():
            if isinstance(module, BiLm):
                patch(module, "token_vectors", "character CNN, rest of the forward pass")
                patch(module, "forward", "biLM, rest of the forward pass")
            if isinstance(module, SampledSoftmax):
                patch(module, "forward", "softmax")
        patch(model, "forward", "rest of the forward pass")
        patch(torch.Tensor, "backward", "rest of the gradients")
        patch(torch.nn.utils, "clip_grad_norm_", "norm of the gradients")
        patch(optimizer, "step", "optimizer")
        for _ in range(turns + 2):
            clock.seconds.clear()
            with clock.part("reading"):
                batch = next(batches)
            with clock.part("the rest"):
                step(batch)
            taken.append(dict(clock.seconds))
    return taken[2:]


def optimizer_of(model: Model, params: dict[str, Any]) -> torch.optim.Optimizer:
    trained = [(name, each) for name, each in model.named_parameters() if each.requires_grad]
    return Optimizer.from_params(Params(params), model_parameters=trained)


def report_operators(step: Callable[[Any], None], batches: Iterator[Any], turns: int) -> None:
    """Prints the operators that take a hundredth of the steps or more."""
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        for _ in range(turns):
            step(next(batches))
    found = profiled.key_averages()
    total = sum(each.self_cpu_time_total for each in found)
    print("\n| operator | calls a step | share |\n| --- | --- | --- |")
    for each in sorted(found, key=lambda each: -each.self_cpu_time_total):
        if (share := each.self_cpu_time_total / total) >= 0.01:
            print(f"| {each.key} | {each.count / turns:.0f} | {share:.0%} |", flush=True)


def report(name: str, taken: list[dict[str, float]]) -> None:
    parts = {part for step in taken for part in step}
    medians = {part: statistics.median(step.get(part, 0) for step in taken) for part in parts}
    total = sum(medians.values())
    print(f"\n| {name}, {len(taken)} steps | ms | share |\n| --- | --- | --- |")
    for part, seconds in sorted(medians.items(), key=lambda item: -item[1]):
        print(f"| {part} | {1000 * seconds:.1f} | {seconds / total:.0%} |")
    print(f"| in all | {1000 * total:.1f} | |", flush=True)


def _endless(loader: Iterable[Any]) -> Iterator[Any]:
    while True:
        yield from loader


if __name__ == "__main__":
    main()
