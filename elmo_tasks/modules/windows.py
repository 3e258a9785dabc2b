from collections.abc import Iterator, Sequence
from typing import NamedTuple

from allennlp.data import TextFieldTensors
from torch.nn.utils.rnn import pad_sequence

from elmo_tasks.common.batches import batches_by_length
from elmo_tasks.readers.windows import Window


class WindowRows(NamedTuple):
    """
    Some windows of a batch of passages, each a row of its own, and the question of each.

    # Parameters

    places: For each window, the row of its passage in the batch, and the window.
    """

    places: list[tuple[int, Window]]
    question: TextFieldTensors
    window: TextFieldTensors


def window_rows(
    question: TextFieldTensors,
    passage: TextFieldTensors,
    windows: Sequence[Sequence[Window]],
    max_tokens: int,
) -> Iterator[WindowRows]:
    """
    Yields the windows of all passages, at most `max_tokens` tokens at a time, padding included, and
    at least one window.
    """
    places = [(row, window) for row, each in enumerate(windows) for window in each]
    lengths = [window.stop - window.start for _, window in places]
    for indices in batches_by_length(lengths, max_tokens):
        some = [places[index] for index in indices]
        rows = [row for row, _ in some]
        yield WindowRows(
            some,
            {
                name: {key: ids[rows] for key, ids in tensors.items()}
                for name, tensors in question.items()
            },
            {
                name: {
                    key: pad_sequence(
                        [ids[row, window.start : window.stop] for row, window in some],
                        batch_first=True,
                    )
                    for key, ids in tensors.items()
                }
                for name, tensors in passage.items()
            },
        )
