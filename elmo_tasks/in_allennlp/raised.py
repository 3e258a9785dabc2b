"""Finds mistakes of the user among AllenNLP's errors, without importing AllenNLP."""

import re
import sys

from elmo_tasks.common.spelling import did_you_mean
from elmo_tasks.in_allennlp.how_to_go_on import with_fitting_advice

# Messages of AllenNLP 2.10.1 and PyTorch, and the messages in place of them. `{}` stands for the
# first line of the original.
_SAID: tuple[tuple[type[Exception], str, str], ...] = (
    (
        ValueError,
        "nan loss encountered",
        "the loss is not a number (NaN); try a smaller learning rate",
    ),
    (TypeError, r"Expected \S+ to be ", "the config has a value of another type than expected: {}"),
    (ValueError, r"(batch_s|batches_per_epoch |max_instances_in_|num_workers )", "data_loader: {}"),
    (ValueError, "cannot find context for ", "start_method of data_loader: {}"),
    (
        ValueError,
        r"Invalid (learning|beta|epsilon|momentum|weight_decay)|dropout probability |Using AMP ",
        "a value of the config does not fit: {}",
    ),
    (RuntimeError, "Device index must not be negative", "cuda_device: {}"),
    (RuntimeError, r"worker raised (Value|Configuration)Error\(", "{}"),
)
# Messages whose further lines say what is wrong.
_SAID_IN_FULL = r"Error\(s\) in loading state_dict"

_NO_CHOICE = re.compile(r"(\S+) not in acceptable choices for (\S+): (\[.*?\])")
_ARGUMENT = re.compile(r"Failed to construct argument (\S+) with type")


def said_by_allennlp(error: BaseException) -> str | None:
    """Returns a message for an error of AllenNLP or PyTorch, if the error is not a bug."""
    text = str(error)
    if is_of_allennlp(error, "common.checks", "ConfigurationError"):
        reason = "" if error.__cause__ is None else f" ({error.__cause__})"
        advice = with_fitting_advice(text, sys.argv[1:])
        return _wrong_choice(error) or f"{advice}{reason}"
    if isinstance(error, RuntimeError) and re.match(_SAID_IN_FULL, text):
        return text
    for kind, pattern, said in _SAID:
        if isinstance(error, kind) and re.match(pattern, text):
            return said.format(text.partition("\n")[0])
    return None


def is_of_allennlp(error: BaseException, module: str, name: str) -> bool:
    """Returns whether an error is of a class of AllenNLP."""
    kind = getattr(sys.modules.get(f"allennlp.{module}"), name, None)
    return kind is not None and isinstance(error, kind)


def _wrong_choice(error: BaseException) -> str | None:
    """
    Returns the message for a name that AllenNLP does not know, if AllenNLP knows a similar name.
    """
    argument = _ARGUMENT.match(str(error))
    cause: BaseException | None = error
    while cause is not None:
        if match := _NO_CHOICE.match(str(cause)):
            value, place, known = match.groups()
            if nearest := did_you_mean(value, re.findall(r"'([^']*)'", known)):
                return f"{argument[1] if argument else place} cannot be {value!r}{nearest}"
        cause = cause.__cause__
    return None
