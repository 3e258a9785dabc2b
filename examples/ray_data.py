"""
Adds a column of vectors, the mean of ELMo over the tokens of a text, to a dataset of Ray Data.

    python examples/ray_data.py
"""

import os

import ray

from elmo_tasks import ElmoEncoder


class Embedder:
    """Opens the biLM once in each process of Ray."""

    def __init__(self) -> None:
        self.elmo = ElmoEncoder.from_pretrained("mini", as_numpy=True)

    def __call__(self, rows: dict) -> dict:
        return {**rows, "elmo": self.elmo(list(rows["text"]))["default"]}


# The processes of Ray run in other folders, so paths are absolute.
dataset = ray.data.read_text(os.path.abspath("fixtures/play.txt"))
# With GPUs: from_pretrained(..., device="cuda"), and num_gpus=1 beside batch_size.
embedded = dataset.map_batches(Embedder, batch_size=512, compute=ray.data.ActorPoolStrategy(size=1))
embedded.write_parquet(os.path.abspath("runs/on-ray-data"))
