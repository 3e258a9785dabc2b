from collections.abc import Sequence
from typing import NamedTuple

from allennlp.common.util import lazy_groups_of
from allennlp.data.fields import TextField
from allennlp.models import Archive
from allennlp.predictors import Predictor
from tqdm import tqdm

from elmo_tasks.analysis.errors.case import Case
from elmo_tasks.analysis.errors.compare_answers import COMPARISONS
from elmo_tasks.common.errors import ConfigurationError

# Number of instances that a predictor gets at a time.
_GROUP = 32


class Compared(NamedTuple):
    """
    The cases of a data set. `kind` is a key of `COMPARISONS`, and `metric` the name of the score.
    Reports show the classes in the order of `classes`.
    """

    kind: str
    metric: str
    cases: list[Case]
    classes: Sequence[str | None] = ()


def read_cases(archive: Archive, data: str) -> Compared:
    """
    Predicts every instance of a data set, and compares the answers with the data.

    # Raises

    `ConfigurationError`: The model is of another task, or the data is empty or has no gold answers.
    """
    predictor = Predictor.from_archive(archive)
    task = getattr(predictor, "task", None)
    if task is None or task.compared is None:
        raise ConfigurationError(
            "elmo-tasks errors compares the answers of the tasks of elmo_tasks, but the model is a "
            f"{type(archive.model).__name__}, whose predictor is {archive.model.default_predictor}"
        )
    metric, compare = COMPARISONS[task.compared]
    instances = list(predictor._dataset_reader.read(data))
    if not instances:
        raise ConfigurationError(f"{data} has no instance")
    cases = []
    with tqdm(total=len(instances), desc="predicting", delay=3) as progress:
        for group in lazy_groups_of(instances, _GROUP):
            for instance, answer in zip(group, predictor.predict_batch_instance(group)):
                texts = [each for each in instance.fields.values() if isinstance(each, TextField)]
                num_tokens = sum(map(len, texts))
                cases.append(compare(instance, answer)._replace(num_tokens=num_tokens))
            progress.update(len(group))
    return Compared(task.compared, metric, cases, task.classes)
