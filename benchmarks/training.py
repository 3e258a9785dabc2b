"""
Measures a training step of SST's `both` with a biLM of a released size and random weights. Four
biLMs are compared in the same model: AllenNLP's `Elmo`, ours in a first epoch, ours in later epochs
from a store, and a biLM that computes nothing. Prints a table in Markdown.

    python -m benchmarks.training data/sst/train.txt --size original

A step is what `elmo-tasks train` does with a batch after reading it: the loss, its gradients, their
norm, and the optimizer. All run in one process on the same batches, take turns, and report medians.
"""

import argparse
import tempfile
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from allennlp.data import TensorDict, TextFieldTensors
from allennlp.models import Model
from allennlp.modules.elmo import Elmo

from benchmarks.harness import alternate, parser, report
from benchmarks.sizes import SIZES
from benchmarks.task_steps import config_of, loader_of, model_of, training
from elmo_tasks.bilm import BiLm, BiLmOutput, make_bilm
from elmo_tasks.modules.text_embedder import ElmoTextEmbedder, EmbeddedText

THEIRS, FREE = "AllenNLP's `Elmo`", "costs nothing"


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
    made = parser("training", __doc__, turns=5, threads=True)
    add = made.add_argument
    add("trees", type=Path, help="SST's train.txt, or other trees in its format")
    add("--size", choices=SIZES, default="original", help="default: original")
    add("--batches", type=int, default=3, help="number of batches (default: 3)")
    arguments = made.parse_args()
    torch.set_num_threads(arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        works, num_tokens = prepare(arguments, Path(folder))
        times = alternate(works, arguments.turns)
    report(
        ["biLM", "seconds a step", "AllenNLP's / it", "it / one that costs nothing"],
        [
            [
                name,
                f"{taken / arguments.batches:.3f}",
                f"{times[THEIRS].wall / taken:.1f}",
                f"{taken / times[FREE].wall:.2f}",
            ]
            for name, (taken, *_) in times.items()
        ],
        f"sst/both, {arguments.size} with random weights",
        f"{arguments.batches} batches with {num_tokens / arguments.batches:.0f} tokens",
        f"medians of {arguments.turns} turns",
        times=times.values(),
    )


def prepare(
    arguments: argparse.Namespace, folder: Path
) -> tuple[dict[str, Callable[[], None]], int]:
    """Returns a function for each row, which trains on all batches, and their number of tokens."""
    config = config_of("sst", "both", f"{{ bilm: '{arguments.size}' }}")
    loader, vocab = loader_of(config, max_instances=5000, path=str(arguments.trees))
    torch.manual_seed(0)
    batches = list(islice(loader, arguments.batches))
    embedder = config["model"]["text_embedder"]
    options = embedder["bilm"]["options"] | {"state": "reset"}
    make_bilm(options, requires_grad=True).to_files(folder)
    weights = str(folder / "weights.hdf5")

    def build(**settings: Any) -> Model:
        embedder["bilm"] = {"options": options, "pretrained_file": weights, **settings}
        return model_of(config, vocab)

    upstream, free = build(), build()
    elmo = Elmo(str(folder / "options.json"), weights, num_output_representations=2)
    upstream.text_embedder = UpstreamEmbedder(upstream.text_embedder, elmo)
    longest = max(ids_of(batch).size(1) for batch in batches)
    free.text_embedder.bilm = FreeBiLm(free.text_embedder.bilm, longest, len(batches[0]["label"]))
    models = {
        THEIRS: upstream,
        "ours, first epoch": build(),
        "ours, later epochs": build(store={"path": str(folder / "store")}),
        FREE: free,
    }
    num_tokens = sum(int((ids_of(batch) > 0).any(dim=-1).sum()) for batch in batches)
    works = {name: training(model, config["trainer"], batches) for name, model in models.items()}
    return works, num_tokens


def ids_of(batch: TensorDict) -> torch.Tensor:
    return batch["tokens"]["elmo"]["elmo_tokens"]


if __name__ == "__main__":
    main()
