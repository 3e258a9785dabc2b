"""
Knows facts about the arguments of classes that their annotations do not say: which arguments
AllenNLP passes itself, and which numbers an argument may be.
"""

import re
from collections.abc import Iterator
from typing import Any

from allennlp.commands.train import TrainModel
from allennlp.data import DataLoader, Vocabulary
from allennlp.models import Model
from allennlp.training import Checkpointer, Trainer, TrainerCallback
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.momentum_schedulers import MomentumScheduler
from allennlp.training.moving_average import MovingAverage
from allennlp.training.optimizers import Optimizer

from elmo_tasks.common.errors import ConfigurationError

# What a training gives to each object that it makes, and what to those of a kind.
_TO_ALL = {"vocab", "serialization_dir", "local_rank", "ddp_accelerator", "batch_weight_key"}
_TO_KIND: dict[type, set[str]] = {
    TrainModel: set(),
    Model: set(),
    DataLoader: {"reader", "data_path"},
    Vocabulary: {"instances"},
    Trainer: {"model", "data_loader", "validation_data_loader"},
    Optimizer: {"model_parameters"},
    MovingAverage: {"parameters"},
    LearningRateScheduler: {"optimizer", "num_epochs", "num_steps_per_epoch"},
    MomentumScheduler: {"optimizer"},
    Checkpointer: set(),
    TrainerCallback: set(),
}

# Numbers by the names of their arguments, the least and the most that they can be. The first rule
# that fits counts.
_RULES = [
    (r"padding_index|(.*_)?(axis|dim_index)", None, None),
    (r"(.*_)?dropout|dropout_probability|label_smoothing", 0, 1),
    (r"(.*_)?(dims?|sizes?|width)|num_(layers|filters|heads|epochs)|batch_tokens|rows", 1, None),
    (r"num_.*|min_.*|max_.*|spans_per_word|lr|alpha|std|patience|factor|weight_decay", 0, None),
]


def is_given(name: str, kind: type) -> bool:
    """Returns whether a training run passes this argument. A config may then lack it."""
    kinds = (names for base, names in _TO_KIND.items() if issubclass(kind, base))
    return name in _TO_ALL or any(name in names for names in kinds)


def is_complete(kind: Any) -> bool:
    """
    Returns whether all arguments are known that a training run passes to an object of this kind, if
    the object is made later.
    """
    return isinstance(kind, type) and issubclass(kind, tuple(_TO_KIND))


def check_number(name: str, value: Any, path: str) -> None:
    """
    Raises `ConfigurationError` if an argument of this name cannot have this number, or one of these
    numbers.
    """
    rule = next((rule for rule in _RULES if re.fullmatch(rule[0], name)), None)
    if rule is None:
        return
    _, least, most = rule
    for number_path, number in _numbers(value, path):
        too_low, too_high = least is not None and number < least, most is not None and number > most
        if too_low or too_high:
            expected = f"{least} or more" if most is None else f"from {least} to {most}"
            raise ConfigurationError(f"{number_path} must be {expected}, not {number}")


def _numbers(value: Any, path: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, int | float):
        yield path, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _numbers(item, f"{path}.{index}")
