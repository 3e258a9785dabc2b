"""Entities of CoNLL-2003 by a small tagger, a biLSTM over the layers side by side."""

from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import torch
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence

from benchmarks.knowledge.glove import read_glove
from benchmarks.knowledge.layers import SIDE_BY_SIDE, Rows, views
from elmo_tasks.common.records import read_records
from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.readers.entities import Entity, read_entities, write_tags

NUM_TRAIN, NUM_DEV = 3000, 1500
_EPOCHS, _BATCH_SIZE, _HIDDEN_DIM, _DROPOUT = 8, 16, 100, 0.5
_LEARNING_RATE = 2e-3
_SEEDS = (1, 2)


# The words and the tags, in BIO, of sentences.
Tagged = list[tuple[list[str], list[str]]]
Vectors = Callable[[Iterable[list[str]]], list[torch.Tensor]]


def measure(encoder: ElmoEncoder, data: Path) -> Rows:
    def vectors(sentences: Iterable[list[str]]) -> list[torch.Tensor]:
        layers = encoder.layers(sentences)
        return [views(tensor.transpose(0, 1))[SIDE_BY_SIDE] for tensor in layers]

    return {f"CoNLL-2003, F1: {SIDE_BY_SIDE}": _scores(vectors, data)}


def baselines(data: Path) -> Rows:
    glove = read_glove(data)

    def vector(word: str) -> torch.Tensor:
        shape = [word[:1].isupper(), word.isupper(), any(map(str.isdigit, word))]
        return torch.cat([torch.from_numpy(glove.mean([word])), torch.tensor(shape).float()])

    def vectors(sentences: Iterable[list[str]]) -> list[torch.Tensor]:
        return [torch.stack([vector(word) for word in words]) for words in sentences]

    return {"CoNLL-2003, F1: GloVe, capitals and digits": _scores(vectors, data)}


def _scores(vectors: Vectors, data: Path) -> list[float]:
    """Returns the F1 on the dev part, as conlleval computes it, of a tagger of each seed."""
    train = read_tagged(data / "conll2003/eng.train", NUM_TRAIN)
    dev = read_tagged(data / "conll2003/eng.testa", NUM_DEV)
    train_inputs, dev_inputs = (vectors(words for words, _ in part) for part in (train, dev))
    names = sorted({tag for _, tags in train for tag in tags})
    index_of = {tag: index for index, tag in enumerate(names)}
    targets = [torch.tensor([index_of[tag] for tag in tags]) for _, tags in train]
    scores = []
    for seed in _SEEDS:
        torch.manual_seed(seed)
        tagger = _Tagger(train_inputs[0].size(1), len(names))
        _train(tagger, train_inputs, targets)
        with torch.no_grad():
            best = [tagger([inputs])[0].argmax(1).tolist() for inputs in dev_inputs]
        predicted = _entities([names[tag] for tag in tags] for tags in best)
        gold = _entities(tags for _, tags in dev)
        scores.append(200 * len(predicted & gold) / (len(predicted) + len(gold)))
    return scores


def read_tagged(path: Path, num_sentences: int | None = None) -> Tagged:
    """Returns the first sentences of a file of CoNLL-2003, or all of them."""
    records = read_records(path, "columns", ["word", "pos", "chunk", "ner"])
    return [
        (words, write_tags(read_entities(record.values["ner"]), len(words), "BIO"))
        for record in islice(records, num_sentences)
        for words in [record.values["word"]]
    ]


def _train(tagger: "_Tagger", inputs: list[torch.Tensor], targets: list[torch.Tensor]) -> None:
    optimizer = torch.optim.Adam(tagger.parameters(), lr=_LEARNING_RATE)
    for _ in range(_EPOCHS):
        for batch in torch.randperm(len(inputs)).split(_BATCH_SIZE):
            scores = torch.cat(tagger([inputs[index] for index in batch]))
            right = torch.cat([targets[index] for index in batch])
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(scores, right).backward()
            optimizer.step()
    tagger.eval()


def _entities(sentences: Iterable[list[str]]) -> set[tuple[int, Entity]]:
    return {
        (index, entity) for index, tags in enumerate(sentences) for entity in read_entities(tags)
    }


class _Tagger(torch.nn.Module):
    def __init__(self, input_dim: int, num_tags: int) -> None:
        super().__init__()
        self.dropout = torch.nn.Dropout(_DROPOUT)
        self.lstm = torch.nn.LSTM(input_dim, _HIDDEN_DIM, bidirectional=True)
        self.scores = torch.nn.Linear(2 * _HIDDEN_DIM, num_tags)

    def forward(self, sentences: list[torch.Tensor]) -> list[torch.Tensor]:
        """Returns the scores of the tags of each sentence: shape (length, tags)."""
        packed = pack_sequence(
            [self.dropout(sentence) for sentence in sentences], enforce_sorted=False
        )
        padded, lengths = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return [
            self.scores(self.dropout(row[:length])) for row, length in zip(padded, lengths.tolist())
        ]
