import math
import time
from pathlib import Path
from typing import Any

from allennlp.training import GradientDescentTrainer, TrainerCallback

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.files import write_whole
from elmo_tasks.language_model.corpus_loader import CorpusLoader

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
    Adds to AllenNLP's trainer what pre-training a biLM needs. After every epoch it writes
    `options.json`, `weights.hdf5` and `bilm.libsonnet` beside the checkpoints, and at the end once
    more with the best weights. A recovered training does not read the text of finished epochs. A
    training that would end before the biLM trains is refused with a `ConfigurationError`. Progress
    shows the tokens per second and, if the vocabulary knows the size of the text, the hours left.

    Registered as a `TrainerCallback` with name "elmo_pretraining".
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self._total_batches = 0
        self._seed: int | None = None
        self._since = time.monotonic()
        self._batches = self._tokens = 0

    def on_start(self, trainer: Any, is_primary: bool = True, **kwargs: Any) -> None:
        super().on_start(trainer, is_primary, **kwargs)
        if isinstance(trainer.data_loader, CorpusLoader):
            # The seed determines the order of the text. A config may leave the seed to chance.
            if self._seed is not None:
                trainer.data_loader.seed = self._seed
            self._seed = trainer.data_loader.seed
            done = trainer._start_after_batches_in_epoch_completed
            trainer.data_loader.skip(
                trainer._start_after_epochs_completed,
                done * trainer._num_gradient_accumulation_steps,
            )
            # Schedulers go on from this number of batches. The finished batches of the unfinished
            # epoch are subtracted, because the trainer counts them again.
            trainer._total_batches_completed = self._total_batches - done
        _check_length(trainer)
        self._since = time.monotonic()

    def on_batch(
        self,
        trainer: Any,
        batch_inputs: Any,
        batch_outputs: list[dict[str, Any]],
        batch_metrics: dict[str, Any],
        epoch: int,
        batch_number: int,
        is_training: bool,
        **kwargs: Any,
    ) -> None:
        if not is_training:
            return
        self._total_batches = trainer._total_batches_completed
        self._batches += 1
        self._tokens += sum(int(outputs["num_tokens"]) for outputs in batch_outputs)
        seconds = time.monotonic() - self._since
        batch_metrics["tokens_per_second"] = self._tokens / seconds
        num_batches = _num_batches(trainer)
        if num_batches is not None:
            steps_left = (
                num_batches / trainer._num_gradient_accumulation_steps - self._total_batches
            )
            batch_metrics["hours_left"] = max(0, steps_left) * seconds / self._batches / 3600

    def on_epoch(self, trainer: Any, *args: Any, **kwargs: Any) -> None:
        self._export(trainer, **kwargs)

    def _export(self, trainer: Any, is_primary: bool = True, **kwargs: Any) -> None:
        if is_primary:
            trainer.model.bilm.to_files(self.serialization_dir)
            write_whole(Path(self.serialization_dir) / "bilm.libsonnet", LIBSONNET)

    def on_end(self, trainer: Any, metrics: Any = None, *args: Any, **kwargs: Any) -> None:
        # A training that failed or was stopped ends without metrics, perhaps in mid-epoch.
        if metrics is not None:
            self._export(trainer, **kwargs)

    def state_dict(self) -> dict[str, Any]:
        return {"total_batches": self._total_batches, "seed": self._seed}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._total_batches = state_dict["total_batches"]
        # Older checkpoints have no seed.
        self._seed = state_dict.get("seed")


def _num_batches(trainer: GradientDescentTrainer) -> int | None:
    """Returns the number of batches of all epochs, if known."""
    try:
        return trainer._num_epochs * len(trainer.data_loader)
    except TypeError:
        return None


def _check_length(trainer: GradientDescentTrainer) -> None:
    """Refuses a training that would end while only the new softmax trains, before the biLM does."""
    num_alone, num_batches = trainer.model.num_softmax_batches, _num_batches(trainer)
    if num_batches is None or not 0 < num_batches <= num_alone:
        return
    num_epochs = math.ceil(num_alone * trainer._num_epochs / num_batches) + 1
    raise ConfigurationError(
        f"the biLM would not train at all: the softmax is trained alone in the first {num_alone} "
        f"batches (num_softmax_batches), and the training has only about {num_batches}; with "
        f"num_epochs: {num_epochs}, the biLM would train for at least one epoch; for a very short "
        "text, give a smaller num_softmax_batches"
    )
