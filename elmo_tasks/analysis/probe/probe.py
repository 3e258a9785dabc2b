"""
Trains probes: classifiers that predict the tags of words from their vectors (Peters et al. 2018,
section 5.3).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from allennlp.common import Params
from torch.nn.functional import cross_entropy, normalize
from tqdm import tqdm

from elmo_tasks.analysis.probe.tagged_tokens import ColumnReader, TaggedTokens, embed
from elmo_tasks.analysis.tables import layer_name, table
from elmo_tasks.common.errors import check_choice
from elmo_tasks.common.from_fields import from_fields
from elmo_tasks.elmo.from_config import bilm_from_config, with_options
from elmo_tasks.elmo.mix import ElmoMix
from elmo_tasks.elmo.sentence_layers import SentenceLayers


class ProbeRow(NamedTuple):
    """
    The accuracy, from 0 to 1, of a baseline, a layer or the mix on the validation data. The mix has
    the `weights` s_j of equation (1).
    """

    name: str
    accuracy: float
    weights: list[float] | None = None


def accuracy(predicted: Sequence[str], tags: Sequence[tuple[str, ...]]) -> float:
    """Returns the share of the tokens whose predicted tag is a gold tag, from 0 to 1."""
    return sum(tag in gold for tag, gold in zip(predicted, tags, strict=True)) / len(tags)


class MostFrequent:
    """
    Predicts the tag that a word or lemma (`keys`) most often has in the training data. A word that
    the training data lack gets the most frequent tag of all words. Of two equally frequent tags,
    the tag that occurs first counts. A token with several tags counts once for each tag.
    """

    def __init__(self, keys: Iterable[str], tags: Iterable[tuple[str, ...]]) -> None:
        of_all: Counter[str] = Counter()
        of_key: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for key, gold in zip(keys, tags):
            of_all.update(gold)
            of_key[key].update(gold)
        self.of_all = of_all.most_common(1)[0][0]
        self._of_key = {key: counts.most_common(1)[0][0] for key, counts in of_key.items()}

    def of(self, key: str) -> str:
        return self._of_key.get(key, self.of_all)


@dataclass(frozen=True)
class LinearProbe:
    """
    Trains softmax regression on each layer alone, and on a mix of all layers with trained weights.
    Uses Adam and a learning rate that falls to 0. The number of epochs is fixed, so that nothing is
    chosen on the validation data. If a token has several gold tags, the probe learns the first.

    # Parameters

    batch_size: Tokens per batch.
    seed: The seed of the initial weights and of the order of the tokens.
    """

    num_epochs: int = 10
    batch_size: int = 256
    learning_rate: float = 0.003
    seed: int = 1

    def rows(self, train: TaggedTokens, validation: TaggedTokens) -> Iterator[ProbeRow]:
        """Yields the accuracy of each layer, from the token layer to the top, and of the mix."""
        num_layers = train.layers.size(1)
        parts = [(layer_name(j), slice(j, j + 1)) for j in range(num_layers)]
        for name, part in [*parts, ("mix", slice(None))]:
            # A layer is copied, so that its vectors are contiguous in memory.
            layers = train.layers[:, part].contiguous()
            model = self._train(train._replace(layers=layers), name)
            share = accuracy(model.predict(validation.layers[:, part]), validation.tags)
            yield ProbeRow(name, share, model.mix.weights.tolist() if name == "mix" else None)

    def _train(self, train: TaggedTokens, name: str) -> "SoftmaxRegression":
        random = torch.Generator().manual_seed(self.seed)
        model = SoftmaxRegression(train, random)
        index_of = {tag: index for index, tag in enumerate(model.tags)}
        labels = torch.tensor([index_of[tag] for tag, *_ in train.tags])
        num_steps = self.num_epochs * -(-len(labels) // self.batch_size)
        optimizer = torch.optim.Adam(model.parameters(), self.learning_rate)
        schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, num_steps)
        with tqdm(total=num_steps, desc=f"probe of {name}", unit="step") as progress:
            for _ in range(self.num_epochs):
                order = torch.randperm(len(labels), generator=random)
                for batch in order.split(self.batch_size):
                    loss = cross_entropy(model(train.layers[batch]), labels[batch])
                    optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    schedule.step()
                    progress.update()
        return model


class SoftmaxRegression(torch.nn.Module):
    """Softmax regression on a mix of layers. Its classes are the tags of the training data."""

    def __init__(self, train: TaggedTokens, random: torch.Generator) -> None:
        super().__init__()
        _, num_layers, dim = train.layers.shape
        self.tags = sorted({tag for tag, *_ in train.tags})
        self.mix = ElmoMix(num_layers, "all" if num_layers > 1 else 0, dropout=0.0)
        self.linear = torch.nn.Linear(dim, len(self.tags))
        torch.nn.init.normal_(self.linear.weight, std=dim**-0.5, generator=random)
        torch.nn.init.zeros_(self.linear.bias)

    def forward(self, layers: torch.Tensor) -> torch.Tensor:
        """Maps layers of shape (tokens, num_layers, dim) to scores of shape (tokens, tags)."""
        # The mix expects sentences, so all tokens are passed as one sentence.
        means = self.mix(layers.transpose(0, 1).unsqueeze(0), layers.new_ones(1, len(layers)))
        return self.linear(means.squeeze(0))

    @torch.no_grad()
    def predict(self, layers: torch.Tensor) -> list[str]:
        labels = torch.cat([self(group).argmax(dim=1) for group in layers.split(8192)])
        return [self.tags[label] for label in labels.tolist()]


@dataclass(frozen=True)
class NearestProbe:
    """
    Predicts the nearest sense of each word in each layer. The tags of a word are its senses. The
    vector of a sense is the mean over its tokens in the training data, and the nearest sense has
    the largest cosine. Of two equally near senses, the more frequent sense is predicted. A word
    that the training data lack gets the most frequent tag of all.
    """

    def rows(self, train: TaggedTokens, validation: TaggedTokens) -> Iterator[ProbeRow]:
        """Yields the accuracy of each layer, from the token layer to the top."""
        rows_of = _rows_of(train.keys)
        most_frequent = MostFrequent(train.keys, train.tags).of_all
        for layer in range(train.layers.size(1)):
            predicted = [most_frequent] * len(validation.keys)
            for key, rows in _rows_of(validation.keys).items():
                if key in rows_of:
                    senses, means = _means(train, layer, rows_of[key])
                    cosines = normalize(validation.layers[rows, layer].float()) @ means.T
                    # Rounding makes nearly equal cosines equal. The first of equal cosines is
                    # taken.
                    nearest = cosines.mul(1e4).round().argmax(dim=1)
                    for row, index in zip(rows, nearest.tolist()):
                        predicted[row] = senses[index]
            yield ProbeRow(layer_name(layer), accuracy(predicted, validation.tags))


# The probes by their `type` in a config.
PROBES: dict[str, Callable[..., LinearProbe | NearestProbe]] = {
    "linear": LinearProbe,
    "nearest": NearestProbe,
}


def _means(train: TaggedTokens, layer: int, rows: list[int]) -> tuple[list[str], torch.Tensor]:
    """
    Returns the senses of a word, the most frequent first, and their vectors, scaled to length 1:
    shape (senses, dim).
    """
    of_sense: defaultdict[str, list[int]] = defaultdict(list)
    for row in rows:
        for sense in train.tags[row]:
            of_sense[sense].append(row)
    senses = sorted(of_sense, key=lambda sense: -len(of_sense[sense]))
    means = [train.layers[of_sense[sense], layer].float().mean(0) for sense in senses]
    return senses, normalize(torch.stack(means))


def _rows_of(names: Iterable[str]) -> dict[str, list[int]]:
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for row, name in enumerate(names):
        rows[name].append(row)
    return rows


def run_config(config: dict[str, Any]) -> dict[str, Any]:
    """
    Runs the probe that a config describes, and returns a report as JSON (see `run_probe`).

    # Parameters

    config: Has `dataset_reader` (the parameters of a `ColumnReader`), `train_data_path`,
        `validation_data_path` and `model`. `model` has a `bilm`, the `type` of the probe (see
        `PROBES`) and the parameters of the probe.
    """
    params = Params(with_options(config))
    reader = from_fields(ColumnReader, params.pop("dataset_reader").as_dict(quiet=True))
    paths = [params.pop(f"{name}_data_path") for name in ("train", "validation")]
    model = params.pop("model")
    bilm = model.pop("bilm").as_dict(quiet=True)
    kind = model.pop("type", "linear")
    check_choice("type of the model", kind, PROBES)
    probe = from_fields(PROBES[kind], model.as_dict(quiet=True))
    params.assert_empty("elmo-probe")
    sentence_layers = SentenceLayers(bilm_from_config(bilm).eval())
    title = f"{reader.tag_column} of {paths[1]} in {bilm.get('pretrained_file')}"
    # All files are read before any layers are computed, so that their errors are found early.
    sentences = [list(reader.read(path)) for path in paths]
    train, validation = (embed(sentence_layers, part) for part in sentences)
    return run_probe(title, probe, train, validation)


def run_probe(
    title: str, probe: LinearProbe | NearestProbe, train: TaggedTokens, validation: TaggedTokens
) -> dict[str, Any]:
    """
    Trains and evaluates a probe and two baselines: the most frequent tag of all tokens, and the
    most frequent tag of each word. Returns the `title` and the `rows` of the baselines and of the
    probe.
    """
    most_frequent = MostFrequent(train.keys, train.tags)
    of_all = [most_frequent.of_all] * len(validation.tags)
    of_words = [most_frequent.of(key) for key in validation.keys]
    rows = [
        ProbeRow("most frequent tag", accuracy(of_all, validation.tags)),
        ProbeRow("most frequent tag of each word", accuracy(of_words, validation.tags)),
        *probe.rows(train, validation),
    ]
    return {"title": title, "rows": [row._asdict() for row in rows]}


def text_of(report: dict[str, Any]) -> str:
    rows = report["rows"]
    cells = [[row["name"], f"{100 * row['accuracy']:.2f}"] for row in rows]
    lines = [report["title"], "", table(["", "accuracy, %"], cells)]
    for weights in filter(None, (row["weights"] for row in rows)):
        parts = [f"{weight:.3f} {layer_name(j)}" for j, weight in enumerate(weights)]
        lines += ["", f"Weights of the layers in the mix: {', '.join(parts)}."]
    return "\n".join(lines)
