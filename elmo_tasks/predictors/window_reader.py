from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import torch
from allennlp.data import Batch, DatasetReader, Instance, Token
from allennlp.data.fields import TextField
from allennlp.nn.util import move_to_device
from torch.nn.utils.rnn import pad_sequence

from elmo_tasks.common.batches import batches_by_length
from elmo_tasks.models.bidaf import Bidaf, ReadText

# The most tokens of windows that are kept: 115 MB for a model with the biLM `base`.
_MAX_KEPT = 2**16

# A passage, the first token of a window, and the token after its last.
_Key = tuple[str, int, int]


class WindowReader:
    """
    Scores the windows of long passages for a question. The model encodes each window by itself, so
    these encodings are kept for the next questions; if they are too many, the latest are kept.

    # Parameters

    reader: The dataset reader of the model.
    max_tokens: The most tokens that the model reads at a time, padding included.
    """

    def __init__(self, model: Bidaf, reader: DatasetReader, max_tokens: int) -> None:
        self._model, self._reader, self._max_tokens = model, reader, max_tokens
        self._kept: OrderedDict[_Key, ReadText] = OrderedDict()

    @torch.no_grad()
    def output(self, instance: Instance) -> dict[str, Any]:
        """
        Returns `start_logits` and `end_logits` of the windows that are read, one after the other.
        """
        (question,) = self._read([instance["question"].tokens])  # type: ignore[attr-defined]
        windows = self._windows(instance)
        priors = [window.prior for window in instance["metadata"]["read"]]  # type: ignore[index]
        logits: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        lengths = [len(window.mask) for window in windows]
        for indices in batches_by_length(lengths, self._max_tokens):
            some = [windows[index] for index in indices]
            batch = ReadText(*(pad_sequence(list(each), batch_first=True) for each in zip(*some)))
            asked = ReadText(*(each.expand(len(some), *each.shape) for each in question))
            for index, start, end in zip(indices, *self._model.score(asked, batch)):
                start, end = (each[: lengths[index]].cpu() for each in (start, end))
                logits[index] = start + priors[index], end
        both = zip(*(logits[index] for index in range(len(windows))))
        return dict(zip(("start_logits", "end_logits"), map(torch.cat, both)))

    def _windows(self, instance: Instance) -> list[ReadText]:
        """
        Returns the encoded windows of an instance. Only windows that are not kept yet are encoded.
        """
        text = instance["metadata"]["passage"].text  # type: ignore[index]
        tokens = instance["passage"].tokens  # type: ignore[attr-defined]
        keys = [(text, *each[:2]) for each in instance["metadata"]["read"]]  # type: ignore[index]
        found = {key: self._kept.pop(key) for key in keys if key in self._kept}
        new = [key for key in keys if key not in found]
        found.update(zip(new, self._read([tokens[start:stop] for _, start, stop in new])))
        self._kept.update(found)
        num_tokens = sum(stop - start for _, start, stop in self._kept)
        while num_tokens > _MAX_KEPT:
            (_, start, stop), _ = self._kept.popitem(last=False)
            num_tokens -= stop - start
        return [found[key] for key in keys]

    def _read(self, texts: Sequence[list[Token]]) -> list[ReadText]:
        """Returns the texts as the model encodes them, each by itself."""
        read: dict[int, ReadText] = {}
        for indices in batches_by_length(list(map(len, texts)), self._max_tokens):
            fields = [TextField(texts[index], self._reader.token_indexers) for index in indices]
            batch = Batch([Instance({"text": field}) for field in fields])
            batch.index_instances(self._model.vocab)
            device = self._model._get_prediction_device()
            tensors = move_to_device(batch.as_tensor_dict(), device)["text"]
            (found,) = self._model.read(tensors)  # type: ignore[arg-type]
            for index, h, mask in zip(indices, *found):
                length = len(texts[index])
                # A copy, since a slice would keep the whole batch.
                read[index] = ReadText(h[:length].clone(), mask[:length].clone())
        return [read[index] for index in range(len(texts))]
