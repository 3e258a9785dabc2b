import logging
import math
from typing import Any, NamedTuple

import numpy
import torch
from allennlp.common import Tqdm
from allennlp.data import Vocabulary
from allennlp.training import TrainerCallback

from elmo_tasks.bilm.char_cnn import CharCnn
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.processes import broadcast
from elmo_tasks.common.vector_files import read_vectors
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax

logger = logging.getLogger(__name__)

# Standard deviation of the word vectors as rows of the softmax, chosen by small trials.
_SOFTMAX_SCALE = 0.15
# The most words that are read from a file.
_MAX_WORDS = 200_000
# Standard deviation of the word vectors as targets of the character CNN, chosen by small trials.
_SCALE = 0.5
_WORDS_PER_BATCH = 512
_LEARNING_RATE = 0.006
_WARMUP_BATCHES = 100
# A word of rank r is drawn in proportion to (r + 20)^-0.6. With the frequency itself, r^-1, words
# beyond the first two thousand would hardly be drawn.
_RANK_OFFSET, _RANK_POWER = 20, -0.6


class FileVectors(NamedTuple):
    """
    # Parameters

    words: The words of the file, the most frequent first.
    vectors: Shape (words, dim).
    """

    words: list[str]
    vectors: torch.Tensor

    def standardized(self, max_dim: int) -> "FileVectors":
        """Returns the vectors in at most `max_dim` dimensions, each of mean 0 and variance 1."""
        vectors = self.vectors - self.vectors.mean(dim=0)
        if vectors.size(1) > max_dim:
            # Shape: (dim, dim). The directions of the greatest variance come last.
            _, directions = torch.linalg.eigh(vectors.T @ vectors)
            vectors = vectors @ directions[:, -max_dim:]
        return FileVectors(self.words, vectors / vectors.std(dim=0).clamp(min=1e-6))


def read_word_vectors(path: str, max_words: int) -> FileVectors:
    """Reads at most `max_words` words and their vectors (see `read_vectors`)."""
    vectors = read_vectors(path, max_words=max_words)
    if len(vectors) < 2:
        raise ConfigurationError(f"{path} has {len(vectors)} word vectors; two or more are needed")
    return FileVectors(list(vectors), torch.from_numpy(numpy.stack(list(vectors.values()))))


class VectorFit(NamedTuple):
    """
    Holds words and the vectors that a character CNN learns for them, as in MIMICK (Pinter et al.
    2017).

    # Parameters

    char_ids (`torch.LongTensor`): Shape (words, max_characters).
    vectors: Shape (file's words, dim): standardized vectors, times 0.5.
    rows (`torch.LongTensor`): Shape (words,): the row of each word in `vectors`.
    cumulative: Shape (words,): the cumulative probability that a word is drawn.
    """

    char_ids: torch.Tensor
    vectors: torch.Tensor
    rows: torch.Tensor
    cumulative: torch.Tensor

    @classmethod
    def of(cls, words: FileVectors, vocab: Vocabulary, max_characters: int) -> "VectorFit":
        """
        Takes the words of a file, and each word of a vocabulary that is in the file itself or in
        lower case. A word is cut to `max_characters`, word boundaries included. Words with the same
        vector share the probability that this vector is drawn, in proportion to their frequencies.
        The frequency of a word is about 1 / its rank in the vocabulary.
        """
        ranks = {word: rank for rank, word in enumerate(words.words)}
        forms: dict[str, int] = {}
        weights: list[float] = []
        for word, index in vocab.get_token_to_index_vocabulary("tokens").items():
            row = ranks.get(word, ranks.get(word.lower()))
            if row is not None:
                forms[word] = row
                weights.append(1 / (index + 1))
        # A word that the vocabulary lacks counts as rarer than the vocabulary's last word.
        rare = 1 / (vocab.get_vocab_size("tokens") + 1)
        for word, row in ranks.items():
            if word not in forms:
                forms[word] = row
                weights.append(rare)
        rows, share = torch.tensor(list(forms.values())), torch.tensor(weights).double()
        total = torch.zeros(len(ranks)).double().index_add(0, rows, share)
        probability = share / total[rows] * (rows + _RANK_OFFSET).double() ** _RANK_POWER
        cumulative = (probability / probability.sum()).cumsum(0)
        char_ids = batch_char_ids([list(forms)], max_characters)[0]
        return cls(char_ids, _SCALE * words.vectors, rows, cumulative)

    def loss(self, cnn: CharCnn, num_words: int) -> torch.Tensor:
        """
        Draws `num_words` words at random, and returns the mean squared error of the first
        dimensions of the CNN's output for them. An output of zeros has an error of 1.
        """
        indices = torch.searchsorted(self.cumulative, torch.rand(num_words).double())
        indices = indices.clamp(max=len(self.rows) - 1)
        device = cnn.embedding.device
        vectors = cnn(self.char_ids[indices].to(device))[:, : self.vectors.size(1)]
        expected = self.vectors[self.rows[indices]].to(device)
        return torch.nn.functional.mse_loss(vectors.float(), expected) / _SCALE**2


def fit_characters(cnn: CharCnn, fit: VectorFit, num_batches: int) -> None:
    """Trains the character CNN until the first dimensions of its output approximate the vectors."""
    optimizer = torch.optim.Adam(cnn.parameters(), lr=_LEARNING_RATE, betas=(0.9, 0.99))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer,
        lambda batch: (
            min(1, (batch + 1) / _WARMUP_BATCHES)
            * max(0.01, (1 + math.cos(math.pi * batch / num_batches)) / 2)
        ),
    )
    batches = Tqdm.tqdm(range(num_batches), desc="fitting characters to word vectors")
    for _ in batches:
        loss = fit.loss(cnn, _WORDS_PER_BATCH)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        batches.set_postfix(explained=f"{1 - loss.item():.2f}", refresh=False)
    optimizer.zero_grad()


@TrainerCallback.register("elmo_vector_start")
class VectorStart(TrainerCallback):
    """
    Starts a pre-training from word vectors, such as GloVe's. First, the character CNN learns to
    compute the vectors of the file's words from their characters, as in MIMICK (Pinter et al.
    2017). Then the vectors become the rows of these words in the softmax. While the language model
    trains, the CNN goes on learning the vectors; otherwise it would forget them. In a biLM of
    words, only the softmax starts from the vectors.

    The vectors are standardized. Vectors that are wider than the biLM's projection are replaced by
    their principal components. Vectors that are narrower determine only the first dimensions. A
    recovered training run skips the start. Archives do not need the file.

    Registered as a `TrainerCallback` with name "elmo_vector_start".

    # Parameters

    pretrained_file: A file with a word and its numbers on each line, the most frequent words first,
        like GloVe's (see `read_vectors`). Its first 200,000 words are read.
    num_batches: Number of batches of 512 words that the character CNN learns from at the start. Use
        0 for a biLM that is trained already: CNN and softmax then start as they are.
    weight: The weight of the vectors' mean squared error in the loss of each later
        batch; an output of zeros has an error of 1. With 0, the CNN learns only at the start.
    num_words: The number of words that are drawn for each later batch.
    """

    def __init__(
        self,
        serialization_dir: str,
        pretrained_file: str,
        num_batches: int = 3000,
        weight: float = 1.0,
        num_words: int = 256,
    ) -> None:
        super().__init__(serialization_dir)
        self.pretrained_file = pretrained_file
        self.num_batches = num_batches
        self.weight = weight
        self.num_words = num_words

    def on_start(self, trainer: Any, is_primary: bool = True, **kwargs: Any) -> None:
        super().on_start(trainer, is_primary, **kwargs)
        recovered = bool(
            trainer._start_after_epochs_completed or trainer._start_after_batches_in_epoch_completed
        )
        if recovered and self.weight == 0:
            return
        model = trainer.model
        words = read_word_vectors(self.pretrained_file, _MAX_WORDS)
        words = words.standardized(model.bilm.options.projection_dim)
        cnn = None if model.bilm.options.num_words else model.bilm.char_cnn
        fit = VectorFit.of(words, model.vocab, model.bilm.options.max_characters)
        if not recovered and self.num_batches > 0:
            if is_primary:
                if cnn is not None:
                    fit_characters(cnn, fit, self.num_batches)
                num_known = begin_softmax(model.softmax, words, model.vocab)
                logger.info(
                    "%d of the %d words of the softmax begin with a vector of %s.",
                    num_known,
                    model.softmax.num_classes,
                    self.pretrained_file,
                )
            broadcast(model.parameters())
        if self.weight > 0 and cnn is not None:
            model.auxiliary_loss = lambda: self.weight * fit.loss(cnn, self.num_words)


def begin_softmax(softmax: SampledSoftmax, words: FileVectors, vocab: Vocabulary) -> int:
    """
    Sets the rows of the softmax whose word has a vector, itself or in lower case. Returns the
    number of these words.
    """
    rows = {word: row for row, word in enumerate(words.words)}
    pairs = [
        (index - 1, rows.get(word, rows.get(word.lower())))
        for word, index in vocab.get_token_to_index_vocabulary("tokens").items()
        if word in rows or word.lower() in rows
    ]
    if pairs:
        classes, vector_rows = torch.tensor(pairs).T
        vectors = _SOFTMAX_SCALE * words.vectors[vector_rows]
        softmax.weight.data[classes, : vectors.size(1)] = vectors.to(softmax.weight)
    return len(pairs)
