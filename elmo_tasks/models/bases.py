from typing import Any

import torch
from allennlp.common.checks import check_dimensions_match
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.modules import FeedForward, Maxout
from allennlp.training.metrics import CategoricalAccuracy

from elmo_tasks.modules.text_embedder import ElmoTextEmbedder


class Classifier(Model):
    """The base class of classifiers. It computes their outputs, loss and metric."""

    text_embedder: ElmoTextEmbedder
    # The namespace of the classes in the vocabulary.
    namespace = "labels"

    def __init__(self, vocab: Vocabulary, **kwargs) -> None:
        super().__init__(vocab, **kwargs)
        self.accuracy = CategoricalAccuracy()

    def class_output(self, logits: torch.Tensor, label: torch.Tensor | None) -> dict[str, Any]:
        """
        Returns `logits` and `class_probabilities`, both of shape (batch, classes), and the scalar
        `loss`, if labels of shape (batch,) are given.
        """
        output = {"logits": logits, "class_probabilities": torch.softmax(logits, dim=-1)}
        if label is not None:
            output["loss"] = torch.nn.functional.cross_entropy(logits, label)
            self.accuracy(logits, label)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Adds the `label` of each instance, and the `probabilities` of all labels by name."""
        names = self.vocab.get_index_to_token_vocabulary(self.namespace)
        by_name = [
            {names[index]: probability for index, probability in enumerate(row)}
            for row in output_dict["class_probabilities"].tolist()
        ]
        labels = [max(row, key=row.__getitem__) for row in by_name]
        return {**output_dict, "label": labels, "probabilities": by_name}

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        accuracy = self.accuracy.get_metric(reset)
        return {"accuracy": accuracy, **self.text_embedder.mix_metrics()}

    def check_classes(self, classifier: FeedForward | Maxout) -> None:
        """Raises AllenNLP's `ConfigurationError` unless `classifier` has one output per class."""
        check_dimensions_match(
            classifier.get_output_dim(),
            self.vocab.get_vocab_size(self.namespace),
            "output of classifier",
            "number of classes in the data",
        )


class Tagger(Model):
    """The base class of taggers. It names their tags, and returns their metrics."""

    text_embedder: ElmoTextEmbedder
    tag_scores: torch.nn.Linear

    def __init__(self, vocab: Vocabulary, **kwargs) -> None:
        super().__init__(vocab, **kwargs)
        names = vocab.get_index_to_token_vocabulary("labels")
        self.tag_names = [names[index] for index in range(len(names))]

    def names_of(self, tags: torch.Tensor, mask: torch.Tensor) -> list[list[str]]:
        """Returns the names of each sentence's tags. Tags and mask have shape (batch, length)."""
        return [
            [self.tag_names[tag] for tag in row[live].tolist()] for row, live in zip(tags, mask)
        ]

    def metrics_of(self, scores: dict[str, float]) -> dict[str, float]:
        """
        Returns the scores of a metric, and the metrics of the mixes. In training, leaves out the
        scores of single types.
        """
        if self.training:
            scores = {name: value for name, value in scores.items() if name.endswith("-overall")}
        return {**scores, **self.text_embedder.mix_metrics()}
