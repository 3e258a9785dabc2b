from functools import partial
from typing import Any

import numpy
import torch
from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.data.fields import MetadataField, TextField
from allennlp.modules import TextFieldEmbedder
from allennlp.predictors import Predictor

from elmo_tasks.modules.text_embedder import EmbeddedText


def saliency(predictor: Predictor, inputs: JsonDict) -> dict[str, Any]:
    """
    Computes how much each word matters for a model's answer: the gradient of the answer's loss
    times the word's vector [x_k; ELMo_k], as a share of the sum over all words of the text. The
    `SimpleGradient` of AllenNLP 2.10.1 has an error: it multiplies the gradient of each word by the
    vector of the first word.

    # Returns

    `texts`: for each text of the input, its `field`, its `tokens` and `weights`. `weights` has a
        list for each labelled instance, for example for each tag. Each list sums to 1.
    """
    instances = predictor.json_to_labeled_instances(inputs)
    fields = {name: f for name, f in instances[0].fields.items() if isinstance(f, TextField)}
    texts: list[dict[str, Any]] = [
        {"field": name, "tokens": _words(instances[0], name), "weights": []} for name in fields
    ]
    for instance in instances:
        vectors: list[numpy.ndarray] = []
        keep = partial(_keep, vectors)
        with predictor.get_interpretable_layer().register_forward_hook(keep):
            gradients, _ = predictor.get_gradients([instance])
        # AllenNLP numbers the texts backwards: 1 is the text that the model embeds last.
        for number, text, vector in zip(range(len(texts), 0, -1), texts, vectors, strict=True):
            slopes = abs((gradients[f"grad_input_{number}"] * vector)[0].sum(axis=-1))
            text["weights"].append((slopes / max(slopes.sum(), 1e-30)).tolist())
    return {"texts": texts}


def _words(instance: Instance, name: str) -> list[str]:
    """Returns the words of a text as the user wrote them, if the model reads loud ones plainly."""
    metadata = instance.fields.get("metadata")
    about = metadata.metadata if isinstance(metadata, MetadataField) else {}
    words = about.get("written", about).get(name)
    if isinstance(words, list):
        return words
    return [token.text for token in instance[name]]  # type: ignore[attr-defined]


def _keep(vectors: list[numpy.ndarray], _: Any, __: Any, output: torch.Tensor) -> None:
    vectors.append(output.detach().cpu().numpy())


class TokenVectors(torch.nn.Module):
    """
    The layer whose gradients `allennlp.interpret` reads. It returns a copy of each token's vector
    [x_k; ELMo_k], with the ELMo of both places. `Hotflip` passes ids of words, which are embedded
    by `words`.
    """

    def __init__(self, words: TextFieldEmbedder) -> None:
        super().__init__()
        self.words = words

    def forward(self, vectors: Any) -> torch.Tensor:
        # AllenNLP's hooks change the output in place.
        return self.words(vectors) if isinstance(vectors, dict) else vectors.clone()


def passed_through(layer: torch.nn.Module, text: EmbeddedText, as_one: bool) -> EmbeddedText:
    """
    Applies a layer to a text's vectors. With `as_one`, the sentences of a document are one row.
    """
    vectors = torch.cat([text.x, text.elmo], dim=-1)
    if as_one:
        vectors = vectors.masked_scatter(
            text.mask.unsqueeze(-1), layer(vectors[text.mask].unsqueeze(0))
        )
    else:
        vectors = layer(vectors)
    x, elmo = vectors.split([text.x.size(-1), text.elmo.size(-1)], dim=-1)
    return text._replace(x=x, elmo=elmo)
