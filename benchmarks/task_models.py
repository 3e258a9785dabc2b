"""
What the benchmarks of semantic roles and of coreference share: they measure a task model beside
that of allennlp-models, in one process and thread, in turns.
"""

import copy
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import _jsonnet
import torch
from allennlp.data import TensorDict, TextFieldTensors
from allennlp.models import Model
from allennlp.modules import TextFieldEmbedder
from allennlp.modules.elmo import Elmo
from tqdm import tqdm

from benchmarks.training import stepper
from elmo_tasks.modules.text_embedder import ELMO_INDEXER, ElmoTextEmbedder

ROOT = Path(__file__).parents[1]

# allennlp-models has ELMo at the input alone.
VARIANTS = ("baseline", "input")
TRAINING = "training"

# What is measured, by the names of the model and of the work.
Works = dict[tuple[str, str], Callable[[], Any]]


def evaluate(task: str, variant: str, change: str) -> dict[str, Any]:
    """
    Returns a config whose biLM computes in float32 and from zeros, as AllenNLP's does, and
    remembers no tokens, so that all turns do the same work.
    """
    path = ROOT / "training_configs" / task / f"{variant}.jsonnet"
    snippet = f"(import '{path}') + {{ bilm_dtype: 'float32' }} + {change}"
    config = json.loads(_jsonnet.evaluate_snippet(variant, snippet))
    bilm = config["model"]["text_embedder"].get("bilm")
    if bilm is not None:
        bilm["cached_tokens"], bilm["options"]["state"] = 0, "reset"
    return config


def training(model: Model, config: dict[str, Any], batches: list[TensorDict]) -> Callable[[], None]:
    """Returns a function that trains on all batches, and leaves the model ready to predict."""
    # A config that clips each value clips the norm here, which takes about as long.
    steps = stepper(model, {"grad_norm": 1.0, **config["trainer"]}, batches)

    def train() -> None:
        model.train()
        steps()
        model.eval()

    return train


class UpstreamEmbedder(TextFieldEmbedder):
    """Embeds words with the module of ours, and adds AllenNLP's `Elmo` where ours has a biLM."""

    def __init__(self, ours: ElmoTextEmbedder, dropout: float) -> None:
        super().__init__()
        self.words, self.dim = copy.deepcopy(ours.words), ours.get_output_dim()
        self.elmo = None
        if ours.bilm is not None:
            with tempfile.TemporaryDirectory() as folder:
                ours.bilm.to_files(folder)
                files = f"{folder}/options.json", f"{folder}/weights.hdf5"
                self.elmo = Elmo(*files, num_output_representations=1, dropout=dropout)

    def get_output_dim(self) -> int:
        return self.dim

    def forward(self, tokens: TextFieldTensors) -> torch.Tensor:
        x = self.words({name: ids for name, ids in tokens.items() if name != ELMO_INDEXER})
        if self.elmo is None:
            return x
        (elmo,) = self.elmo(tokens[ELMO_INDEXER]["elmo_tokens"])["elmo_representations"]
        return torch.cat([x, elmo], dim=-1)


def alternate(works: Works, turns: int) -> dict[tuple[str, str], float]:
    """Returns the median seconds of each work, without the first turn, which allocates memory."""
    times: dict[tuple[str, str], list[float]] = {name: [] for name in works}
    for turn in tqdm(range(turns + 1), leave=False):
        for name, work in works.items():
            start = time.process_time()
            work()
            if turn > 0:
                times[name].append(time.process_time() - start)
    return {name: statistics.median(taken) for name, taken in times.items()}


def rows(variant: str, seconds: dict[tuple[str, str], float], counts: dict[str, int]) -> str:
    """
    Returns a row for each model, with the speed of each work, given how much it does.
    """
    lines = []
    for model in dict.fromkeys(model for model, _ in seconds):
        cells = [
            f"{count / seconds[model, work]:.1f}" if (model, work) in seconds else ""
            for work, count in counts.items()
        ]
        lines.append(f"| `{variant}` | {model} | {' | '.join(cells)} |")
    return "\n".join(lines)
