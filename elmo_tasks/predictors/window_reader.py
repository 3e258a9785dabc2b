from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

import torch
from allennlp.data import Batch, DatasetReader, Instance, Token
from allennlp.data.fields import TextField
from allennlp.nn.util import move_to_device

from elmo_tasks.models.bidaf import Bidaf, ReadText
from elmo_tasks.modules.windows import window_of

# The most tokens of windows that are kept: 115 MB for a model with the biLM `base`.
_MAX_KEPT = 2**16

# A passage, the first token of a window, and the token after its last.
_Key = tuple[str, int, int]


class WindowReader:
    """
    Scores the windows of long passages for a question. The model encodes each window by itself, so
    the encodings of recent windows are kept for the next questions.

    # Parameters

    reader: The dataset reader of the model.
    """

    def __init__(self, model: Bidaf, reader: DatasetReader) -> None:
        self._model, self._reader = model, reader
        self._recent_windows: OrderedDict[_Key, ReadText] = OrderedDict()

    @torch.no_grad()
    def output(self, instance: Instance) -> dict[str, Any]:
        """
        Returns `start_logits` and `end_logits` of the windows to read, one window after the other.
        """
        (text,) = self._read([instance["question"].tokens])  # type: ignore[attr-defined]
        question = ReadText(text.h.unsqueeze(0), text.mask.unsqueeze(0))
        windows = self._windows(instance)
        logits = self._model.score_each(question, [0] * len(windows), windows)
        starts, ends = zip(*logits)
        priors = [window.prior for window in instance["metadata"]["read"]]  # type: ignore[index]
        starts = tuple(start + prior for start, prior in zip(starts, priors))
        return {"start_logits": torch.cat(starts).cpu(), "end_logits": torch.cat(ends).cpu()}

    def _windows(self, instance: Instance) -> list[ReadText]:
        """
        Returns the encoded windows of an instance. Encodes only the windows whose encodings are not
        kept.
        """
        text = instance["metadata"]["passage"].text  # type: ignore[index]
        tokens = instance["passage"].tokens  # type: ignore[attr-defined]
        keys = [(text, *window[:2]) for window in instance["metadata"]["read"]]  # type: ignore[index]
        texts = {key: self._recent_windows.pop(key) for key in keys if key in self._recent_windows}
        new = [key for key in keys if key not in texts]
        texts.update(zip(new, self._read([tokens[start:stop] for _, start, stop in new])))
        self._recent_windows.update(texts)
        num_tokens = sum(stop - start for _, start, stop in self._recent_windows)
        while num_tokens > _MAX_KEPT:
            (_, start, stop), _ = self._recent_windows.popitem(last=False)
            num_tokens -= stop - start
        return [texts[key] for key in keys]

    def _read(self, texts: Sequence[list[Token]]) -> list[ReadText]:
        """Returns the model's encodings of texts. Each text is encoded by itself."""
        if not texts:
            return []
        fields = [TextField(tokens, self._reader.token_indexers) for tokens in texts]
        batch = Batch([Instance({"text": field}) for field in fields])
        batch.index_instances(self._model.vocab)
        tensors = move_to_device(batch.as_tensor_dict(), self._model._get_prediction_device())
        rows = enumerate(map(len, texts))
        read_texts = self._model.read_each(
            [window_of(tensors["text"], row, 0, length) for row, length in rows]  # type: ignore[arg-type]
        )
        # Copies, since slices would keep the whole batch.
        return [ReadText(h.clone(), mask.clone()) for h, mask in read_texts]
