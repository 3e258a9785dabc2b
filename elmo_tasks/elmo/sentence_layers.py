from collections.abc import Iterable, Iterator

import torch
from tqdm import tqdm

from elmo_tasks.bilm import BiLm, FrozenBiLm
from elmo_tasks.common.batches import batches_by_length
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.common.errors import check_positive
from elmo_tasks.elmo.sentences import Sentence, sentences_of
from elmo_tasks.kernels.threads import operator_threads

# The size of the groups in which sentences are sorted by length (see `windows`). The layers of a
# group are in memory at once: 200 MB for a biLM of the original size.
WINDOW_TOKENS = 16384

# Batches of fewer sentences are slow, so a batch of up to this many may have more tokens. With
# lines of 1,000 tokens, `mini` is five times as fast at 16 lines a batch as at 2.
MIN_SENTENCES = 16


class SentenceLayers:
    """
    Computes the layers of sentences, in batches of sentences of similar length. The layers of a
    sentence do not depend on the other sentences.

    # Parameters

    bilm: The biLM, on any device. If the biLM trains or carries its state from batch to batch, a
        frozen copy is used.
    batch_tokens: The maximum number of tokens per batch, padding included. A batch
        of at most 16 long sentences may have eight times as many.
    """

    def __init__(self, bilm: BiLm, batch_tokens: int = 2048) -> None:
        check_positive("batch_tokens", batch_tokens)
        frozen = isinstance(bilm, FrozenBiLm)
        if frozen and not bilm.training and bilm.state_name != "carry":
            self.bilm = bilm
        else:
            self.bilm = FrozenBiLm.of(bilm, bilm.store if frozen else None)
        self.batch_tokens = batch_tokens

    def __call__(
        self, sentences: Iterable[Sentence], progress: tqdm | None = None
    ) -> Iterator[torch.Tensor]:
        """
        Yields the layers of each sentence of a stream (see `sentences_of`), in order, in bounded
        memory: shape (num_layers, length, 2 * projection_dim), on the CPU. A string is cut at white
        space. Layer 0 is [x^LM; x^LM]. The tensors of one batch are views of the same memory.
        `progress` counts the tokens. Raises `ValueError` as `sentences_of` does.
        """
        return self.of_tokens(sentences_of(sentences), progress)

    def of_tokens(
        self, sentences: Iterable[list[str]], progress: tqdm | None = None
    ) -> Iterator[torch.Tensor]:
        """
        Yields the layers of sentences of tokens from spaCy or a reader of files. The tokens are not
        checked: for example, a token of Vietnamese may have blanks inside.
        """
        max_characters = self.bilm.options.max_characters
        for window in windows(sentences):
            layers = [self.no_layers()] * len(window)
            lengths = list(map(len, window))
            for batch in batches_by_length(lengths, self.batch_tokens, MIN_SENTENCES):
                with operator_threads(1):
                    char_ids = batch_char_ids([window[index] for index in batch], max_characters)
                batch_layers = self.bilm(char_ids.to(self.bilm.like.device)).layers.to(self._dtype)
                for index, row in zip(batch, batch_layers.cpu()):
                    layers[index] = row[:, : len(window[index])]
                if progress is not None:
                    progress.update(sum(len(window[index]) for index in batch))
            yield from layers

    def no_layers(self) -> torch.Tensor:
        """Returns the layers of a sentence without tokens."""
        shape = self.bilm.num_layers, 0, self.bilm.get_output_dim()
        return torch.zeros(shape, dtype=self._dtype)

    @property
    def _dtype(self) -> torch.dtype:
        """
        The dtype of the layers: float32 for a biLM in half precision, otherwise the dtype of the
        biLM.
        """
        return torch.promote_types(self.bilm.like.dtype, torch.float32)


def windows(
    sentences: Iterable[list[str]], num_tokens: int | None = None
) -> Iterator[list[list[str]]]:
    """
    Yields sentences in groups. A group ends as soon as its tokens and its sentences, counted
    together, are `num_tokens` or more (by default `WINDOW_TOKENS`).
    """
    num_tokens = WINDOW_TOKENS if num_tokens is None else num_tokens
    window: list[list[str]] = []
    size = 0
    for words in sentences:
        window.append(words)
        # A sentence counts 1 besides its tokens, so that a group of empty sentences ends too.
        size += len(words) + 1
        if size >= num_tokens:
            yield window
            window, size = [], 0
    if window:
        yield window
