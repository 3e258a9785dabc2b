from collections.abc import Iterable
from typing import NamedTuple

import torch
from tqdm import tqdm

from elmo_tasks.analysis.probe.column_reader import TaggedSentence
from elmo_tasks.encoder.encoder import ElmoEncoder


class TaggedTokens(NamedTuple):
    """
    All tokens of a file that have a tag.

    # Parameters

    keys : `list[str]`
        What the tag of each is looked up by: its lemma, or the word itself.
    tags : `list[str]`
    layers : `torch.Tensor`
        Shape (tokens, num_layers, 2 * projection_dim), in float16.
    """

    keys: list[str]
    tags: list[str]
    layers: torch.Tensor


def embed(encoder: ElmoEncoder, sentences: Iterable[TaggedSentence]) -> TaggedTokens:
    """The tagged tokens of some sentences, with their layers."""
    sentences = list(sentences)
    keys: list[str] = []
    tags: list[str] = []
    vectors = []
    layers_of = encoder.layers([sentence.words for sentence in sentences])
    for sentence, layers in tqdm(
        zip(sentences, layers_of), total=len(sentences), desc="layers", unit=" sentences"
    ):
        places = [place for place, tag in enumerate(sentence.tags) if tag]
        keys += [sentence.keys[place] for place in places]
        tags += [sentence.tags[place] for place in places]
        vectors.append(layers[:, places].transpose(0, 1).half())
    return TaggedTokens(keys, tags, torch.cat(vectors))
