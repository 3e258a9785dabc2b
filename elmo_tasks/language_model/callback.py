import logging
import math
from pathlib import Path
from typing import Any

import torch
from allennlp.data import Vocabulary
from allennlp.training import GradientDescentTrainer, TrainerCallback

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import write_whole
from elmo_tasks.elmo.locate import locate_bilm
from elmo_tasks.kernels.blocked_product import scaled
from elmo_tasks.language_model.corpus_loader import CorpusLoader
from elmo_tasks.language_model.heldout import say_what_is_read_twice
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax
from elmo_tasks.language_model.softmax import UNKNOWN_CLASS, Softmax, read_softmax

logger = logging.getLogger(__name__)

# The weights are found beside the libsonnet file, wherever the folder is.
LIBSONNET = """\
// The biLM of this folder, for a config: `bilm: import 'FOLDER/bilm.libsonnet'`.
{
  options: import 'options.json',
  pretrained_file: std.strReplace(std.thisFile, 'bilm.libsonnet', 'weights.hdf5'),
}
"""


@TrainerCallback.register("elmo_pretraining")
class PretrainingCallback(TrainerCallback):
    """
    Writes the biLM of a pre-training as `options.json`, `weights.hdf5` and `bilm.libsonnet` beside
    the checkpoints: after every epoch, and with the best weights at the end. Lets a recovered
    training run go on without reading the text of finished epochs again. Raises
    `ConfigurationError` if the training run would end while only the softmax is trained.

    Registered as a `TrainerCallback` with name "elmo_pretraining".
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self._trainer: Any = None
        self._total_batches = 0
        self._seed: int | None = None

    def on_start(self, trainer: Any, is_primary: bool = True, **kwargs: Any) -> None:
        super().on_start(trainer, is_primary, **kwargs)
        self._trainer = trainer
        if isinstance(trainer.data_loader, CorpusLoader):
            # The seed determines the order of the text. A recovered training run takes it from the
            # checkpoint, because a config may leave the seed to chance.
            if self._seed is not None:
                trainer.data_loader.seed = self._seed
            self._seed = trainer.data_loader.seed
            num_updates = trainer._start_after_batches_in_epoch_completed
            trainer.data_loader.skip(
                trainer._start_after_epochs_completed,
                num_updates * trainer._num_gradient_accumulation_steps,
            )
            # Schedulers go on from this number of batches. The finished batches of the unfinished
            # epoch are subtracted, because the trainer counts them again.
            trainer._total_batches_completed = self._total_batches - num_updates
            if is_primary:
                say_what_is_read_twice(trainer.data_loader, trainer._validation_data_loader)
        _check_length(trainer)

    def on_epoch(self, trainer: Any, *args: Any, **kwargs: Any) -> None:
        self._export(trainer, **kwargs)

    def _export(self, trainer: Any, is_primary: bool = True, **kwargs: Any) -> None:
        if is_primary:
            trainer.model.bilm.to_files(self.serialization_dir)
            write_whole(Path(self.serialization_dir) / "bilm.libsonnet", LIBSONNET)

    def on_end(self, trainer: Any, metrics: Any = None, *args: Any, **kwargs: Any) -> None:
        # A training run that failed or was stopped ends without metrics, perhaps in mid-epoch.
        if metrics is not None:
            self._export(trainer, **kwargs)

    def state_dict(self) -> dict[str, Any]:
        return {"total_batches": self._trainer._total_batches_completed, "seed": self._seed}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._total_batches, self._seed = state_dict["total_batches"], state_dict["seed"]


def _check_length(trainer: GradientDescentTrainer) -> None:
    """Refuses a training run that would end while only the softmax is trained."""
    num_alone = trainer.model.num_softmax_batches
    try:
        num_batches = trainer._num_epochs * len(trainer.data_loader)
    except TypeError:
        # `len` raises this error if the length of the text is unknown.
        return
    if 0 < num_batches <= num_alone:
        raise ConfigurationError(
            f"the biLM would not train at all: the softmax is trained alone in the first "
            f"{num_alone} batches (num_softmax_batches), and the training has only about "
            f"{num_batches}; give more num_epochs or a smaller num_softmax_batches"
        )


@TrainerCallback.register("elmo_softmax_start")
class SoftmaxStart(TrainerCallback):
    """
    Initializes the softmax of a training run from the softmax of a packed biLM, to train this biLM
    further. A recovered training run skips this. The archive of the training run does not need the
    packed biLM.

    Registered as a `TrainerCallback` with name "elmo_softmax_start".

    # Parameters

    bilm: The packed biLM: a name, or a folder that `elmo-pack` wrote. It must have a softmax.
    """

    def __init__(self, serialization_dir: str, bilm: str) -> None:
        super().__init__(serialization_dir)
        self.bilm = bilm

    def on_start(self, trainer: Any, is_primary: bool = True, **kwargs: Any) -> None:
        super().on_start(trainer, is_primary, **kwargs)
        if trainer._start_after_epochs_completed or trainer._start_after_batches_in_epoch_completed:
            return
        model = trainer.model
        bilm_softmax = read_softmax(locate_bilm(self.bilm).options.parent, model.bilm)
        num_known = begin_as(model.softmax, bilm_softmax, model.vocab)
        logger.info(
            "%d of the %d words of the softmax begin as in the softmax of %s.",
            num_known,
            model.softmax.num_classes,
            self.bilm,
        )


def begin_as(softmax: SampledSoftmax, bilm_softmax: Softmax, vocab: Vocabulary) -> int:
    """
    Gives each word of `softmax` its weight and bias in `bilm_softmax`. Words that `bilm_softmax`
    does not have share the probability of its unknown class equally. Returns the number of words
    that `bilm_softmax` has.
    """
    # AllenNLP's padding is not a class.
    _, *words = vocab.get_index_to_token_vocabulary("tokens").values()
    classes = torch.tensor(bilm_softmax.classes(words), device=bilm_softmax.bias.device)
    weight, bias = (
        scaled(bilm_softmax.weight, bilm_softmax.scale).clone(),
        bilm_softmax.bias.clone(),
    )
    if bilm_softmax.left_out is not None:
        biases = torch.stack([bias[UNKNOWN_CLASS], bilm_softmax.left_out.bias])
        rows = torch.stack([weight[UNKNOWN_CLASS], bilm_softmax.left_out.mean])
        weight[UNKNOWN_CLASS], bias[UNKNOWN_CLASS] = (
            biases.softmax(dim=0) @ rows,
            biases.logsumexp(dim=0),
        )
    # This is at least 1, because AllenNLP's own unknown token is in every vocabulary.
    num_unknown = classes.tolist().count(UNKNOWN_CLASS)
    bias[UNKNOWN_CLASS] -= math.log(num_unknown)
    with torch.no_grad():
        softmax.weight.copy_(weight[classes])
        softmax.bias.copy_(bias[classes].unsqueeze(1))
    return len(words) - num_unknown
