"""
Measures a training step of SST's `both` with a biLM of a released size and random weights. Three
biLMs are compared in the same model: AllenNLP's `Elmo`, ours in a first epoch, and ours in later
epochs from a store. Prints a table in Markdown.

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
from allennlp.data import TextFieldTensors
from allennlp.models import Model
from allennlp.modules.elmo import Elmo

from benchmarks.harness import alternate, parser, report
from benchmarks.made_up import SIZES
from benchmarks.task_steps import config_of, loader_of, model_of, training
from elmo_tasks.bilm import make_bilm
from elmo_tasks.modules.text_embedder import ElmoTextEmbedder, EmbeddedText

THEIRS = "AllenNLP's `Elmo`"


class UpstreamEmbedder(torch.nn.Module):
    """A text embedder with the words of ours, and AllenNLP's `Elmo` at both places."""

    def __init__(self, ours: ElmoTextEmbedder, elmo: Elmo) -> None:
        super().__init__()
        self.words, self.elmo = ours.words, elmo

    def forward(self, tokens: TextFieldTensors) -> list[EmbeddedText]:
        output = self.elmo(tokens["elmo"]["elmo_tokens"])
        at_input, at_output = output["elmo_representations"]
        x = torch.cat([self.words({"tokens": tokens["tokens"]}), at_input], dim=-1)
        return [EmbeddedText(x, at_output, output["mask"])]


def main() -> None:
    options = parser("training", __doc__, turns=5, threads=True)
    add = options.add_argument
    add("trees", type=Path, help="SST's train.txt, or other trees in its format")
    add("--size", choices=SIZES, default="original", help="default: original")
    add("--batches", type=int, default=3, help="number of batches (default: 3)")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        works, num_tokens = prepare(arguments, Path(folder))
        times = alternate(works, arguments.turns)
    rows = [
        [name, f"{seconds / arguments.batches:.3f}", f"{times[THEIRS].wall / seconds:.1f}"]
        for name, (seconds, *_) in times.items()
    ]
    report(
        ["biLM", "seconds a step", "AllenNLP's / it"],
        rows,
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

    upstream = build()
    elmo = Elmo(str(folder / "options.json"), weights, num_output_representations=2)
    upstream.text_embedder = UpstreamEmbedder(upstream.text_embedder, elmo)
    models = {
        THEIRS: upstream,
        "ours, first epoch": build(),
        "ours, later epochs": build(store={"path": str(folder / "store")}),
    }
    char_ids = (batch["tokens"]["elmo"]["elmo_tokens"] for batch in batches)
    num_tokens = sum(int((ids > 0).any(dim=-1).sum()) for ids in char_ids)
    works = {name: training(model, config["trainer"], batches) for name, model in models.items()}
    return works, num_tokens


if __name__ == "__main__":
    main()
