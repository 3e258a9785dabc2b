from collections.abc import Iterable
from typing import NamedTuple

import torch
from tqdm import tqdm

from elmo_tasks.analysis.probe.column_reader import TaggedSentence
from elmo_tasks.elmo.sentence_layers import SentenceLayers


class TaggedTokens(NamedTuple):
    """
    Those tokens of a file that have a tag, with their layers.

    # Parameters

    keys: The lemma of each token, or the token itself.
    tags: The gold tags of each token, at least one.
    layers: Shape (tokens, num_layers, 2 * projection_dim); the dtype is float16.
    """

    keys: list[str]
    tags: list[tuple[str, ...]]
    layers: torch.Tensor


def embed(sentence_layers: SentenceLayers, sentences: Iterable[TaggedSentence]) -> TaggedTokens:
    """Computes the layers of sentences, and returns their tagged tokens."""
    sentences = list(sentences)
    keys: list[str] = []
    tags: list[tuple[str, ...]] = []
    vectors = []
    layers_of = sentence_layers([sentence.words for sentence in sentences])
    for sentence, layers in tqdm(
        zip(sentences, layers_of), total=len(sentences), desc="layers", unit=" sentences"
    ):
        tagged = [position for position, tag in enumerate(sentence.tags) if tag]
        keys += [sentence.keys[position] for position in tagged]
        tags += [sentence.tags[position] for position in tagged]
        vectors.append(layers[:, tagged].transpose(0, 1).half())
    return TaggedTokens(keys, tags, torch.cat(vectors))
