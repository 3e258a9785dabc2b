"""
Makes every change of this package to AllenNLP. The classes that are registered under AllenNLP's own
names (`exist_ok=True`) are in this folder as well.
"""

from allennlp.data import TokenIndexer
from allennlp.evaluation import Evaluator
from allennlp.training import gradient_descent_trainer

from elmo_tasks.in_allennlp import (
    archive_guard,
    compat,
    configs,
    find_lr,
    messages,
    predict_manager,
    safe_train,
)
from elmo_tasks.in_allennlp.change import Change
from elmo_tasks.readers.word_indexers import WordIdIndexer
from elmo_tasks.training.report import EpochReport

CHANGES = (
    *archive_guard.CHANGES,
    *compat.CHANGES,
    *configs.CHANGES,
    *find_lr.CHANGES,
    *messages.CHANGES,
    *safe_train.CHANGES,
    *predict_manager.CHANGES,
    Change(
        gradient_descent_trainer,
        "DEFAULT_CALLBACKS",
        (*gradient_descent_trainer.DEFAULT_CALLBACKS, EpochReport),
        "Every training prints a line for each epoch.",
    ),
    Change(
        Evaluator,
        "default_implementation",
        "elmo",
        "`evaluate` writes the answers of a model by its predictor.",
    ),
)


def install() -> None:
    """Makes the changes. A second call changes nothing more."""
    for change in CHANGES:
        setattr(change.module, change.name, change.value)
    TokenIndexer.register("single_id", exist_ok=True)(WordIdIndexer)
    compat.allow_numpy_scalars()
    compat.ignore_amp_warning()
