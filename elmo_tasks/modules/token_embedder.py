from typing import Any, Union

import torch
from allennlp.modules.token_embedders import TokenEmbedder

from elmo_tasks.bilm import BiLm
from elmo_tasks.common.from_fields import from_fields
from elmo_tasks.elmo.from_config import bilm_from_config
from elmo_tasks.elmo.mix import ElmoMix


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
    serialization_dir: AllenNLP passes this argument (see `bilm_from_config`).
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

    def get_output_dim(self) -> int:
        return self.mix.get_output_dim(self.bilm.get_output_dim())

    def forward(self, elmo_tokens: torch.Tensor) -> torch.Tensor:
        """
        Maps char ids of shape (batch, ..., length, 50) to ELMo_k: shape (batch, ..., length,
        width), zeros at padding.
        """
        layers, mask = self.bilm(elmo_tokens.flatten(0, -3))
        return self.mix(layers, mask).unflatten(0, elmo_tokens.shape[:-2])
