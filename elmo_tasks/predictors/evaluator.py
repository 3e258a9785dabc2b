from collections.abc import Iterable
from os import PathLike
from typing import Any

from allennlp.common.tqdm import Tqdm
from allennlp.common.util import lazy_groups_of
from allennlp.data import DataLoader, Instance
from allennlp.evaluation import Evaluator, SimpleEvaluator
from allennlp.models import Model
from allennlp.predictors import Predictor

from elmo_tasks.predictors.text_predictor import predictor_of

# Number of instances that a predictor gets at a time.
_GROUP = 32


@Evaluator.register("elmo")
class ElmoEvaluator(SimpleEvaluator):
    """
    Evaluates as AllenNLP's evaluator does. The file of predictions has a line for each batch, as
    AllenNLP writes it, unless the model's predictor has a `task`. Then it has a line for each
    instance, in the order of the data file, with the answer that `elmo-tasks predict` gives. This
    takes a second pass over the data.

    The metrics are logged, because `elmo-tasks evaluate` shows them only in a progress bar.

    Registered as an `Evaluator` with name "elmo", and the default of `elmo-tasks evaluate`. A
    config with `evaluation: { type: 'simple' }` chooses AllenNLP's own.
    """

    def __call__(
        self,
        model: Model,
        data_loader: DataLoader,
        batch_weight_key: str | None = None,
        metrics_output_file: str | PathLike | None = None,
        predictions_output_file: str | PathLike | None = None,
    ) -> dict[str, Any]:
        """Evaluates a model, and returns its metrics. The parameters are those of `Evaluator`."""
        kind = predictor_of(model)
        has_answers = kind is not None and kind.task is not None
        answers_lines = predictions_output_file is not None and has_answers
        # A loader may shuffle its own list of the instances.
        instances = list(data_loader.iter_instances()) if answers_lines else []
        metrics = super().__call__(
            model,
            data_loader,
            batch_weight_key,  # type: ignore[arg-type]  # AllenNLP's annotation lacks its default.
            metrics_output_file,  # type: ignore[arg-type]
            None if answers_lines else predictions_output_file,  # type: ignore[arg-type]
        )
        if answers_lines:
            predictor = kind(model, data_loader.reader)  # type: ignore[misc]
            with open(predictions_output_file, "w", encoding="utf-8") as file:  # type: ignore
                file.writelines(_lines(predictor, Tqdm.tqdm(instances, desc="predictions")))
            # The second pass has counted the labelled instances again.
            model.get_metrics(reset=True)
        return metrics


def _lines(predictor: Predictor, instances: Iterable[Instance]) -> Iterable[str]:
    for group in lazy_groups_of(instances, _GROUP):
        yield from map(predictor.dump_line, predictor.predict_batch_instance(group))
