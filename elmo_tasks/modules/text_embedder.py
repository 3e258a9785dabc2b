from collections.abc import Sequence
from typing import NamedTuple

import torch
from allennlp.common import FromParams, Lazy
from allennlp.data import TextFieldTensors
from allennlp.modules import TextFieldEmbedder
from allennlp.nn.util import get_text_field_mask

from elmo_tasks.bilm import BiLm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.mix import ElmoMix

# The name of the char ids' indexer in a reader's `token_indexers`.
ELMO_INDEXER = "elmo"


class EmbeddedText(NamedTuple):
    """
    # Parameters

    x : `torch.Tensor`
        Shape (batch, length, x_dim): [x_k; ELMo_k], or x_k where ELMo is not at the input.
    elmo : `torch.Tensor`
        Shape (batch, length, elmo_dim): ELMo_k of the output place, of width 0 where it is not
        used.
    mask : `torch.BoolTensor`
        Shape (batch, length).
    """

    x: torch.Tensor
    elmo: torch.Tensor
    mask: torch.Tensor

    def extend(self, h: torch.Tensor) -> torch.Tensor:
        """[h_k; ELMo_k], from `h` of shape (batch, length, h_dim)."""
        return torch.cat([h, self.elmo], dim=-1)


class ElmoTextEmbedder(torch.nn.Module, FromParams):
    """
    Where ELMo joins a task model (Peters et al. 2018, section 3.3): at the input, as
    [x_k; ELMo_k], at the output of its encoder, as [h_k; ELMo_k], at both, or not at all. A mix
    that is not given is a place that is not used.

    # Parameters

    words : `TextFieldEmbedder`
        x_k, from all indexers but `elmo`.
    bilm : `BiLm`, optional
        Needed by either mix.
    input_mix, output_mix : `ElmoMix`, optional
        One of each serves all texts.
    """

    def __init__(
        self,
        words: TextFieldEmbedder,
        bilm: BiLm = None,
        input_mix: Lazy[ElmoMix] = None,
        output_mix: Lazy[ElmoMix] = None,
    ) -> None:
        super().__init__()
        if (bilm is None) != (input_mix is None and output_mix is None):
            raise ConfigurationError(
                "a text embedder has a bilm and at least one of input_mix and output_mix, or none "
                "of the three"
            )
        self.words = words
        self.bilm = bilm
        num_layers = 0 if bilm is None else bilm.num_layers
        self.input_mix = input_mix and input_mix.construct(num_layers=num_layers)
        self.output_mix = output_mix and output_mix.construct(num_layers=num_layers)

    def get_output_dim(self) -> int:
        """Width of x."""
        return self.words.get_output_dim() + self._place_dim(self.input_mix)

    def get_elmo_dim(self) -> int:
        """Width that `EmbeddedText.extend` adds."""
        return self._place_dim(self.output_mix)

    def mixes(self) -> dict[str, ElmoMix]:
        """The mix of each place that is used."""
        places = {"input": self.input_mix, "output": self.output_mix}
        return {place: mix for place, mix in places.items() if mix is not None}

    def mix_metrics(self) -> dict[str, float]:
        """The mix weights s_j and gamma of each place, as metrics of an epoch."""
        metrics = {}
        for place, mix in self.mixes().items():
            for j, weight in enumerate(mix.weights.tolist()):
                metrics[f"elmo_{place}_s{j}"] = weight
            metrics[f"elmo_{place}_gamma"] = mix.gamma.item()
        return metrics

    def forward(self, *texts: TextFieldTensors) -> list[EmbeddedText]:
        """
        # Parameters

        texts : `TextFieldTensors`
            One or more texts of each instance; the biLM runs once for all of them.

        # Returns

        `list[EmbeddedText]`
            One a text.
        """
        layers = self._layers(texts)
        return [self._embed(text, layer) for text, layer in zip(texts, layers)]

    def _embed(self, text: TextFieldTensors, layers: torch.Tensor | None) -> EmbeddedText:
        mask = get_text_field_mask(text)
        x = self.words({name: ids for name, ids in text.items() if name != ELMO_INDEXER})
        if layers is None:
            return EmbeddedText(x, x.new_empty(*mask.shape, 0), mask)
        if self.input_mix is not None:
            x = torch.cat([x, self.input_mix(layers, mask)], dim=-1)
        if self.output_mix is None:
            return EmbeddedText(x, x.new_empty(*mask.shape, 0), mask)
        return EmbeddedText(x, self.output_mix(layers, mask), mask)

    def _layers(self, texts: Sequence[TextFieldTensors]) -> list[torch.Tensor | None]:
        """Of each text, in one run of the biLM: shape (batch, num_layers, length, dim)."""
        if self.bilm is None:
            return [None] * len(texts)
        char_ids = [_char_ids(text) for text in texts]
        longest = max(ids.size(1) for ids in char_ids)
        padded = [
            torch.nn.functional.pad(ids, (0, 0, 0, longest - ids.size(1))) for ids in char_ids
        ]
        layers = self.bilm(torch.cat(padded)).layers.chunk(len(texts))
        return [part[:, :, : ids.size(1)] for part, ids in zip(layers, char_ids)]

    def _place_dim(self, mix: ElmoMix | None) -> int:
        return 0 if mix is None or self.bilm is None else self.bilm.get_output_dim()


def _char_ids(text: TextFieldTensors) -> torch.Tensor:
    if ELMO_INDEXER not in text:
        raise ConfigurationError(
            f"the reader's token_indexers need one named {ELMO_INDEXER!r} of type elmo_characters"
        )
    return text[ELMO_INDEXER]["elmo_tokens"]
