"""The sizes of the biLMs that are measured."""

import json
from pathlib import Path
from typing import Any

from elmo_tasks.bilm.files.known_bilms import bilm_files

# The sizes of biLMs that are part of the package.
SHIPPED = ["mini", "base"]
# The released sizes: memory of an LSTM, output of an LSTM, number of highway layers.
SIZES = {"small": (1024, 128, 1), "medium": (2048, 256, 1), "original": (4096, 512, 2)}
FILTERS = [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]]


def make_options(size: str) -> dict[str, Any]:
    """Returns the options of one of `SHIPPED` or `SIZES`."""
    if size in SHIPPED:
        return json.loads(Path(bilm_files(size)[0]).read_text(encoding="utf-8"))
    cell_dim, projection_dim, num_highway = SIZES[size]
    return {
        "lstm": {
            "use_skip_connections": True,
            "projection_dim": projection_dim,
            "cell_clip": 3,
            "proj_clip": 3,
            "dim": cell_dim,
            "n_layers": 2,
        },
        "char_cnn": {
            "activation": "relu",
            "filters": FILTERS,
            "n_highway": num_highway,
            "embedding": {"dim": 16},
            "n_characters": 262,
            "max_characters_per_token": 50,
        },
        "state": "reset",
    }
