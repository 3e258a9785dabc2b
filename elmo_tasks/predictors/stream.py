from collections.abc import Callable, Iterable, Iterator
from typing import Any

from elmo_tasks.common.text_files import shortened

# The number of inputs that are answered at a time.
GROUP = 32

# A group ends with the input that brings it to this many characters, so that answers to questions
# about long texts come one after the other, and not all at the end.
_CHARACTERS = 2**17


def stream(
    answer_all: Callable[[list[Any]], list[Any]], inputs: Iterable[Any], size: int = GROUP
) -> Iterator[Any]:
    """
    Yields the answer or the error of each input, in order. Reads the inputs lazily, a group at a
    time.

    # Parameters

    answer_all: Returns the answers to a list of inputs. If it raises an error, smaller groups are
        tried, so only an input that itself cannot be answered has an error.
    inputs: The inputs. An exception takes the place of an input that could not be read, and is
        yielded as its error.
    size: The most inputs in a group. Groups of long texts are smaller.
    """
    for group in _groups(inputs, size):
        readable = [item for item in group if not isinstance(item, Exception)]
        answers = iter(_answers(answer_all, readable))
        for item in group:
            yield item if isinstance(item, Exception) else next(answers)


def answers_only(answers: Iterable[Any]) -> Iterator[Any]:
    """Yields the answers of a stream, and raises the first error in it."""
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
        yield answer


def reason(error: Exception) -> str:
    """Returns on one line why an input has no answer."""
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    return shortened(f"{kind}{error}")


def _groups(inputs: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """
    Yields groups of inputs. If reading the next input raises an error, yields the inputs before it
    first.
    """
    group: list[Any] = []
    num_characters = 0
    failure = None
    try:
        for item in inputs:
            group.append(item)
            num_characters += _length(item)
            if len(group) == size or num_characters >= _CHARACTERS:
                yield group
                group, num_characters = [], 0
    except Exception as error:
        failure = error
    if group:
        yield group
    if failure is not None:
        raise failure


def _length(item: Any) -> int:
    """Returns the number of characters in the texts of an input in JSON."""
    values = item.values() if isinstance(item, dict) else ()
    return sum(len(value) for value in values if isinstance(value, str))


def _answers(answer_all: Callable[[list[Any]], list[Any]], group: list[Any]) -> list[Any]:
    if not group:
        return []
    try:
        return answer_all(group)
    except Exception as error:
        if len(group) == 1:
            return [error]
    middle = len(group) // 2
    return _answers(answer_all, group[:middle]) + _answers(answer_all, group[middle:])
