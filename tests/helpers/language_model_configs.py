"""The configs of language models, shrunk, for the tests that train one."""

from typing import Any

from tests.helpers.configs import ROOT, config_path, shipped, tiny

CONFIGS = [config_path(*each) for each in shipped("bilm")]
CORPUS = ROOT / "fixtures" / "corpus" / "train.txt"
HELDOUT = ROOT / "fixtures" / "corpus" / "heldout.txt"

# Three epochs of nine or ten batches, a checkpoint after every four batches, and a learning rate
# that changes with every batch.
OFTEN_SAVED = """{
  num_samples: null, dropout: 0, save_every_num_seconds: null,
  optimizer: { type: 'dense_sparse_adam', lr: 0.01 },
  scheduler: { type: 'linear_with_warmup', warmup_steps: 5 },
  trainer+: { num_epochs: 3, checkpointer+: { save_every_num_batches: 4 } },
}"""


def shrunk(name: str, *changes: str) -> dict[str, Any]:
    """Returns a config of training_configs/bilm shrunk by the overlay, then changed."""
    return tiny("bilm", name, *(f"({change})" for change in changes))
