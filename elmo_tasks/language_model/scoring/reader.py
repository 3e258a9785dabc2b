from collections.abc import Sequence
from typing import NamedTuple

import torch

from elmo_tasks.bilm import BiLm
from elmo_tasks.bilm.characters import batch_char_ids
from elmo_tasks.bilm.state import LstmState
from elmo_tasks.common.boundaries import BEGIN_TOKEN, END_TOKEN
from elmo_tasks.kernels.threads import operator_threads
from elmo_tasks.language_model.prediction import predict_from


class Reading(NamedTuple):
    """
    What a language model needs to score a batch of sentences.

    # Parameters

    sentences: The tokens of each sentence, without its boundaries.
    outputs: The top layer of the forward and of the backward direction, packed: shapes
        (num_outputs, projection_dim). A sentence of n tokens has n + 1 outputs.
    targets: The index of the token that each output predicts, among the tokens of the batch: with
        both boundaries, and flattened from shape (batch, width). Shapes (num_outputs,).
    """

    sentences: list[list[str]]
    outputs: list[torch.Tensor]
    targets: list[torch.Tensor]

    @property
    def width(self) -> int:
        """The length of the longest sentence with its boundaries."""
        return max(map(len, self.sentences)) + 2


class Reader:
    """
    Runs both directions of a biLM over sentences. A sentence starts from the biLM's start state, or
    from the state in which another sentence ended.

    # Parameters

    bilm: A frozen biLM.
    """

    def __init__(self, bilm: BiLm) -> None:
        self._bilm = bilm

    def read(
        self, sentences: Sequence[list[str]], state: LstmState | None = None
    ) -> tuple[Reading, LstmState]:
        """
        Reads a batch of sentences, at least one of them with tokens.

        # Parameters

        sentences: A sentence without tokens is not read. Its row ends in its start state.
        state: The state that each row starts from, by default the biLM's start state.

        # Returns

        What was read, and the state in which each row ended.
        """
        rows = [[BEGIN_TOKEN, *words, END_TOKEN] if words else [] for words in sentences]
        outputs, targets, state = self._run(rows, state)
        return Reading(list(sentences), outputs, targets), state

    def read_words(
        self, words: list[str], state: LstmState | None = None
    ) -> tuple[torch.Tensor, LstmState]:
        """
        Reads a part of a sentence in the forward direction. The first part begins with the
        boundary, which counts as a word. Returns the top layer at the last word, shape (1,
        projection_dim), and the state from which the sentence goes on.
        """
        outputs, _, state = self._run([[*words, END_TOKEN]], state)
        return outputs[0][-1:], state

    @torch.no_grad()
    def _run(
        self, rows: list[list[str]], state: LstmState | None
    ) -> tuple[list[torch.Tensor], list[torch.Tensor], LstmState]:
        like = self._bilm.like
        if state is None:
            state = self._bilm.state.before(len(rows), like)
        with operator_threads(1):
            char_ids = batch_char_ids(rows, self._bilm.options.max_characters)
        predictions, last = predict_from(self._bilm, state, char_ids.to(like.device))
        outputs, targets = (list(parts) for parts in zip(*predictions))
        return outputs, targets, last
