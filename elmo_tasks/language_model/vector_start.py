import logging
from typing import Any

import torch
from allennlp.data import Vocabulary
from allennlp.training import TrainerCallback

from elmo_tasks.bilm.char_cnn import CharCnn
from elmo_tasks.common.processes import broadcast
from elmo_tasks.language_model.model import ElmoLanguageModel
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax
from elmo_tasks.language_model.vector_fit import (
    FileVectors,
    VectorFit,
    fit_characters,
    read_word_vectors,
)

logger = logging.getLogger(__name__)

# Standard deviation of the numbers that the softmax begins with, chosen by small trials.
_SOFTMAX_SCALE = 0.15


@TrainerCallback.register("elmo_vector_start")
class VectorStart(TrainerCallback):
    """
    Starts a pre-training from word vectors, such as GloVe's. First the character CNN learns to give
    the vectors of the file's words from their characters, as in MIMICK (Pinter et al. 2017). Then
    the vectors become the rows of these words in the softmax. While the language model trains, the
    CNN goes on learning the vectors, which it would forget otherwise. Of a biLM that reads words,
    only the softmax begins as the vectors.

    The vectors are standardized. If they are wider than the biLM's projection, their principal
    components are used; if narrower, the other dimensions of the biLM stay as they are. A recovered
    training skips the start. Archives do not need the file.

    Registered as a `TrainerCallback` with name "elmo_vector_start".

    # Parameters

    pretrained_file: A file with a word and its numbers on each line, the most frequent words first,
        like GloVe's, in any form that AllenNLP's `EmbeddingsTextFile` opens.
    num_batches (default `3000`): Number of batches of 512 words that the character CNN learns from
        at the start. With 0, for a biLM that is trained already, CNN and softmax begin as they are.
    weight (default `1.0`): The weight of the vectors' mean squared error in the loss of each later
        batch; vectors of zeros have an error of 1. With 0, the CNN learns them only at the start.
    num_words (default `256`): The number of words that are drawn for each later batch.
    max_words (default `200_000`): The most words that are read from the file.
    """

    def __init__(
        self,
        serialization_dir: str,
        pretrained_file: str,
        num_batches: int = 3000,
        weight: float = 1.0,
        num_words: int = 256,
        max_words: int = 200_000,
    ) -> None:
        super().__init__(serialization_dir)
        self.pretrained_file = pretrained_file
        self.num_batches = num_batches
        self.weight = weight
        self.num_words = num_words
        self.max_words = max_words

    def on_start(self, trainer: Any, is_primary: bool = True, **kwargs: Any) -> None:
        super().on_start(trainer, is_primary, **kwargs)
        recovered = bool(
            trainer._start_after_epochs_completed or trainer._start_after_batches_in_epoch_completed
        )
        if recovered and self.weight == 0:
            return
        model = trainer.model
        assert isinstance(model, ElmoLanguageModel)
        words = read_word_vectors(self.pretrained_file, self.max_words)
        words = words.standardized(model.bilm.options.projection_dim)
        cnn = None if model.bilm.options.num_words else model.bilm.char_cnn
        fit = VectorFit.of(words, model.vocab)
        if not recovered and self.num_batches > 0:
            if is_primary:
                self._begin(model, words, fit, cnn)
            broadcast(model.parameters())
        if self.weight > 0 and cnn is not None:
            model.auxiliary_loss = lambda: self.weight * fit.loss(cnn, self.num_words)

    def _begin(
        self, model: ElmoLanguageModel, words: FileVectors, fit: VectorFit, cnn: CharCnn | None
    ) -> None:
        if cnn is not None:
            fit_characters(cnn, fit, self.num_batches)
        num_known = begin_softmax(model.softmax, words, model.vocab)
        logger.info(
            "%d of the %d words of the softmax begin with a vector of %s.",
            num_known,
            model.softmax.num_classes,
            self.pretrained_file,
        )


def begin_softmax(softmax: SampledSoftmax, words: FileVectors, vocab: Vocabulary) -> int:
    """
    Sets the row of each word that has a vector, for itself or its lower case. Returns their number.
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
