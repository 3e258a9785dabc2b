import math
from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

from allennlp.common.tqdm import Tqdm
from allennlp.common.util import dump_metrics
from allennlp.data import DataLoader
from allennlp.evaluation import Evaluator, SimpleEvaluator
from allennlp.models import Model

from elmo_tasks.predictors.stream import answers_only
from elmo_tasks.predictors.text_predictor import predictor_of


@Evaluator.register("elmo")
class ElmoEvaluator(SimpleEvaluator):
    """
    Evaluates as AllenNLP's evaluator does, but writes predictions in another form: a line for each
    instance, in the order of the data file, with the answer of `elmo-tasks predict`. A second pass
    over the data makes these answers. For a model whose predictor has no `task`, AllenNLP writes a
    line for each batch. If the loss is NaN or infinite, an error is raised, and no metrics are
    written.

    Registered as an `Evaluator` with name "elmo". It is the default of `elmo-tasks evaluate`. A
    config with `evaluation: { type: 'simple' }` chooses AllenNLP's own evaluator.
    """

    def __call__(
        self,
        model: Model,
        data_loader: DataLoader,
        batch_weight_key: str | None = None,
        metrics_output_file: str | PathLike | None = None,
        predictions_output_file: str | PathLike | None = None,
    ) -> dict[str, Any]:
        kind = predictor_of(model)
        writes_answers = predictions_output_file and kind is not None and kind.task is not None
        # AllenNLP's annotations do not allow `None`, the default of all three.
        arguments: Any = (
            batch_weight_key,
            None,
            None if writes_answers else predictions_output_file,
        )
        # A loader may shuffle its own list of the instances.
        instances = list(data_loader.iter_instances()) if writes_answers else []
        metrics = super().__call__(model, _Counted(data_loader), *arguments)
        check_loss(metrics)
        if metrics_output_file is not None:
            dump_metrics(str(metrics_output_file), metrics, log=True)
        if kind is None or predictions_output_file is None or not writes_answers:
            return metrics
        predictor = kind(model, data_loader.reader)
        with open(predictions_output_file, "w", encoding="utf-8") as file:
            answers = predictor.stream_instances(Tqdm.tqdm(instances, desc="predictions"))
            file.writelines(map(predictor.dump_line, answers_only(answers)))
        # The second pass has added the labelled instances to the model's metrics again.
        model.get_metrics(reset=True)
        return metrics


class _Counted:
    """
    A data loader whose iterators have a length, from which AllenNLP's progress bar takes its total.
    """

    def __init__(self, loader: DataLoader) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def __iter__(self) -> "_Batches":
        return _Batches(self._loader)


class _Batches:
    """The batches of a data loader, as an iterator with their number as its length."""

    def __init__(self, loader: DataLoader) -> None:
        self._loader = loader
        self._batches = iter(loader)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self._batches)

    def __len__(self) -> int:
        """Raises `TypeError`, which tqdm expects, if the loader does not know its length."""
        return len(self._loader)


def check_loss(metrics: Mapping[str, Any]) -> None:
    """Raises `ValueError` if a loss among the metrics is NaN or infinite."""
    for name, value in metrics.items():
        if name.endswith("loss") and not math.isfinite(value):
            raise ValueError(
                f"the {name} is {value}, so the metrics mean nothing: the weights of the model may "
                "be damaged or much too large, or its dtype too narrow"
            )
