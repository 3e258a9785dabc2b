import logging
import math
from typing import Any, NamedTuple

import numpy
import torch
from allennlp.common import Tqdm
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.modules.token_embedders.embedding import EmbeddingsTextFile
from allennlp.training import GradientDescentTrainer, TrainerCallback

from elmo_tasks.bilm.char_cnn import CharCnn
from elmo_tasks.bilm.char_id_table import CharIdTable
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.processes import broadcast
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax

logger = logging.getLogger(__name__)

# Standard deviations of the numbers that the character CNN is fitted to and that the softmax begins
# with, chosen by small trials.
_CNN_SCALE, _SOFTMAX_SCALE = 0.5, 0.15
_WORDS_PER_BATCH = 512
_LEARNING_RATE = 0.002
# The share of drawn words whose first letter is made a capital, since GloVe's files are in lower
# case.
_CAPITALIZED = 0.25


@TrainerCallback.register("elmo_vector_start")
class VectorStart(TrainerCallback):
    """
    Starts a pre-training from word vectors, such as GloVe's. First the character CNN learns to give
    the vectors of the file's words from their characters, as in MIMICK (Pinter et al. 2017); then
    each word of the softmax that is in the file gets the word's vector as its row. Both are trained
    like all other weights from then on.

    The vectors are standardized in each dimension. If they are wider than the biLM's projection,
    their principal components are taken; if they are narrower, the other dimensions stay as they
    are. A recovered training has started already and skips all this. Archives do not need the file.

    Registered as a `TrainerCallback` with name "elmo_vector_start".

    # Parameters

    pretrained_file : `str`
        A file with a word and its numbers on each line, the most frequent words first, like
        GloVe's, in any form that AllenNLP's `EmbeddingsTextFile` opens.
    num_batches : `int`, optional (default = `3000`)
        Number of batches of 512 words that the character CNN learns from. Frequent words are drawn
        more often.
    max_words : `int`, optional (default = `200_000`)
        The most words that are read from the file.
    """

    def __init__(
        self,
        serialization_dir: str,
        pretrained_file: str,
        num_batches: int = 3000,
        max_words: int = 200_000,
    ) -> None:
        super().__init__(serialization_dir)
        self.pretrained_file = pretrained_file
        self.num_batches = num_batches
        self.max_words = max_words

    def on_start(
        self, trainer: GradientDescentTrainer, is_primary: bool = True, **kwargs: Any
    ) -> None:
        super().on_start(trainer, is_primary, **kwargs)
        if trainer._start_after_epochs_completed or trainer._start_after_batches_in_epoch_completed:
            return
        if is_primary:
            self._fit(trainer.model)
        broadcast(trainer.model.parameters())

    def _fit(self, model: Model) -> None:
        words = read_word_vectors(self.pretrained_file, self.max_words)
        words = words.standardized(model.bilm.options.projection_dim)
        fit_characters(model.bilm.char_cnn, words, self.num_batches)
        num_known = begin_softmax(model.softmax, words, model.vocab)
        logger.info(
            "%d of the %d words of the softmax begin with a vector of %s.",
            num_known,
            model.softmax.num_classes,
            self.pretrained_file,
        )


class FileVectors(NamedTuple):
    """
    # Parameters

    words : `list[str]`
        The most frequent first.
    vectors : `torch.Tensor`
        Shape (words, dim).
    """

    words: list[str]
    vectors: torch.Tensor

    def standardized(self, max_dim: int) -> "FileVectors":
        """Returns at most `max_dim` dimensions, each with a mean of 0 and a variance of 1."""
        vectors = self.vectors - self.vectors.mean(dim=0)
        if vectors.size(1) > max_dim:
            # Shape: (dim, dim), the directions of the greatest variance last.
            _, directions = torch.linalg.eigh(vectors.T @ vectors)
            vectors = vectors @ directions[:, -max_dim:]
        return FileVectors(self.words, vectors / vectors.std(dim=0).clamp(min=1e-6))


def read_word_vectors(path: str, max_words: int) -> FileVectors:
    """Reads the first words of a file and their vectors. Lines of another width are left out."""
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


def fit_characters(cnn: CharCnn, words: FileVectors, num_batches: int) -> None:
    """
    Trains the first dimensions of the character CNN's output to be half the standardized vectors.

    # Parameters

    words : `FileVectors`
        Standardized, no wider than the output of the CNN.
    """
    device = cnn.embedding.device
    char_ids = CharIdTable().char_ids([words.words])[0]
    targets = _CNN_SCALE * words.vectors
    optimizer = torch.optim.Adam(cnn.parameters(), lr=_LEARNING_RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(
        optimizer, start_factor=1, end_factor=0.01, total_iters=num_batches
    )
    batches = Tqdm.tqdm(range(num_batches), desc="fitting characters to word vectors")
    for _ in batches:
        # Log-uniform, as the sampled softmax draws its words.
        drawn = torch.exp(torch.rand(_WORDS_PER_BATCH) * math.log(len(targets) + 1)).long() - 1
        drawn = drawn.clamp(max=len(targets) - 1)
        predicted = cnn(_some_capitalized(char_ids[drawn]).to(device))[:, : targets.size(1)]
        loss = torch.nn.functional.mse_loss(predicted, targets[drawn].to(device))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        batches.set_postfix(explained=f"{1 - loss.item() / _CNN_SCALE**2:.2f}", refresh=False)
    optimizer.zero_grad()


def begin_softmax(softmax: SampledSoftmax, words: FileVectors, vocab: Vocabulary) -> int:
    """
    Sets the rows of the words that are in the file, or whose lower case is; returns their number.
    """
    rows = {word: row for row, word in enumerate(words.words)}
    known = [
        (index - 1, rows.get(word, rows.get(word.lower())))
        for word, index in vocab.get_token_to_index_vocabulary("tokens").items()
        if word in rows or word.lower() in rows
    ]
    if known:
        classes, found = torch.tensor(known).T
        vectors = _SOFTMAX_SCALE * words.vectors[found]
        softmax.weight.data[classes, : vectors.size(1)] = vectors.to(softmax.weight)
    return len(known)


def _some_capitalized(char_ids: torch.Tensor) -> torch.Tensor:
    """Makes the first letter of some words a capital. Shape: (words, 50)."""
    # An id is a byte plus 1, and the id at index 0 marks the beginning of the word.
    first = char_ids[:, 1]
    is_lower = (first > ord("a")) & (first <= ord("z") + 1)
    chosen = is_lower & (torch.rand(len(first)) < _CAPITALIZED)
    char_ids = char_ids.clone()
    char_ids[:, 1] = torch.where(chosen, first - ord("a") + ord("A"), first)
    return char_ids
