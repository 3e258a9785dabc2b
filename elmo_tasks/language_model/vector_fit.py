import math
from typing import NamedTuple

import numpy
import torch
from allennlp.common import Tqdm
from allennlp.data import Vocabulary
from allennlp.modules.token_embedders.embedding import EmbeddingsTextFile

from elmo_tasks.bilm.char_cnn import CharCnn
from elmo_tasks.bilm.characters import batch_char_ids
from elmo_tasks.common.errors import ConfigurationError

# Standard deviation of the target vectors of the character CNN, chosen by small trials.
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

    words: The most frequent first.
    vectors: Shape (words, dim).
    """

    words: list[str]
    vectors: torch.Tensor

    def standardized(self, max_dim: int) -> "FileVectors":
        """Returns the vectors in at most `max_dim` dimensions of mean 0 and variance 1."""
        vectors = self.vectors - self.vectors.mean(dim=0)
        if vectors.size(1) > max_dim:
            # Shape: (dim, dim). The directions of the greatest variance come last.
            _, directions = torch.linalg.eigh(vectors.T @ vectors)
            vectors = vectors @ directions[:, -max_dim:]
        return FileVectors(self.words, vectors / vectors.std(dim=0).clamp(min=1e-6))


def read_word_vectors(path: str, max_words: int) -> FileVectors:
    """Reads the first words of a file and their vectors. Skips lines of another width."""
    words: dict[str, numpy.ndarray] = {}
    dim = None
    with EmbeddingsTextFile(path) as lines:
        for line in Tqdm.tqdm(lines, desc=f"reading {path}"):
            word, _, numbers = line.partition(" ")
            fields = numbers.split()
            dim = dim or len(fields)
            if len(fields) == dim:
                words[word] = numpy.array(fields, dtype=numpy.float32)
            if len(words) == max_words:
                break
    if len(words) < 2 or not dim:
        raise ConfigurationError(
            f"{path} has no word vectors: expected a word and its numbers on each line"
        )
    return FileVectors(list(words), torch.from_numpy(numpy.stack(list(words.values()))))


class VectorFit(NamedTuple):
    """
    Holds words and the vectors that a character CNN learns for them, as in MIMICK (Pinter et al.
    2017).

    # Parameters

    char_ids (`torch.LongTensor`): Shape (words, 50).
    vectors: Shape (file's words, dim): standardized vectors, times 0.5.
    rows (`torch.LongTensor`): Shape (words,): the row of `vectors` of each word.
    cumulative: Shape (words,): the sum of the probabilities to be drawn, up to each word.
    """

    char_ids: torch.Tensor
    vectors: torch.Tensor
    rows: torch.Tensor
    cumulative: torch.Tensor

    @classmethod
    def of(cls, words: FileVectors, vocab: Vocabulary) -> "VectorFit":
        """
        Takes a file's words, and the words of a vocabulary that, in lower case, are in the file.
        The forms of a word in upper and lower case share its probability in proportion to their
        frequency, which is about 1 / the rank in the vocabulary.
        """
        ranks = {word: rank for rank, word in enumerate(words.words)}
        forms: dict[str, int] = {}
        weights: list[float] = []
        for word, index in vocab.get_token_to_index_vocabulary("tokens").items():
            row = ranks.get(word, ranks.get(word.lower()))
            if row is not None:
                forms[word] = row
                weights.append(1 / (index + 1))
        # A word that is not in the vocabulary counts as rarer than the last word of it.
        rare = 1 / (vocab.get_vocab_size("tokens") + 1)
        for word, row in ranks.items():
            if word not in forms:
                forms[word] = row
                weights.append(rare)
        rows, share = torch.tensor(list(forms.values())), torch.tensor(weights).double()
        total = torch.zeros(len(ranks)).double().index_add(0, rows, share)
        probability = share / total[rows] * (rows + _RANK_OFFSET).double() ** _RANK_POWER
        cumulative = (probability / probability.sum()).cumsum(0)
        char_ids = batch_char_ids([list(forms)])[0]
        return cls(char_ids, _SCALE * words.vectors, rows, cumulative)

    def loss(self, cnn: CharCnn, num_words: int) -> torch.Tensor:
        """
        Returns the mean squared error of the first dimensions of the CNN's output for words that
        are drawn at random. Vectors of zeros have an error of 1.
        """
        drawn = torch.searchsorted(self.cumulative, torch.rand(num_words).double())
        drawn = drawn.clamp(max=len(self.rows) - 1)
        device = cnn.embedding.device
        given = cnn(self.char_ids[drawn].to(device))[:, : self.vectors.size(1)]
        expected = self.vectors[self.rows[drawn]].to(device)
        return torch.nn.functional.mse_loss(given.float(), expected) / _SCALE**2


def fit_characters(cnn: CharCnn, fit: VectorFit, num_batches: int) -> None:
    """Trains the first dimensions of the character CNN's output to be the vectors."""
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
