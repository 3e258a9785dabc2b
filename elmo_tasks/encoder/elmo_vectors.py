from collections.abc import Iterable, Iterator

import torch

from elmo_tasks.elmo import ElmoMix
from elmo_tasks.encoder.encoder import ElmoEncoder


def open_encoder(
    bilm: str,
    place: str | None = None,
    layers: str | int = "all",
    device: str | torch.device = "cpu",
) -> ElmoEncoder:
    """
    Makes an encoder for another library.

    # Parameters

    bilm, place, device
        As for `ElmoEncoder.from_pretrained`.
    layers : `str | int`, optional (default = `'all'`)
        `all` for the trained mix of an archive and otherwise the mean of all layers; `last`; or the
        index of one layer, 0 for the token layer.
    """
    encoder = ElmoEncoder.from_pretrained(bilm, place, device=device)
    if layers == "all":
        return encoder
    return ElmoEncoder(encoder.bilm, ElmoMix(encoder.bilm.num_layers, layers))


def elmo_vectors(encoder: ElmoEncoder, sentences: Iterable[list[str]]) -> Iterator[torch.Tensor]:
    """
    Yields ELMo_k of each sentence, given as tokens: shape (tokens, 2 * projection_dim). These are
    the output `elmo` of the encoder, without the others and without a progress bar.
    """
    for layers in encoder.layers(sentences):
        mask = torch.ones(1, layers.size(1), dtype=torch.bool)
        with torch.no_grad():
            elmo = encoder.mix(layers[None], mask)[0]
        yield elmo
