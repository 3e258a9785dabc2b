"""
Measures a training step of SST's `both` with a biLM of a released size and random weights. Four
biLMs are compared in the same model: AllenNLP's `Elmo`, ours in a first epoch, ours in later epochs
from a store, and a biLM that computes nothing. Prints a table in Markdown.

    python -m benchmarks.training data/sst/train.txt --size original

A step is what `elmo-tasks train` does with a batch after reading it: the loss, its gradients, their
norm, and the optimizer. All run in one process on the same batches, take turns, and report medians.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import _jsonnet
import torch
from allennlp.common import Params
from allennlp.data import DataLoader, DatasetReader, TensorDict, TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules.elmo import Elmo
from allennlp.training.optimizers import Optimizer
from tqdm import tqdm

from benchmarks.machine import machine
from benchmarks.sizes import SIZES
from elmo_tasks.bilm import BiLm, BiLmOutput, make_bilm
from elmo_tasks.modules.text_embedder import ElmoTextEmbedder, EmbeddedText

ROOT = Path(__file__).parents[1]


class UpstreamEmbedder(torch.nn.Module):
    """A text embedder with the words of ours, and AllenNLP's `Elmo` at both places."""

    def __init__(self, ours: ElmoTextEmbedder, elmo: Elmo) -> None:
        super().__init__()
        self.words, self.elmo = ours.words, elmo

    def forward(self, tokens: TextFieldTensors) -> list[EmbeddedText]:
        found = self.elmo(tokens["elmo"]["elmo_tokens"])
        at_input, at_output = found["elmo_representations"]
        x = torch.cat([self.words({"tokens": tokens["tokens"]}), at_input], dim=-1)
        return [EmbeddedText(x, at_output, found["mask"])]


class FreeBiLm(torch.nn.Module):
    """A biLM whose layers are zeros, made beforehand."""

    def __init__(self, bilm: BiLm, longest: int, batch_size: int) -> None:
        super().__init__()
        self.num_layers, self._dim = bilm.num_layers, bilm.get_output_dim()
        self._zeros = torch.zeros(batch_size, self.num_layers, longest, self._dim)

    def get_output_dim(self) -> int:
        return self._dim

    def forward(self, char_ids: torch.Tensor) -> BiLmOutput:
        rows, length, _ = char_ids.shape
        return BiLmOutput(self._zeros[:rows, :, :length], (char_ids > 0).any(dim=-1))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trees", type=Path, help="SST's train.txt, or other trees in its format")
    parser.add_argument("--size", choices=SIZES, default="original", help="default: original")
    parser.add_argument("--batches", type=int, default=3, help="number of batches (default: 3)")
    parser.add_argument("--turns", type=int, default=5, help="turns of each row (default: 5)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        steps, num_tokens = prepare(arguments, Path(folder))
        seconds = alternate(steps, arguments.turns)
    print(
        f"{date.today()}, {machine()}, {torch.get_num_threads()} thread(s), torch "
        f"{torch.__version__}, sst/both, {arguments.size} with random weights, "
        f"{arguments.batches} batches with {num_tokens / arguments.batches:.0f} tokens, medians of "
        f"{arguments.turns} turns\n"
    )
    print("| biLM | seconds a step | AllenNLP's / it | it / one that costs nothing |")
    print("| --- | --- | --- | --- |")
    for name, taken in seconds.items():
        upstream, free = seconds["AllenNLP's `Elmo`"], seconds["costs nothing"]
        step = taken / arguments.batches
        print(f"| {name} | {step:.3f} | {upstream / taken:.1f} | {taken / free:.2f} |")


def prepare(
    arguments: argparse.Namespace, folder: Path
) -> tuple[dict[str, Callable[[], None]], int]:
    """Returns a function for each row, which trains on all batches, and their number of tokens."""
    path = ROOT / "training_configs" / "sst" / "both.jsonnet"
    snippet = f"(import '{path}') {{ bilm: '{arguments.size}' }}"
    config = json.loads(_jsonnet.evaluate_snippet("both", snippet))
    vocab, batches = read(config, arguments)
    options = config["model"]["text_embedder"]["bilm"]["options"] | {"state": "reset"}
    torch.manual_seed(0)
    make_bilm(options, requires_grad=True).to_files(folder)
    weights = str(folder / "weights.hdf5")

    def build(**settings: Any) -> Model:
        bilm = {"options": options, "pretrained_file": weights, **settings}
        params = json.loads(json.dumps(config["model"]))
        params["text_embedder"]["bilm"] = bilm
        return Model.from_params(Params(params), vocab=vocab).train()

    upstream, free = build(), build()
    elmo = Elmo(str(folder / "options.json"), weights, num_output_representations=2)
    longest = max(batch["tokens"]["elmo"]["elmo_tokens"].size(1) for batch in batches)
    upstream.text_embedder = UpstreamEmbedder(upstream.text_embedder, elmo)
    free.text_embedder.bilm = FreeBiLm(free.text_embedder.bilm, longest, len(batches[0]["label"]))
    models = {
        "AllenNLP's `Elmo`": upstream,
        "ours, first epoch": build(),
        "ours, later epochs": build(store={"path": str(folder / "store")}),
        "costs nothing": free,
    }
    num_tokens = sum(int((ids_of(batch) > 0).any(dim=-1).sum()) for batch in batches)
    trainer = config["trainer"]
    return {name: stepper(model, trainer, batches) for name, model in models.items()}, num_tokens


def read(
    config: dict[str, Any], arguments: argparse.Namespace
) -> tuple[Vocabulary, list[TensorDict]]:
    """Returns the vocabulary and batches as the config makes them."""
    reader = DatasetReader.from_params(Params({**config["dataset_reader"], "max_instances": 5000}))
    loader = DataLoader.from_params(
        Params(config["data_loader"]), reader=reader, data_path=str(arguments.trees)
    )
    vocab = Vocabulary.from_instances(loader.iter_instances())
    loader.index_with(vocab)
    torch.manual_seed(0)
    return vocab, [batch for batch, _ in zip(loader, range(arguments.batches))]


def ids_of(batch: TensorDict) -> torch.Tensor:
    return batch["tokens"]["elmo"]["elmo_tokens"]


def stepper(model: Model, trainer: dict[str, Any], batches: list[TensorDict]) -> Callable[[], None]:
    parameters = [(name, tensor) for name, tensor in model.named_parameters()]
    trained = [tensor for _, tensor in parameters if tensor.requires_grad]
    optimizer = Optimizer.from_params(Params({**trainer["optimizer"]}), model_parameters=parameters)

    def steps() -> None:
        for batch in batches:
            optimizer.zero_grad()
            loss = model(**batch)["loss"] + (model.get_regularization_penalty() or 0)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trained, trainer["grad_norm"])
            optimizer.step()

    return steps


def alternate(steps: dict[str, Callable[[], None]], turns: int) -> dict[str, float]:
    """Returns the median seconds of each row, without the first turn, which fills the store."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for turn in tqdm(range(turns + 1), leave=False):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            if turn > 0:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}


if __name__ == "__main__":
    main()
