"""
A small biLM of ELMoForManyLangs with random weights, in the files of its release, and its layers in
NumPy, in float64. It follows the description of the release: one sentence is read token by token.
"""

import json
from pathlib import Path
from typing import Any

import numpy
import torch

from tests.helpers.numpy_layers import sigmoid

Array = numpy.ndarray

SIZES: dict[str, Any] = {
    "encoder": {
        "name": "elmo",
        "projection_dim": 6,
        "cell_clip": 3,
        "proj_clip": 3,
        "dim": 9,
        "n_layers": 2,
    },
    "token_embedder": {
        "name": "cnn",
        "activation": "relu",
        "filters": [[1, 3], [2, 4], [3, 5]],
        "n_highway": 2,
        "word_dim": 5,
        "char_dim": 4,
        "max_characters_per_token": 20,
    },
    "dropout": 0.1,
}
# The padding is not the last character, and there is an ideographic space.
CHARACTERS = [
    "<eow>",
    "<bow>",
    "<pad>",
    "<oov>",
    "<bos>",
    "<eos>",
    "\u3000",
    *"abcde\u0130\u0e44\u4e2d",
]
WORDS = ["<oov>", "<bos>", "<eos>", "<pad>", "abc", "\u4e2d", "\u3000", "\u0e44\u0e17\u0e22"]
SENTENCES = [
    ["abc", "\u4e2d", "zebra", "\u0130c", "\u3000"],
    ["a" * 19],
    ["b" * 40, "\u0e44\u0e17\u0e22"],
]


def tensors(seed: int = 0) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Returns the random tensors of `token_embedder.pkl` and of `encoder.pkl`."""
    torch.manual_seed(seed)
    sizes, encoder = SIZES["token_embedder"], SIZES["encoder"]
    num_filters = sum(n for _, n in sizes["filters"])
    p, c = encoder["projection_dim"], encoder["dim"]
    tokens = {
        "word_emb_layer.embedding.weight": torch.randn(len(WORDS), sizes["word_dim"]),
        "char_emb_layer.embedding.weight": torch.randn(len(CHARACTERS), sizes["char_dim"]),
    }
    for i, (width, n) in enumerate(sizes["filters"]):
        tokens[f"convolutions.{i}.weight"] = torch.randn(n, sizes["char_dim"], width) / 2
        tokens[f"convolutions.{i}.bias"] = torch.randn(n) / 2
    for i in range(sizes["n_highway"]):
        tokens[f"highways._layers.{i}.weight"] = torch.randn(2 * num_filters, num_filters) / 3
        tokens[f"highways._layers.{i}.bias"] = torch.randn(2 * num_filters)
    tokens["projection.weight"] = torch.randn(p, sizes["word_dim"] + num_filters) / 4
    tokens["projection.bias"] = torch.randn(p)
    lstms = {}
    for direction in ("forward", "backward"):
        for i in range(encoder["n_layers"]):
            layer = f"{direction}_layer_{i}"
            lstms[f"{layer}.input_linearity.weight"] = torch.randn(4 * c, p) / 2
            lstms[f"{layer}.state_linearity.weight"] = torch.randn(4 * c, p) / 2
            lstms[f"{layer}.state_linearity.bias"] = torch.randn(4 * c)
            lstms[f"{layer}.state_projection.weight"] = torch.randn(p, c)
    return tokens, lstms


def write(folder: Path, old: bool = False, sizes_in: str | None = ".") -> Path:
    """Writes the files, in the format of PyTorch 0.4 if `old`, the sizes to a subfolder."""
    folder.mkdir(parents=True)
    for name, part in zip(("token_embedder.pkl", "encoder.pkl"), tensors()):
        torch.save(part, folder / name, _use_new_zipfile_serialization=not old)
    for name, entries in (("char.dic", CHARACTERS), ("word.dic", WORDS)):
        lines = [f"{entry}\t{number}\n" for number, entry in enumerate(entries)]
        (folder / name).write_text("".join(reversed(lines)), encoding="utf-8")
    (folder / "config.json").write_text(json.dumps({"config_path": "/home/x/configs/sizes.json"}))
    if sizes_in is not None:
        (folder / sizes_in).mkdir(exist_ok=True)
        (folder / sizes_in / "sizes.json").write_text(json.dumps(SIZES))
    return folder


def layers(sentence: list[str]) -> Array:
    """Returns the layers of a sentence that is read first: (num_layers + 1, length, 2 * dim)."""
    tokens, lstms = (
        {name: part.double().numpy() for name, part in each.items()} for each in tensors()
    )
    x = numpy.stack([_token(word, tokens) for word in ["<bos>", *sentence, "<eos>"]])
    layers = [numpy.concatenate([x, x], axis=1)]
    directions = []
    for direction, inputs in (("forward", x), ("backward", x[::-1])):
        outputs = []
        for i in range(SIZES["encoder"]["n_layers"]):
            output = _lstm(inputs, lstms, f"{direction}_layer_{i}")
            inputs = output + inputs if i > 0 else output
            outputs.append(inputs if direction == "forward" else inputs[::-1])
        directions.append(outputs)
    layers += [numpy.concatenate(pair, axis=1) for pair in zip(*directions)]
    return numpy.stack(layers)[:, 1:-1]


def _token(word: str, tensors: dict[str, Array]) -> Array:
    sizes = SIZES["token_embedder"]
    most = sizes["max_characters_per_token"]
    is_boundary = word in ("<bos>", "<eos>")
    word = word if is_boundary else word[: most - 2]
    marked = ["<eow>", *([word] if is_boundary else word), "<bow>"]
    entries = marked + ["<pad>"] * (most - len(marked))
    ids = [CHARACTERS.index(each if each in CHARACTERS else "<oov>") for each in entries]
    characters = tensors["char_emb_layer.embedding.weight"][ids]
    pooled = []
    for i, (width, _) in enumerate(sizes["filters"]):
        weight, bias = tensors[f"convolutions.{i}.weight"], tensors[f"convolutions.{i}.bias"]
        windows = [characters[k : k + width].T for k in range(most - width + 1)]
        responses = [(weight * window).sum(axis=(1, 2)) + bias for window in windows]
        pooled.append(numpy.maximum(numpy.max(responses, axis=0), 0))
    y = numpy.concatenate(pooled)
    for i in range(sizes["n_highway"]):
        both = tensors[f"highways._layers.{i}.weight"] @ y + tensors[f"highways._layers.{i}.bias"]
        new, gate = numpy.split(both, 2)
        gate = sigmoid(gate)
        y = gate * y + (1 - gate) * numpy.maximum(new, 0)
    of_word = tensors["word_emb_layer.embedding.weight"][
        WORDS.index(word if word in WORDS else "<oov>")
    ]
    whole = numpy.concatenate([of_word, y])
    return tensors["projection.weight"] @ whole + tensors["projection.bias"]


def _lstm(inputs: Array, tensors: dict[str, Array], layer: str) -> Array:
    sizes = SIZES["encoder"]
    h, c = numpy.zeros(sizes["projection_dim"]), numpy.zeros(sizes["dim"])
    outputs = []
    for x in inputs:
        gates = (
            tensors[f"{layer}.input_linearity.weight"] @ x
            + tensors[f"{layer}.state_linearity.weight"] @ h
            + tensors[f"{layer}.state_linearity.bias"]
        )
        i, f, g, o = numpy.split(gates, 4)
        c = sigmoid(f) * c + sigmoid(i) * numpy.tanh(g)
        c = numpy.clip(c, -sizes["cell_clip"], sizes["cell_clip"])
        h = tensors[f"{layer}.state_projection.weight"] @ (sigmoid(o) * numpy.tanh(c))
        h = numpy.clip(h, -sizes["proj_clip"], sizes["proj_clip"])
        outputs.append(h)
    return numpy.stack(outputs)
