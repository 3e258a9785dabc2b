import torch
from allennlp.data import Vocabulary
from allennlp.models import Model

from elmo_tasks.modules.text_embedder import ElmoTextEmbedder


class Tagger(Model):
    """The base class of the taggers: the names of the tags in the vocabulary."""

    text_embedder: ElmoTextEmbedder
    tag_scores: torch.nn.Linear

    def __init__(self, vocab: Vocabulary, **kwargs) -> None:
        super().__init__(vocab, **kwargs)
        names = vocab.get_index_to_token_vocabulary("labels")
        self.tag_names = [names[index] for index in range(len(names))]

    def names_of(self, tags: torch.Tensor, mask: torch.Tensor) -> list[list[str]]:
        """Returns the names of the tags of each sentence, of shape (batch, length) with padding."""
        return [
            [self.tag_names[tag] for tag in row[live].tolist()] for row, live in zip(tags, mask)
        ]

    def metrics_of(self, scores: dict[str, float]) -> dict[str, float]:
        """Adds the mixes to the scores of spans. In training, leaves out those of single types."""
        if self.training:
            scores = {name: value for name, value in scores.items() if name.endswith("-overall")}
        return {**scores, **self.text_embedder.mix_metrics()}
