import logging
import math
from pathlib import Path
from typing import Any

import torch
from allennlp.data import Vocabulary
from allennlp.training import TrainerCallback

from elmo_tasks.bilm.files.known_bilms import local_weights
from elmo_tasks.kernels.blocked_product import scaled
from elmo_tasks.language_model.model import ElmoLanguageModel
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax
from elmo_tasks.language_model.softmax import UNKNOWN_CLASS, Softmax
from elmo_tasks.language_model.softmax_file import read_softmax

logger = logging.getLogger(__name__)


@TrainerCallback.register("elmo_softmax_start")
class SoftmaxStart(TrainerCallback):
    """
    Starts the softmax of a training from the softmax of the packed biLM that is trained further. A
    recovered training skips the start. An archive of the training does not need the packed biLM.

    Registered as a `TrainerCallback` with name "elmo_softmax_start".

    # Parameters

    bilm: The name of the biLM, or a folder that `elmo-pack` wrote, with the files of a softmax.
    """

    def __init__(self, serialization_dir: str, bilm: str) -> None:
        super().__init__(serialization_dir)
        self.bilm = bilm

    def on_start(self, trainer: Any, is_primary: bool = True, **kwargs: Any) -> None:
        super().on_start(trainer, is_primary, **kwargs)
        if trainer._start_after_epochs_completed or trainer._start_after_batches_in_epoch_completed:
            return
        model = trainer.model
        assert isinstance(model, ElmoLanguageModel)
        packed = read_softmax(Path(local_weights(self.bilm)).parent, model.bilm)
        num_known = begin_as(model.softmax, packed, model.vocab)
        logger.info(
            "%d of the %d words of the softmax begin as in the softmax of %s.",
            num_known,
            model.softmax.num_classes,
            self.bilm,
        )


def begin_as(softmax: SampledSoftmax, packed: Softmax, vocab: Vocabulary) -> int:
    """
    Gives each word of a softmax the weight and bias that it has in a packed softmax. The other
    words share the probability of the packed softmax's unknown class equally. Returns the number of
    words that the packed softmax knows.
    """
    # AllenNLP's padding is no class.
    _, *words = vocab.get_index_to_token_vocabulary("tokens").values()
    classes = torch.tensor(packed.classes(words), device=packed.bias.device)
    weight, bias = scaled(packed.weight, packed.scale).clone(), packed.bias.clone()
    if packed.left_out is not None:
        biases = torch.stack([bias[UNKNOWN_CLASS], packed.left_out.bias])
        rows = torch.stack([weight[UNKNOWN_CLASS], packed.left_out.mean])
        weight[UNKNOWN_CLASS], bias[UNKNOWN_CLASS] = (
            biases.softmax(dim=0) @ rows,
            biases.logsumexp(dim=0),
        )
    # The vocabulary has at least AllenNLP's unknown word.
    num_unknown = classes.tolist().count(UNKNOWN_CLASS)
    bias[UNKNOWN_CLASS] -= math.log(num_unknown)
    with torch.no_grad():
        softmax.weight.copy_(weight[classes])
        softmax.bias.copy_(bias[classes].unsqueeze(1))
    return len(words) - num_unknown
