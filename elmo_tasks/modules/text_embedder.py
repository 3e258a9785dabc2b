from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Union

import torch
from allennlp.common import FromParams
from allennlp.data import TextFieldTensors
from allennlp.modules import TextFieldEmbedder
from allennlp.modules.token_embedders import TokenEmbedder
from allennlp.nn.util import get_text_field_mask

from elmo_tasks.bilm import BiLm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.from_fields import check_fields, from_fields
from elmo_tasks.common.tensors import distinct_rows
from elmo_tasks.elmo.from_config import bilm_from_config, check_bilm
from elmo_tasks.elmo.mix import ElmoMix

# The name of the indexer of char ids in a reader's `token_indexers`.
ELMO_INDEXER = "elmo"


class EmbeddedText(NamedTuple):
    """
    A text's vectors for the input of an encoder, and ELMo_k for the encoder's output.

    # Parameters

    x: Shape (batch, length, x_dim): [x_k; ELMo_k], or x_k if ELMo is not at the input.
    elmo: Shape (batch, length, elmo_dim): ELMo_k for the output, of width 0 if ELMo is not at the
        output.
    mask (`torch.BoolTensor`): Shape (batch, length): true at tokens.
    """

    x: torch.Tensor
    elmo: torch.Tensor
    mask: torch.Tensor

    def extend(self, h: torch.Tensor) -> torch.Tensor:
        """Returns [h_k; ELMo_k], for `h` of shape (batch, length, h_dim)."""
        return torch.cat([h, self.elmo], dim=-1)


class ElmoTextEmbedder(torch.nn.Module, FromParams):
    """
    Embeds the texts of a task model (Peters et al. 2018, section 3.3). ELMo joins the model at each
    place that has a mix: at the input as [x_k; ELMo_k], at the output of the encoder as [h_k;
    ELMo_k], at both or at neither.

    # Parameters

    words: Computes x_k, from all indexers but `elmo`.
    bilm: The biLM, its name or its arguments (see `bilm_from_config`). Needed if there is a mix.
    input_mix, output_mix: The arguments of `ElmoMix` at each place. All texts share the mixes.
    serialization_dir: The folder of the training run or archive. AllenNLP passes it.
    """

    def __init__(
        self,
        words: TextFieldEmbedder,
        bilm: Union[BiLm, str, dict[str, Any]] = None,
        input_mix: dict[str, Any] = None,
        output_mix: dict[str, Any] = None,
        serialization_dir: str = None,
    ) -> None:
        super().__init__()
        _check_mixed(bilm, input_mix, output_mix)
        self.words = words
        self.bilm = None if bilm is None else bilm_from_config(bilm, serialization_dir)
        self.input_mix = self._mix(input_mix)
        self.output_mix = self._mix(output_mix)

    @staticmethod
    def check_fields(fields: Mapping[str, Any]) -> None:
        """Raises `ConfigurationError` if no text embedder can be made from a config's fields."""
        bilm, *mixes = (fields.get(name) for name in ("bilm", "input_mix", "output_mix"))
        _check_mixed(bilm, *mixes)
        _check_bilm_and_mixes(bilm, mixes)

    def get_output_dim(self) -> int:
        """Returns the width of `EmbeddedText.x`."""
        return self.words.get_output_dim() + self._place_dim(self.input_mix)

    def get_elmo_dim(self) -> int:
        """Returns the width that `EmbeddedText.extend` adds."""
        return self._place_dim(self.output_mix)

    def mixes(self) -> dict[str, ElmoMix]:
        """Returns the mixes by their places, `input` and `output`."""
        places = {"input": self.input_mix, "output": self.output_mix}
        return {place: mix for place, mix in places.items() if mix is not None}

    def mix_metrics(self) -> dict[str, float]:
        """Returns the weights s_j and gamma of each place, as metrics of an epoch."""
        metrics = {}
        for place, mix in self.mixes().items():
            for j, weight in enumerate(mix.weights.tolist()):
                metrics[f"elmo_{place}_s{j}"] = weight
            metrics[f"elmo_{place}_gamma"] = mix.gamma.item()
        return metrics

    def forward(self, *texts: TextFieldTensors) -> list[EmbeddedText]:
        """
        Embeds one or more text fields of the instances. The biLM reads all fields in one batch, and
        a frozen biLM reads equal texts only once.
        """
        layers = self._layers(texts)
        return [self._embed(text, layer) for text, layer in zip(texts, layers)]

    def _embed(self, text: TextFieldTensors, layers: torch.Tensor | None) -> EmbeddedText:
        mask = get_text_field_mask(text)
        x = self.words({name: ids for name, ids in text.items() if name != ELMO_INDEXER})
        if layers is not None and self.input_mix is not None:
            x = torch.cat([x, self.input_mix(layers, mask)], dim=-1)
        if layers is None or self.output_mix is None:
            return EmbeddedText(x, x.new_empty(*mask.shape, 0), mask)
        return EmbeddedText(x, self.output_mix(layers, mask), mask)

    def _layers(self, texts: Sequence[TextFieldTensors]) -> list[torch.Tensor | None]:
        """Returns the layers of each text, shape (batch, num_layers, length, dim)."""
        if self.bilm is None:
            return [None] * len(texts)
        char_ids = [self.bilm.fitted(_char_ids(text)) for text in texts]
        longest = max(ids.size(1) for ids in char_ids)
        padded = [
            torch.nn.functional.pad(ids, (0, 0, 0, longest - ids.size(1))) for ids in char_ids
        ]
        layers = _distinct_layers(self.bilm, torch.cat(padded)).chunk(len(texts))
        return [part[:, :, : ids.size(1)] for part, ids in zip(layers, char_ids)]

    def _mix(self, fields: dict[str, Any] | None) -> ElmoMix | None:
        if fields is None or self.bilm is None:
            return None
        return from_fields(ElmoMix, fields, num_layers=self.bilm.num_layers)

    def _place_dim(self, mix: ElmoMix | None) -> int:
        if mix is None or self.bilm is None:
            return 0
        return mix.get_output_dim(self.bilm.get_output_dim())


def _check_mixed(bilm: Any, input_mix: Any, output_mix: Any) -> None:
    if (bilm is None) != (input_mix is None and output_mix is None):
        raise ConfigurationError(
            "give bilm together with input_mix, output_mix or both; or give none of the three"
        )


def _check_bilm_and_mixes(bilm: Any, mixes: Sequence[Mapping[str, Any] | None]) -> None:
    if bilm is not None:
        check_bilm(bilm)
    for mix in mixes:
        if mix is not None:
            check_fields(ElmoMix, mix, arguments=("num_layers",))


def _distinct_layers(bilm: BiLm, char_ids: torch.Tensor) -> torch.Tensor:
    distinct, rows = distinct_rows(char_ids.flatten(1))
    # Equal texts have different layers if the biLM has dropout or carries its state.
    if len(distinct) == len(char_ids) or bilm.trains or bilm.state_name == "carry":
        return bilm(char_ids).layers
    return bilm(distinct.unflatten(1, char_ids.shape[1:])).layers.index_select(0, rows)


def _char_ids(text: TextFieldTensors) -> torch.Tensor:
    if "elmo_tokens" not in text.get(ELMO_INDEXER, {}):
        raise ConfigurationError(
            f"the reader's token_indexers need an indexer named {ELMO_INDEXER!r} of type "
            "elmo_char_ids"
        )
    return text[ELMO_INDEXER]["elmo_tokens"]


@TokenEmbedder.register("elmo_bilm")
class ElmoBiLmEmbedder(TokenEmbedder):
    """
    Gives any AllenNLP model ELMo_k (Peters et al. 2018, equation 1), in place of AllenNLP's
    `elmo_token_embedder`. Its indexer is `elmo_char_ids` or `elmo_characters`.

    Registered as a `TokenEmbedder` with name "elmo_bilm".

    # Parameters

    bilm: The biLM, its name or its arguments (see `bilm_from_config`).
    mix: The arguments of `ElmoMix`. By default it uses all layers, trains, and has a dropout of
        0.5.
    serialization_dir: The folder of the training run or archive. AllenNLP passes it.
    """

    def __init__(
        self,
        bilm: Union[BiLm, str, dict[str, Any]],
        mix: dict[str, Any] = None,
        serialization_dir: str = None,
    ) -> None:
        super().__init__()
        self.bilm = bilm_from_config(bilm, serialization_dir)
        self.mix = from_fields(ElmoMix, mix or {}, num_layers=self.bilm.num_layers)

    @staticmethod
    def check_fields(fields: Mapping[str, Any]) -> None:
        """Raises `ConfigurationError` if no embedder can be made from a config's fields."""
        _check_bilm_and_mixes(fields.get("bilm"), [fields.get("mix")])

    def get_output_dim(self) -> int:
        return self.mix.get_output_dim(self.bilm.get_output_dim())

    def forward(self, elmo_tokens: torch.Tensor) -> torch.Tensor:
        """
        Maps char ids of shape (batch, ..., length, 50) to ELMo_k: shape (batch, ..., length,
        width), zeros at padding.
        """
        layers, mask = self.bilm(elmo_tokens.flatten(0, -3))
        return self.mix(layers, mask).unflatten(0, elmo_tokens.shape[:-2])
