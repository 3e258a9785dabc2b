"""The layers of five biLMs: of characters, of words, of ELMoForManyLangs, `mini` and `base`."""

import json
from pathlib import Path
from typing import Any

import h5py
import numpy

from elmo_tasks import ElmoEncoder
from tests.golden.numbers import summary

SENTENCES = [
    "The boat left one bank of the river for the other bank .",
    "Zoë 's naïve plan : 100 % of <b> charm , and incomprehensibilities !",
    "Banks lend money .",
    "No",
]
WORDS = ["<S>", "</S>", "<UNK>", *sorted({word for line in SENTENCES[:3] for word in line.split()})]


def words_bilm(folder: Path) -> Path:
    """Writes a random biLM of words, as bilm-tf does after training one."""
    folder.mkdir()
    random = numpy.random.RandomState(0)
    width, cells = 6, 10
    lstm = {"projection_dim": width, "dim": cells, "n_layers": 2, "cell_clip": 3, "proj_clip": 3}
    options = {"lstm": {**lstm, "use_skip_connections": True}, "n_tokens_vocab": len(WORDS)}
    (folder / "options.json").write_text(json.dumps({**options, "bidirectional": True}))
    (folder / "vocab.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    with h5py.File(folder / "weights.hdf5", "w") as file:

        def write(name: str, *shape: int) -> None:
            file[name] = random.uniform(-0.8, 0.8, shape).astype("float32")

        write("embedding", len(WORDS), width)
        for direction in (0, 1):
            for layer in (0, 1):
                cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
                write(f"{cell}/W_0", 2 * width, 4 * cells)
                write(f"{cell}/B", 4 * cells)
                write(f"{cell}/W_P_0", cells, width)
    return folder


def layers(name: str | Path) -> dict[str, Any]:
    """Returns the outputs of `ElmoEncoder` for `SENTENCES`, in float32, without padding."""
    encoder = ElmoEncoder.from_pretrained(name, dtype="float32", as_numpy=True)
    outputs = encoder(SENTENCES)
    mask = outputs.pop("mask")
    return {
        "mask": mask.tolist(),
        **{
            name: summary(values if name == "default" else values[mask])
            for name, values in outputs.items()
        },
    }
