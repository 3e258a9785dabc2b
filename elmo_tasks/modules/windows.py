from collections.abc import Sequence

from allennlp.data import TextFieldTensors
from torch.nn.utils.rnn import pad_sequence


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
