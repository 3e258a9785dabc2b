from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy
import torch

from elmo_tasks.bilm import BiLm
from elmo_tasks.bilm.state import LstmState
from elmo_tasks.common.batches import batches_by_length
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.common.text import BEGIN_TOKEN, END_TOKEN
from elmo_tasks.elmo.sentence_layers import windows
from elmo_tasks.kernels.threads import operator_threads
from elmo_tasks.language_model.prediction import predict
from elmo_tasks.language_model.scoring.scores import Score
from elmo_tasks.language_model.softmax import Softmax

# A batch has at most this many tokens. The softmax is computed at once for a whole batch, in both
# directions together.
_TOKENS = 1024

_NOTHING = Score([], [], numpy.zeros(0, numpy.float32), numpy.zeros(0, numpy.float32), 0.0, 0.0)


class Reading(NamedTuple):
    """
    A batch of sentences that both directions of a biLM have read.

    # Parameters

    sentences: The tokens of each sentence, without its boundaries.
    outputs: The top layer of the forward and of the backward direction, packed: shapes
        (num_outputs, projection_dim). A sentence of n tokens has n + 1 outputs.
    targets: Shapes (num_outputs,). Output i predicts the token at position `targets[i]` of the
        batch, which has boundaries and is flattened from shape (batch, width).
    """

    sentences: list[list[str]]
    outputs: list[torch.Tensor]
    targets: list[torch.Tensor]

    @property
    def width(self) -> int:
        """The length of the longest sentence with its boundaries."""
        return max(map(len, self.sentences)) + 2


# Sentences that are scored together, and the sentences before them, which are their context.
Group = tuple[list[list[str]], list[list[str]]]

# Yields the scores of each group, in order, in this process (`map`) or in several (`in_processes`).
ScoreEngine = Callable[[Callable[[Group], list[Score]], Iterable[Group]], Iterable[list[Score]]]


class Scorer:
    """
    Reads sentences with both directions of a frozen biLM, and scores a stream of sentences in
    batches of similar length.
    """

    def __init__(self, bilm: BiLm, softmax: Softmax) -> None:
        self._bilm = bilm
        self._softmax = softmax

    @torch.no_grad()
    def read(
        self, sentences: Sequence[list[str]], state: LstmState | None = None
    ) -> tuple[Reading, LstmState]:
        """
        Reads a batch of sentences with the biLM. Each sentence starts from its row of `state`; by
        default from the biLM's start state. Sentences without tokens are not read, and at least one
        sentence must have tokens. Returns the biLM's outputs, and the state at the end of each
        sentence.
        """
        rows = [[BEGIN_TOKEN, *words, END_TOKEN] if words else [] for words in sentences]
        with operator_threads(1):
            char_ids = batch_char_ids(rows, self._bilm.options.max_characters)
        predictions, last = predict(self._bilm, char_ids.to(self._bilm.like.device), start=state)
        outputs, targets = (list(parts) for parts in zip(*predictions))
        return Reading(list(sentences), outputs, targets), last

    def iterate(
        self, sentences: Iterable[list[str]], context: int, engine: ScoreEngine
    ) -> Iterator[Score]:
        """Yields the scores of sentences (see `LanguageModel.iterate`)."""

        def groups() -> Iterator[Group]:
            before = deque[list[str]](maxlen=context)
            for group in windows(sentences):
                yield group, list(before)
                before.extend(group)

        for scores in engine(partial(self._scores_of_group, context), groups()):
            yield from scores

    def _scores_of_group(self, context: int, group: Group) -> list[Score]:
        sentences, before = group
        scores = [_NOTHING] * len(sentences)
        all_sentences = before + sentences
        for batch in batches_by_length(list(map(len, sentences)), _TOKENS):
            stops = [len(before) + index for index in batch]
            contexts = [_document(all_sentences[max(0, stop - context) : stop]) for stop in stops]
            state = self._after(contexts, context)
            reading, _ = self.read([sentences[index] for index in batch], state)
            for index, score in zip(batch, self.scores(reading)):
                scores[index] = score
        return scores

    def _after(self, contexts: list[list[list[str]]], context: int) -> LstmState | None:
        """Reads the context of each sentence of a batch, and returns the state after it."""
        state: LstmState | None = None
        for back in range(context, 0, -1):
            rows = [tokens[-back] if back <= len(tokens) else [] for tokens in contexts]
            if any(rows):
                _, state = self.read(rows, state)
        return state

    def scores(self, reading: Reading) -> list[Score]:
        """
        Returns the score of each sentence. Computes the softmax of all sentences by one matrix
        product.
        """
        # Shape: (tokens in both directions, projection_dim)
        h = torch.cat(reading.outputs)
        classes = self._classes(reading).to(h.device)
        log_probs = self._softmax.log_probs(h, classes[torch.cat(reading.targets)]).cpu()
        # Shapes: (batch, width)
        forward, backward = (
            _by_position(part, targets.cpu(), reading)
            for part, targets in zip(log_probs.chunk(2), reading.targets)
        )
        scores: list[Score] = []
        for words, ahead, back in zip(reading.sentences, forward, backward):
            inside, end = slice(1, len(words) + 1), len(words) + 1
            are_known = list(map(self._softmax.knows, words))
            boundaries = float(ahead[end]), float(back[0])
            scores.append(Score(words, are_known, ahead[inside], back[inside], *boundaries))
        return scores

    def _classes(self, reading: Reading) -> torch.Tensor:
        """Returns the class of each token, boundaries included, shape (batch * width,)."""
        classes = torch.zeros(len(reading.sentences), reading.width, dtype=torch.long)
        for row, words in zip(classes, reading.sentences):
            bounded = self._softmax.classes([BEGIN_TOKEN, *words, END_TOKEN])
            row[: len(bounded)] = torch.tensor(bounded)
        return classes.flatten()


def _document(sentences: list[list[str]]) -> list[list[str]]:
    """Returns the sentences of the last document. A sentence without tokens ends a document."""
    empty = [index for index, words in enumerate(sentences) if not words]
    return sentences[empty[-1] + 1 :] if empty else sentences


def _by_position(log_probs: torch.Tensor, targets: torch.Tensor, reading: Reading) -> numpy.ndarray:
    """Returns the log probability of each token of a batch: shape (batch, width)."""
    flat = log_probs.new_zeros(len(reading.sentences) * reading.width)
    flat[targets] = log_probs
    return flat.view(-1, reading.width).numpy()
