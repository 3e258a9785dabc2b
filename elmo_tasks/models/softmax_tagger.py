from typing import Any

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import InputVariationalDropout, Seq2SeqEncoder
from allennlp.nn import InitializerApplicator
from allennlp.training.metrics import CategoricalAccuracy

from elmo_tasks.models.bases import Tagger
from elmo_tasks.modules.layers import check_input
from elmo_tasks.modules.text_embedder import ElmoTextEmbedder


@Model.register("elmo_tagger")
class SoftmaxTagger(Tagger):
    """
    Tags each token by itself, for example with its part of speech. It has a biLSTM and a softmax.
    For spans of tokens, such as named entities, see `CrfTagger`.

    Registered as a `Model` with name "elmo_tagger".

    # Parameters

    encoder: Reads a sentence. ELMo joins its output at the output place.
    dropout: Applied to the input of the encoder and to the vectors from which tags
        are scored. All tokens of a sentence share one mask.
    """

    default_predictor = "elmo_tag"

    def __init__(
        self,
        vocab: Vocabulary,
        text_embedder: ElmoTextEmbedder,
        encoder: Seq2SeqEncoder,
        dropout: float = 0.5,
        initializer: InitializerApplicator = InitializerApplicator(),
        **kwargs,
    ) -> None:
        super().__init__(vocab, **kwargs)
        check_input("encoder", encoder, text_embedder.get_output_dim(), "output of text_embedder")
        self.text_embedder = text_embedder
        self.encoder = encoder
        self.dropout = InputVariationalDropout(dropout)
        output_dim = encoder.get_output_dim() + text_embedder.get_elmo_dim()
        self.tag_scores = torch.nn.Linear(output_dim, len(self.tag_names))
        self.accuracy = CategoricalAccuracy()
        initializer(self)

    def forward(
        self,
        tokens: TextFieldTensors,
        tags: torch.Tensor = None,
        metadata: list[dict[str, Any]] = None,
    ) -> dict[str, Any]:
        """
        # Parameters

        tokens: Sentences of at least one token each.
        tags (`torch.LongTensor`): Shape (batch, length), negative at tags that the training data
            lacks.
        metadata: A dictionary for each sentence, with its words under `tokens`.

        # Returns

        `logits`, of shape (batch, length, tags); `mask`, of shape (batch, length); `tokens`, if
        metadata is given; the scalar `loss`, if tags are given: the mean over the tokens.
        """
        (text,) = self.text_embedder(tokens)
        h = self.encoder(self.dropout(text.x), text.mask)
        # Shape: (batch, length, tags)
        logits = self.tag_scores(self.dropout(text.extend(h)))
        output = {"logits": logits, "mask": text.mask}
        if metadata is not None:
            output["tokens"] = [sentence["tokens"] for sentence in metadata]
        if tags is not None:
            is_known = text.mask & (tags >= 0)
            sum_of_losses = torch.nn.functional.cross_entropy(
                logits[is_known], tags[is_known], reduction="sum"
            )
            output["loss"] = sum_of_losses / is_known.sum().clamp(min=1)
            self.accuracy(logits, tags, text.mask)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Adds, for each sentence, `tags`, the names of its tags, and their `probabilities`."""
        probabilities, tags = torch.softmax(output_dict["logits"], dim=-1).max(dim=-1)
        mask = output_dict["mask"]
        rows = [row[live].tolist() for row, live in zip(probabilities, mask)]
        return {**output_dict, "tags": self.names_of(tags, mask), "probabilities": rows}

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Returns the accuracy. A token whose tag the training data lacks counts as wrong."""
        return {"accuracy": self.accuracy.get_metric(reset), **self.text_embedder.mix_metrics()}
