"""Parts of speech by ridge regression, which has nothing to tune and one solution."""

from pathlib import Path

import torch
from allennlp.common.util import lazy_groups_of

from benchmarks.knowledge.layers import SIDE_BY_SIDE, Rows
from elmo_tasks.analysis.probe.probe import MostFrequent, accuracy
from elmo_tasks.analysis.probe.tagged_tokens import ColumnReader, GoldSentence
from elmo_tasks.analysis.tables import layer_name
from elmo_tasks.elmo import ElmoEncoder

_READER = ColumnReader(["word", "universal", "pos"], "pos")
_PENALTY = 1.0
_GROUP = 1000
_PREFIX = "parts of speech: "


def measure(encoder: ElmoEncoder, data: Path) -> Rows:
    """
    Returns the accuracy on EWT's dev part of each layer, and of all side by side. The sums of
    products are taken over all layers once; those of a layer are a part of them.
    """
    train, dev = _read(data, "train"), _read(data, "dev")
    tags = sorted({tag for sentence in train for (tag,) in sentence.tags})
    index_of = {tag: index for index, tag in enumerate(tags)}
    bilm = encoder.bilm
    width = (bilm.num_layers - 1) * bilm.get_output_dim() + bilm.get_output_dim() // 2 + 1
    products, sums = torch.zeros(width, width), torch.zeros(width, len(tags))
    for group in lazy_groups_of(train, _GROUP):
        inputs = _inputs(encoder, group)
        targets = [index_of[tag] for sentence in group for (tag,) in sentence.tags]
        products += inputs.T @ inputs
        sums += inputs.T @ torch.eye(len(tags))[targets]
    inputs, right = _inputs(encoder, dev), [tags for sentence in dev for tags in sentence.tags]
    rows: Rows = {}
    for name, columns in _columns(encoder).items():
        system = products[columns][:, columns] + _PENALTY * torch.eye(len(columns))
        weights = torch.linalg.solve(system.double(), sums[columns].double()).float()
        best = (inputs[:, columns] @ weights).argmax(1).tolist()
        rows[_PREFIX + name] = [100 * accuracy([tags[index] for index in best], right)]
    return rows


def baselines(data: Path) -> Rows:
    train, dev = (
        [(key, tags) for sentence in _read(data, part) for key, tags in zip(*sentence[1:])]
        for part in ("train", "dev")
    )
    most_frequent = MostFrequent([key for key, _ in train], [tags for _, tags in train])
    predicted = [most_frequent.of(key) for key, _ in dev]
    return {
        f"{_PREFIX}most frequent of each word": [
            100 * accuracy(predicted, [right for _, right in dev])
        ]
    }


def _read(data: Path, part: str) -> list[GoldSentence]:
    return list(_READER.read(data / f"pos/ewt.{part}.txt"))


def _inputs(encoder: ElmoEncoder, sentences: list[GoldSentence]) -> torch.Tensor:
    """Returns, for each token, x^LM, the layers of LSTMs, and a 1: shape (tokens, width)."""
    rows = []
    for layers in encoder.layers(sentence.words for sentence in sentences):
        tokens, *contextual = layers
        one = tokens.new_ones(len(tokens), 1)
        rows.append(torch.cat([tokens.chunk(2, dim=1)[0], *contextual, one], dim=1))
    return torch.cat(rows)


def _columns(encoder: ElmoEncoder) -> dict[str, list[int]]:
    """Returns the columns of `_inputs` that belong to each layer, the last one included."""
    dim = encoder.bilm.get_output_dim()
    ends = [dim // 2 + dim * layer for layer in range(encoder.bilm.num_layers)]
    views = {
        layer_name(layer): [*range(start, end), ends[-1]]
        for layer, (start, end) in enumerate(zip([0, *ends], ends))
    }
    return {**views, SIDE_BY_SIDE: list(range(ends[-1] + 1))}
