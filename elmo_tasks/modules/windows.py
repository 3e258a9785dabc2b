from collections.abc import Callable, Iterator, Sequence

import torch
from allennlp.data import TextFieldTensors
from torch.nn.utils.rnn import pad_sequence

from elmo_tasks.common.batches import batches_by_length


def window_of(text: TextFieldTensors, row: int, start: int, stop: int) -> TextFieldTensors:
    """Returns some tokens of one text of a batch, without the dimension of the batch."""
    return {
        name: {key: ids[row, start:stop] for key, ids in tensors.items()}
        for name, tensors in text.items()
    }


def length_of(text: TextFieldTensors) -> int:
    """Returns the number of tokens of a text without a dimension of the batch."""
    return min(len(ids) for tensors in text.values() for ids in tensors.values())


def batch_of(texts: Sequence[TextFieldTensors]) -> TextFieldTensors:
    """Returns texts without a dimension of the batch as one batch."""
    return {
        name: {
            key: pad_sequence([text[name][key] for text in texts], batch_first=True)
            for key in tensors
        }
        for name, tensors in texts[0].items()
    }


def by_length(
    lengths: Sequence[int],
    max_tokens: int,
    compute: Callable[[list[int]], tuple[torch.Tensor, ...]],
) -> Iterator[tuple[torch.Tensor, ...]]:
    """
    Computes tensors for texts, in batches of texts of similar lengths. Yields the tensors of each
    text, cut to the text's length, in the order of the texts.

    # Parameters

    max_tokens: The most tokens of a batch, with its padding.
    compute: Gets the indices of the texts of a batch, and returns their tensors of shape (batch,
        length, ...).
    """
    rows: dict[int, tuple[torch.Tensor, ...]] = {}
    for indices in batches_by_length(lengths, max_tokens):
        for index, *parts in zip(indices, *compute(indices)):
            rows[index] = tuple(part[: lengths[index]] for part in parts)
    return (rows[index] for index in range(len(lengths)))
