"""
Two references for the biLM: `ReferenceBiLm`, and AllenNLP's biLM. `ReferenceBiLm` is plain NumPy
that reads one token of one sentence at a time, and follows the paper and the layout of bilm-tf's
files alone. Random files for both are made here, too.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy
import torch
from allennlp.modules.elmo import _ElmoBiLm
from allennlp.nn.util import remove_sentence_boundaries

from elmo_tasks.bilm import BiLm
from tests.helpers.numpy_layers import sigmoid

Array = numpy.ndarray
# The state of one sentence: [direction][layer] -> (h, c).
State = list[list[tuple[Array, Array]]]

# A biLM reads this text five times over; a snapshot is the state after that.
PANGRAM = ["The", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "."]

FIXTURE = Path(__file__).parents[2] / "fixtures" / "bilm"
FIXTURE_FILES = (FIXTURE / "options.json", FIXTURE / "weights.hdf5")


def make_options(**changes: Any) -> dict[str, Any]:
    """
    Returns the content of the `options.json` of a small biLM. `changes` are values of keys of the
    file, for its section `char_cnn` if the key stands there and else for `lstm`.
    """
    cnn = {
        "activation": "relu",
        "filters": [[1, 4], [2, 6], [3, 5]],
        "n_highway": 2,
        "embedding": {"dim": 4},
        "n_characters": 262,
        "max_characters_per_token": 50,
    }
    lstm = {
        "use_skip_connections": True,
        "projection_dim": 6,
        "dim": 9,
        "n_layers": 2,
        "cell_clip": 3,
        "proj_clip": 3,
    }
    for key, value in changes.items():
        (cnn if key in cnn else lstm)[key] = value
    return {"char_cnn": cnn, "lstm": lstm}


def shapes(options: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Returns the shape of every dataset in the `weights.hdf5` of these options."""
    cnn, lstm = options["char_cnn"], options["lstm"]
    n, p = sum(num_filters for _, num_filters in cnn["filters"]), lstm["projection_dim"]
    char_dim, cell_dim = cnn["embedding"]["dim"], lstm["dim"]
    by_name: dict[str, tuple[int, ...]] = {"char_embed": (261, char_dim)}
    for i, (width, num_filters) in enumerate(cnn["filters"]):
        by_name[f"CNN/W_cnn_{i}"] = (1, width, char_dim, num_filters)
        by_name[f"CNN/b_cnn_{i}"] = (num_filters,)
    for k in range(cnn["n_highway"]):
        for gate in ("transform", "carry"):
            by_name[f"CNN_high_{k}/W_{gate}"] = (n, n)
            by_name[f"CNN_high_{k}/b_{gate}"] = (n,)
    by_name["CNN_proj/W_proj"], by_name["CNN_proj/b_proj"] = (n, p), (p,)
    for d in (0, 1):
        for layer in range(lstm["n_layers"]):
            cell = f"RNN_{d}/RNN/MultiRNNCell/Cell{layer}/LSTMCell"
            by_name[f"{cell}/W_0"] = (2 * p, 4 * cell_dim)
            by_name[f"{cell}/B"] = (4 * cell_dim,)
            by_name[f"{cell}/W_P_0"] = (cell_dim, p)
    return by_name


def random_weights(options: dict[str, Any], seed: int = 0) -> dict[str, Array]:
    """Returns random datasets, whose numbers are so large that every layer is of order 1."""
    random = numpy.random.RandomState(seed)
    weights = {}
    for name, shape in shapes(options).items():
        fan_in = numpy.prod(shape[:-1]) if len(shape) > 1 else 12
        width = 1.5 * numpy.sqrt(3 / fan_in) if name != "char_embed" else 1.0
        weights[name] = random.uniform(-width, width, shape).astype("float32")
    return weights


def write_files(
    folder: Path, options: dict[str, Any], weights: dict[str, Array]
) -> tuple[Path, Path]:
    """Writes the two files of a biLM, and returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    files = folder / "options.json", folder / "weights.hdf5"
    files[0].write_text(json.dumps(options))
    with h5py.File(files[1], "w") as file:
        for name, values in weights.items():
            file[name] = values
    return files


def random_files(folder: Path, seed: int = 0, **changes: Any) -> tuple[Path, Path]:
    """Writes the two files of a random biLM, and returns their paths."""
    options = make_options(**changes)
    return write_files(folder, options, random_weights(options, seed))


def read_datasets(weight_file: str | Path) -> dict[str, Array]:
    """Returns every dataset of a `weights.hdf5`, by its path in the file."""
    names: list[str] = []
    with h5py.File(weight_file, "r") as file:
        file.visit(names.append)
        return {name: file[name][...] for name in names if isinstance(file[name], h5py.Dataset)}


class ReferenceBiLm:
    """
    The biLM of Peters et al. 2018 (sections 3.1 and 3.2), read from bilm-tf's two files. It
    computes in float64.
    """

    def __init__(self, options_file: str | Path, weight_file: str | Path) -> None:
        options = json.loads(Path(options_file).read_text(encoding="utf-8"))
        self.cnn, self.lstm = options["char_cnn"], options["lstm"]
        self.num_characters = self.cnn["max_characters_per_token"]
        self.weights = {
            name: values.astype("float64") for name, values in read_datasets(weight_file).items()
        }

    def zeros(self) -> State:
        h, c = numpy.zeros(self.lstm["projection_dim"]), numpy.zeros(self.lstm["dim"])
        return [[(h, c)] * self.lstm["n_layers"] for _ in range(2)]

    def snapshot(self) -> State:
        """Returns the state after `PANGRAM`, read five times over."""
        state = self.zeros()
        for _ in range(5):
            _, state = self.layers(PANGRAM, state)
        return state

    def layers(self, tokens: list[str], state: State | None = None) -> tuple[Array, State]:
        """
        Reads one sentence from `state` on, by default zeros. Returns its layers, of shape
        (num_layers + 1, length, 2 * projection_dim), and the state at its end.
        """
        state = self.zeros() if state is None else state
        bounded: list[str | int] = [256, *tokens, 257]
        vectors = [self.token_vector(char_ids(token, self.num_characters)) for token in bounded]
        x = numpy.stack(vectors)
        forward, forward_state = self._stack(0, x, state[0])
        backward, backward_state = self._stack(1, x[::-1], state[1])
        layers = numpy.concatenate([forward, backward[:, ::-1]], axis=-1)
        return layers[:, 1:-1], [forward_state, backward_state]

    def token_vector(self, ids: list[int]) -> Array:
        """Returns x^LM of one token."""
        characters = self.weights["char_embed"][ids]
        pooled, activation = [], relu if self.cnn["activation"] == "relu" else numpy.tanh
        for i, (width, _) in enumerate(self.cnn["filters"]):
            kernel, bias = self.weights[f"CNN/W_cnn_{i}"][0], self.weights[f"CNN/b_cnn_{i}"]
            windows = [
                sum(characters[start + offset] @ kernel[offset] for offset in range(width)) + bias
                for start in range(len(ids) - width + 1)
            ]
            pooled.append(activation(numpy.max(windows, axis=0)))
        x = numpy.concatenate(pooled)
        for k in range(self.cnn["n_highway"]):
            g = sigmoid(self._linear(x, f"CNN_high_{k}", "carry"))
            x = g * relu(self._linear(x, f"CNN_high_{k}", "transform")) + (1 - g) * x
        return self._linear(x, "CNN_proj", "proj")

    def _linear(self, x: Array, group: str, name: str) -> Array:
        return x @ self.weights[f"{group}/W_{name}"] + self.weights[f"{group}/b_{name}"]

    def _stack(self, d: int, x: Array, state: list) -> tuple[Array, list]:
        """
        Returns all layers of one direction, x^LM first, and the state at the end. Tokens stand in
        the order in which the direction reads them.
        """
        layers, last = [x], []
        for layer in range(self.lstm["n_layers"]):
            output, end = self._lstm(
                f"RNN_{d}/RNN/MultiRNNCell/Cell{layer}/LSTMCell", x, state[layer]
            )
            x = output + x if layer > 0 and self.lstm["use_skip_connections"] else output
            layers.append(x)
            last.append(end)
        return numpy.stack(layers), last

    def _lstm(self, cell: str, x: Array, state: tuple[Array, Array]) -> tuple[Array, tuple]:
        h, c = state
        outputs = []
        for x_t in x:
            gates = numpy.concatenate([x_t, h]) @ self.weights[f"{cell}/W_0"]
            i, j, f, o = numpy.split(gates + self.weights[f"{cell}/B"], 4)
            c = clip(sigmoid(f + 1) * c + sigmoid(i) * numpy.tanh(j), self.lstm["cell_clip"])
            h = sigmoid(o) * numpy.tanh(c) @ self.weights[f"{cell}/W_P_0"]
            h = clip(h, self.lstm["proj_clip"])
            outputs.append(h)
        return numpy.stack(outputs), (h, c)


def char_ids(token: str | int, num: int) -> list[int]:
    """Returns the rows of `char_embed` for a token, or for one that is a special character."""
    characters = [token] if isinstance(token, int) else list(token.encode()[: num - 2])
    return [258, *characters, 259, *[260] * (num - 2 - len(characters))]


def relu(x: Array) -> Array:
    return numpy.maximum(x, 0)


def clip(x: Array, bound: float | None) -> Array:
    return x if bound is None else numpy.clip(x, -bound, bound)


def upstream_layers(upstream: _ElmoBiLm, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """
    Returns the layers and the mask of AllenNLP's biLM, without sentence boundaries and in the
    shapes of our biLM.
    """
    output = upstream(ids)
    parts = [remove_sentence_boundaries(layer, output["mask"]) for layer in output["activations"]]
    return torch.stack([layer for layer, _ in parts], dim=1), parts[0][1]


def assert_equals_upstream(bilm: BiLm, upstream: _ElmoBiLm, ids: torch.Tensor) -> torch.Tensor:
    """Asserts that both biLMs have the same layers and mask, and returns the layers of ours."""
    layers, mask = bilm(ids)
    expected_layers, expected_mask = upstream_layers(upstream, ids)

    torch.testing.assert_close(layers, expected_layers, atol=1e-5, rtol=0)
    assert torch.equal(mask, expected_mask)
    return layers


def upstream_tensors(
    upstream: _ElmoBiLm, get: Callable[[torch.Tensor], torch.Tensor]
) -> dict[str, torch.Tensor]:
    """
    Applies `get` to every parameter of AllenNLP's biLM, and returns the results by the names that
    the parameters have in our biLM.
    """
    encoder, lstm = upstream._token_embedder, upstream._elmo_lstm
    tensors = {
        "char_cnn.embedding": get(encoder._char_embedding_weights),
        "char_cnn.projection.weight": get(encoder._projection.weight),
        "char_cnn.projection.bias": get(encoder._projection.bias),
    }
    for part, theirs in (
        ("convolutions", encoder._convolutions),
        ("highways._layers", encoder._highways._layers),
    ):
        for index, module in enumerate(theirs):
            tensors[f"char_cnn.{part}.{index}.weight"] = get(module.weight)
            tensors[f"char_cnn.{part}.{index}.bias"] = get(module.bias)
    for direction in ("forward", "backward"):
        for index, cell in enumerate(getattr(lstm, f"{direction}_layers")):
            key = f"{direction}_stack.layers.{index}"
            tensors[f"{key}.input_weight"] = reorder_gates(get(cell.input_linearity.weight))
            tensors[f"{key}.recurrent_weight"] = reorder_gates(get(cell.state_linearity.weight))
            tensors[f"{key}.bias"] = reorder_gates(get(cell.state_linearity.bias))
            tensors[f"{key}.projection_weight"] = get(cell.state_projection.weight)
    return tensors


def reorder_gates(tensor: torch.Tensor) -> torch.Tensor:
    """
    Reorders the gates from PyTorch's order (input, forget, candidate, output) to ours (input,
    forget, output, candidate).
    """
    i, f, g, o = tensor.chunk(4)
    return torch.cat([i, f, o, g])
