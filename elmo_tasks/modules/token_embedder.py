import torch
from allennlp.common import Lazy
from allennlp.modules.token_embedders import TokenEmbedder

from elmo_tasks.bilm import BiLm
from elmo_tasks.elmo.mix import ElmoMix


@TokenEmbedder.register("elmo_bilm")
class ElmoBiLmEmbedder(TokenEmbedder):
    """
    ELMo_k (Peters et al. 2018, equation 1) as the embedder of any AllenNLP model, in the place of
    `elmo_token_embedder`; its indexer is `elmo_characters`.

    Registered as a `TokenEmbedder` with name "elmo_bilm".

    # Parameters

    bilm : `BiLm`
        The biLM.
    mix : `ElmoMix`, optional
        By default the trained mix of all layers, with a dropout of 0.5.
    """

    def __init__(self, bilm: BiLm, mix: Lazy[ElmoMix] = Lazy(ElmoMix)) -> None:
        super().__init__()
        self.bilm = bilm
        self.mix = mix.construct(num_layers=bilm.num_layers)

    def get_output_dim(self) -> int:
        return self.bilm.get_output_dim()

    def forward(self, elmo_tokens: torch.Tensor) -> torch.Tensor:
        """
        # Parameters

        elmo_tokens : `torch.LongTensor`
            Char ids of shape (batch, ..., length, 50).

        # Returns

        `torch.Tensor`
            Shape (batch, ..., length, 2 * projection_dim), zeros at padding.
        """
        layers, mask = self.bilm(elmo_tokens.flatten(0, -3))
        return self.mix(layers, mask).unflatten(0, elmo_tokens.shape[:-2])
