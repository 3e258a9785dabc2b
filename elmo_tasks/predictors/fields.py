"""The fields of inputs and answers, such as those that all inputs share."""

from collections.abc import Collection

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from elmo_tasks.common.text import nearest_or_all


def with_fields(answer: JsonDict, fields: JsonDict) -> JsonDict:
    """
    Adds fields to an answer (see `rename_fields`). The label of the answer comes first, then the
    added fields, then the other fields of the answer.
    """
    first = {name: answer[name] for name in ("label", "labels") if name in answer}
    return {**first, **rename_fields(fields, answer), **answer}


def check_shared(predictor: Predictor, shared: Collection[str]) -> None:
    """
    Raises `ValueError` if `shared` has a text or setting that the predictor does not read, or if no
    other text remains for the inputs.
    """
    texts: tuple[str, ...] = getattr(predictor, "input_names", ())
    names = (*texts, *getattr(predictor, "other_names", ()))
    for name in shared:
        if name not in names:
            raise ValueError(
                f"this model takes no {name} for all inputs{nearest_or_all(name, names)}"
            )
    if set(texts) <= set(shared):
        raise ValueError("give either inputs, or one input by the names of its texts")


def with_shared(json_dict: JsonDict, shared: JsonDict) -> JsonDict:
    """
    Returns an input with the texts and settings that all inputs have. Raises `ValueError` if the
    input already has one of them.
    """
    for name in shared:
        if name in json_dict:
            raise ValueError(
                f"the input has its own {name}, but all inputs have one already: leave out one of "
                "the two"
            )
    return {**json_dict, **shared}


def rename_fields(fields: JsonDict, names: Collection[str]) -> JsonDict:
    """
    Returns fields with other names. A name that is in `names` or that occurs twice, such as
    `label`, becomes `input_label`.
    """
    new_fields: JsonDict = {}
    for name, value in fields.items():
        while name in names or name in new_fields:
            name = f"input_{name}"
        new_fields[name] = value
    return new_fields
