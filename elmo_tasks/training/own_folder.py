import functools
from typing import Any

from allennlp.commands import train

from elmo_tasks.common.owner import own


def _owning_its_folder(train_model: Any) -> Any:
    @functools.wraps(train_model)
    def train_model_alone(params: Any, serialization_dir: Any, *args: Any, **kwargs: Any) -> Any:
        with own(serialization_dir):
            return train_model(params, serialization_dir, *args, **kwargs)

    return train_model_alone


# `allennlp train` calls the function by this name. The folder is owned before AllenNLP looks into
# it, so that `--force` removes no folder in which another process trains.
train.train_model = _owning_its_folder(train.train_model)
