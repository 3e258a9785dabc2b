"""Describes a model of the user's own data for the page of `elmo-tasks serve`."""

from allennlp.predictors import Predictor

from elmo_tasks.common.text import listed
from elmo_tasks.predictors.text_predictor import Task, TextPredictor
from elmo_tasks.readers.classify import SEVERAL, ClassifyReader
from elmo_tasks.readers.entities import split_tag
from elmo_tasks.readers.tag import TagReader

_ABOUT = {
    "ner": "Marks the spans of a sentence that are",
    "tag": "Gives each word one of the tags",
    "classify": "Gives a text one of the labels",
}
_ABOUT_SEVERAL = "Gives a text all the labels that fit, of these"


def own_task(predictor: Predictor, name: str) -> Task | None:
    """
    Returns the description of a model of the user's own data: the name of the model, the labels in
    its vocabulary, and the examples of its dataset reader. Returns `None` for a model of a task of
    this package, whose description is in its predictor.
    """
    reader = getattr(predictor, "_dataset_reader", None)
    task = predictor.task if isinstance(predictor, TextPredictor) else None
    if (
        task is None
        or task.name not in _ABOUT
        or not isinstance(reader, ClassifyReader | TagReader)
    ):
        return None
    vocab = predictor._model.vocab
    several = list(vocab.get_token_to_index_vocabulary(SEVERAL))
    labels = several or list(vocab.get_token_to_index_vocabulary("labels"))
    if task.name == "ner":
        labels = list(dict.fromkeys(filter(None, (split_tag(label)[1] for label in labels))))
        if set(labels) <= task.legend.keys():
            return None
    about = f"{_ABOUT_SEVERAL if several else _ABOUT[task.name]}: {listed(labels)}."
    examples = tuple(
        example for example in reader.examples if set(example) == set(predictor.input_names)
    )
    legend = dict.fromkeys(labels, "")
    return task._replace(title=name, about=about, examples=examples, legend=legend)
