import os
from collections.abc import Iterable, Mapping
from typing import Any

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.common.errors import check_positive
from elmo_tasks.common.lists import no_list
from elmo_tasks.predictors.fields import check_shared, with_shared
from elmo_tasks.predictors.stream import GROUP, reason, stream


class Answer(dict):
    """
    The JSON of a predictor. Values at every depth are also attributes:
    `answer["entities"][0]["type"]` is `answer.entities[0].type`.
    """

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(f"the answer has no {name}; it has {', '.join(map(str, self))}")
        return self[name]


class UnansweredError(ValueError):
    """
    Raised if some of several inputs have no answer. `answers` has the answers of all inputs; for an
    input without an answer, it has the error.
    """

    def __init__(self, answers: list[Any]) -> None:
        self.answers = answers
        errors = {k: answer for k, answer in enumerate(answers) if isinstance(answer, Exception)}
        first, error = next(iter(errors.items()))
        super().__init__(
            f"inputs[{first}]: {reason(error)}; {len(errors)} of {len(answers)} inputs have no "
            "answer; the error's `answers` has the answers to the others"
        )


class LoadedModel:
    """A trained model that answers inputs in Python, as `elmo-tasks predict` does in a shell."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        # The texts of an input. A predictor from elsewhere does not name them.
        self._names: tuple[str, ...] = getattr(predictor, "input_names", ())

    def predict(self, inputs: Any = None, batch_size: int = GROUP, **texts: Any) -> Any:
        """
        Answers one input or several. The answer to an input does not depend on the other inputs.

        # Parameters

        inputs: A text, if an input of the model is one text; an input in JSON, such as
            `{"premise": "...", "hypothesis": "..."}`; or several of these.
        batch_size: The number of inputs that are answered at a time.
        texts: Without `inputs`, one input: `predict(premise="...", hypothesis="...")`. With
            `inputs`, the texts and settings that all inputs share: `predict(["Who built it?",
            "When?"], passage="...", top_k=3)`.

        # Returns

        The `Answer` to one input, or a list of answers to several.

        # Raises

        `ValueError`: The model cannot read the input, or the batch size is less than 1.
        `UnansweredError`: Some of several inputs have no answer. The message names the index of the
            first; `answers` of the error has the answers to the other inputs.
        """
        if inputs is None and not texts:
            raise ValueError("give either inputs, or one input by the names of its texts")
        shared_texts = {} if inputs is None else texts
        if shared_texts:
            check_shared(self.predictor, shared_texts)
        given_inputs = texts if inputs is None else inputs
        if isinstance(given_inputs, str | bytes | Mapping) or not isinstance(
            given_inputs, Iterable
        ):
            return _answer(self.predictor.predict_json(self._json(given_inputs, shared_texts)))
        if problem := no_list(given_inputs):
            raise ValueError(f"expected a list of texts or objects, not {problem}")
        check_positive("batch_size", batch_size)
        several = (self._json_or_error(item, shared_texts) for item in given_inputs)
        stream_of_answers = stream(self.predictor.predict_batch_json, several, batch_size)
        answers = list(map(_answer, stream_of_answers))
        for answer in answers:
            if isinstance(answer, Exception):
                raise UnansweredError(answers) from answer
        return answers

    def _json_or_error(self, item: Any, shared: JsonDict) -> JsonDict | ValueError:
        try:
            return self._json(item, shared)
        except ValueError as error:
            return error

    def _json(self, item: Any, shared: JsonDict) -> JsonDict:
        names = [name for name in self._names if name not in shared]
        if isinstance(item, str) and len(names) == 1:
            # NumPy's strings are no strings for spaCy.
            return {names[0]: str(item), **shared}
        if not isinstance(item, Mapping):
            expected = " and ".join(names) or "the keys of its predictor"
            text = "a text or " if len(names) == 1 else ""
            raise ValueError(f"this model reads {text}an object with {expected}, not {item!r:.80}")
        return with_shared(dict(item), shared)


def load(model: str | os.PathLike, cuda_device: int = -1) -> LoadedModel:
    """
    Loads a trained model, to use it in Python:

        elmo_tasks.load("sst").predict("A warm, funny and beautifully acted film.").label

    # Parameters

    model: The name of a model of this package; the path or address of a `model.tar.gz`; the folder
        of a training run, or one that `elmo-pack` wrote; or a repository on the Hugging Face hub
        (see `model_path`).
    cuda_device: The index of the GPU; -1 for the CPU.

    # Raises

    `ConfigurationError`: There is no such model, or its files cannot be used (see SECURITY.md).
    """
    return LoadedModel(Predictor.from_archive(open_archive(model, cuda_device)))


def _answer(value: Any) -> Any:
    if isinstance(value, dict):
        return Answer({key: _answer(child) for key, child in value.items()})
    if isinstance(value, list):
        return [_answer(child) for child in value]
    return value
