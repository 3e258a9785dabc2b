from typing import Any, Union

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import FeedForward, Maxout, Seq2SeqEncoder
from allennlp.nn import InitializerApplicator
from allennlp.nn.util import masked_max, masked_mean, masked_softmax, weighted_sum

from elmo_tasks.common.errors import check_choice
from elmo_tasks.models.bases import Classifier
from elmo_tasks.modules.layers import check_input, use_products
from elmo_tasks.modules.text_embedder import ElmoTextEmbedder, EmbeddedText

# The values of `output_place`: the layers whose output ELMo can join.
OUTPUT_PLACES = ("encoder", "integrator")


@Model.register("elmo_bcn")
class Bcn(Classifier):
    """
    The biattentive classification network of McCann et al. 2017, section 5, with ELMo as in Peters
    et al. 2018, supplement A.8. A biLSTM encodes a sentence, which then attends to itself. A second
    biLSTM reads the output of the attention. Four poolings make the vector that is classified.

    Registered as a `Model` with name "elmo_bcn".

    # Parameters

    feedforward: Applied to every embedded token.
    encoder: Computes X from the output of `feedforward`.
    integrator: Reads [X; X - C; X * C], where C is the output of the attention for each token.
    classifier (`FeedForward` or `Maxout`): Computes the logits of the classes from the four pooled
        vectors.
    output_place: The layer whose output ELMo joins: `encoder`, which is before the attention, or
        `integrator`, as in allennlp-models. Without an output mix, this choice has no effect.
    dropout: Applied to the inputs of `feedforward` and `classifier`.
    """

    default_predictor = "elmo_sst"

    def __init__(
        self,
        vocab: Vocabulary,
        text_embedder: ElmoTextEmbedder,
        feedforward: FeedForward,
        encoder: Seq2SeqEncoder,
        integrator: Seq2SeqEncoder,
        classifier: Union[FeedForward, Maxout],
        output_place: str = "encoder",
        dropout: float = 0.2,
        initializer: InitializerApplicator = InitializerApplicator(),
        **kwargs,
    ) -> None:
        super().__init__(vocab, **kwargs)
        check_choice("output_place", output_place, OUTPUT_PLACES)
        self.text_embedder = text_embedder
        self.feedforward = feedforward
        self.encoder = encoder
        self.integrator = integrator
        self.classifier = classifier
        self.output_place = output_place
        self.dropout = torch.nn.Dropout(dropout)
        # A bias would have no effect: the softmax over the tokens cancels it.
        self.pool_score = torch.nn.Linear(self._output_dim("integrator"), 1, bias=False)
        use_products(feedforward)
        self._check_dimensions()
        initializer(self)

    def forward(
        self,
        tokens: TextFieldTensors,
        label: torch.Tensor = None,
        metadata: list[dict[str, Any]] = None,
    ) -> dict[str, Any]:
        """
        # Parameters

        tokens: Sentences of at least one token each.
        label (`torch.LongTensor`): Shape (batch,).
        metadata: For each sentence a dictionary with its words under `tokens`.

        # Returns

        The outputs of `Classifier.class_output`; `tokens`, if metadata is given.
        """
        (text,) = self.text_embedder(tokens)
        # Shape: (batch, length, encoder width)
        h = self.encoder(self.feedforward(self.dropout(text.x)), text.mask)
        # Shape: (batch, length, x_dim), where x_dim includes ELMo if output_place is 'encoder'
        x = self._extend("encoder", text, h)
        c = _attend(x, text.mask)
        # Shape: (batch, length, integrator width)
        h = self.integrator(torch.cat([x, x - c, x * c], dim=-1), text.mask)
        y = self._extend("integrator", text, h)
        # Shape: (batch, classes)
        logits = self.classifier(self.dropout(self._pool(y, text.mask)))
        output = self.class_output(logits, label)
        if metadata is not None:
            output["tokens"] = [sentence["tokens"] for sentence in metadata]
        return output

    def _extend(self, layer: str, text: EmbeddedText, h: torch.Tensor) -> torch.Tensor:
        return text.extend(h) if layer == self.output_place else h

    def _output_dim(self, layer: str) -> int:
        """
        Returns the width of a layer's output. If ELMo joins the layer, the width of ELMo is added.
        """
        elmo_dim = self.text_embedder.get_elmo_dim() if layer == self.output_place else 0
        return getattr(self, layer).get_output_dim() + elmo_dim

    def _pool(self, y: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Pools by maximum, minimum, mean and self-attention: shape (batch, 4 * y_dim)."""
        # Shape: (batch, length, 1)
        tokens = mask.unsqueeze(-1)
        scores = self.pool_score(y).squeeze(-1)
        attention = masked_softmax(scores, mask, memory_efficient=True)
        pooled = [
            masked_max(y, tokens, dim=1),
            -masked_max(-y, tokens, dim=1),
            masked_mean(y, tokens, dim=1),
            weighted_sum(y, attention),
        ]
        return torch.cat(pooled, dim=-1)

    def _check_dimensions(self) -> None:
        embedded = self.text_embedder.get_output_dim()
        x_dim, y_dim = self._output_dim("encoder"), self._output_dim("integrator")
        note = "with the ELMo that joins it,"
        check_input("feedforward", self.feedforward, embedded, "output of text_embedder")
        hidden = self.feedforward.get_output_dim()
        check_input("encoder", self.encoder, hidden, "output of feedforward")
        check_input("integrator", self.integrator, 3 * x_dim, f"3 * x, {note}")
        check_input("classifier", self.classifier, 4 * y_dim, f"4 * output of integrator, {note}")
        self.check_classes(self.classifier)


def _attend(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """
    Computes C = softmax(A) X, where A = X X^T: for each token, a weighted mean of the tokens of its
    sentence. Returns shape (batch, length, x_dim).
    """
    # Without `memory_efficient`, padding would score 0, which may be far above all tokens' scores.
    # Shape: (batch, length of the queries, length of the keys)
    scores = x.bmm(x.transpose(1, 2))
    attention = masked_softmax(scores, mask.unsqueeze(1), memory_efficient=True)
    return weighted_sum(x, attention)
