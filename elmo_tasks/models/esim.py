from collections.abc import Sequence
from typing import Any

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import FeedForward, InputVariationalDropout, Seq2SeqEncoder
from allennlp.modules.matrix_attention import DotProductMatrixAttention
from allennlp.nn import InitializerApplicator
from allennlp.nn.util import masked_max, masked_mean, masked_softmax, weighted_sum
from torch.nn.functional import pad

from elmo_tasks.models.bases import Classifier
from elmo_tasks.modules.layers import check_input, use_products
from elmo_tasks.modules.text_embedder import ElmoTextEmbedder, EmbeddedText


@Model.register("elmo_esim")
class Esim(Classifier):
    """
    ESIM, the sequence model of Chen et al. 2017, section 3, with ELMo as in Peters et al. 2018,
    supplement A.3. A biLSTM encodes premise and hypothesis, and each attends to the other. A second
    biLSTM reads each text together with the output of its attention. The two texts share all
    layers.

    Registered as a `Model` with name "elmo_esim".

    # Parameters

    encoder: The first biLSTM. ELMo joins its output at the output place.
    projection: Applied to the enhancement [a; ã; a - ã; a * ã], where ã is the output of the
        attention for each token.
    composer: The second biLSTM.
    classifier: Computes the logits of the classes from the mean and the maximum of each text.
    dropout: Applied to the inputs of `encoder` and `composer`, with one mask for all tokens of a
        text, and to each element of the input of `classifier`.
    attention_dropout: Applied to each element of the enhancement. The paper has 0.5
        "following attention" in its ELMo models, and does not say where exactly.
    """

    default_predictor = "elmo_snli"

    def __init__(
        self,
        vocab: Vocabulary,
        text_embedder: ElmoTextEmbedder,
        encoder: Seq2SeqEncoder,
        projection: FeedForward,
        composer: Seq2SeqEncoder,
        classifier: FeedForward,
        dropout: float = 0.5,
        attention_dropout: float = 0.0,
        initializer: InitializerApplicator = InitializerApplicator(),
        **kwargs,
    ) -> None:
        super().__init__(vocab, **kwargs)
        self.text_embedder = text_embedder
        self.encoder = encoder
        self.attention = DotProductMatrixAttention()
        self.projection = projection
        self.composer = composer
        self.classifier = classifier
        self.variational_dropout = InputVariationalDropout(dropout)
        self.attention_dropout = torch.nn.Dropout(attention_dropout)
        self.dropout = torch.nn.Dropout(dropout)
        use_products(projection)
        self._check_dimensions()
        initializer(self)

    def forward(
        self,
        premise: TextFieldTensors,
        hypothesis: TextFieldTensors,
        label: torch.Tensor = None,
        metadata: list[dict[str, Any]] = None,
    ) -> dict[str, Any]:
        """
        # Parameters

        premise, hypothesis: Texts of at least one token each.
        label (`torch.LongTensor`): Shape (batch,).
        metadata: For each pair a dictionary with its words under `premise_tokens` and
            `hypothesis_tokens`.

        # Returns

        The outputs of `Classifier.class_output`; the fields of the metadata, if given.
        """
        texts = self.text_embedder(premise, hypothesis)
        masks = [text.mask for text in texts]
        # Shapes: (batch, premise length, a_dim) and (batch, hypothesis length, a_dim), where a_dim
        # is the width of the encoder plus that of ELMo at the output place
        a, b = self._encode(texts)
        # Shape: (batch, premise length, hypothesis length)
        scores = self.attention(a, b)
        attended = [
            weighted_sum(b, _softmax_over(scores, masks[1])),
            weighted_sum(a, _softmax_over(scores.transpose(1, 2), masks[0])),
        ]
        # Shape: (batch, 4 * width of the composer)
        v = torch.cat(self._compose([a, b], attended, masks), dim=-1)
        # Shape: (batch, classes)
        logits = self.classifier(self.dropout(v))
        output = self.class_output(logits, label)
        if metadata is not None:
            for name in ("premise_tokens", "hypothesis_tokens"):
                output[name] = [pair[name] for pair in metadata]
        return output

    def _encode(self, texts: Sequence[EmbeddedText]) -> list[torch.Tensor]:
        inputs = [self.variational_dropout(text.x) for text in texts]
        encoded = _encode_together(self.encoder, inputs, [text.mask for text in texts])
        return [text.extend(h) for text, h in zip(texts, encoded)]

    def _compose(
        self,
        texts: Sequence[torch.Tensor],
        attended: Sequence[torch.Tensor],
        masks: Sequence[torch.Tensor],
    ) -> list[torch.Tensor]:
        """
        Composes each text with `attended`, the output of its attention to the other text, which has
        the shape of the text. Returns the pooled vector of each text: shape (batch, 2 * width of
        the composer).
        """
        enhanced = [
            torch.cat([a, aligned, a - aligned, a * aligned], dim=-1)
            for a, aligned in zip(texts, attended)
        ]
        projected = [
            self.variational_dropout(self.projection(self.attention_dropout(text)))
            for text in enhanced
        ]
        # Shape of each: (batch, length, width of the composer)
        composed = _encode_together(self.composer, projected, masks)
        return [_pool(v, mask) for v, mask in zip(composed, masks)]

    def _check_dimensions(self) -> None:
        embedded = self.text_embedder.get_output_dim()
        check_input("encoder", self.encoder, embedded, "output of text_embedder")
        enhanced = 4 * (self.encoder.get_output_dim() + self.text_embedder.get_elmo_dim())
        source = "4 * output of encoder, with the ELMo that joins it,"
        check_input("projection", self.projection, enhanced, source)
        projected = self.projection.get_output_dim()
        check_input("composer", self.composer, projected, "output of projection")
        pooled = 4 * self.composer.get_output_dim()
        check_input("classifier", self.classifier, pooled, "4 * output of composer")
        self.check_classes(self.classifier)


def _pool(v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Returns the mean and the maximum over the tokens: shape (batch, 2 * width)."""
    # Shape: (batch, length, 1)
    tokens = mask.unsqueeze(-1)
    return torch.cat([masked_mean(v, tokens, dim=1), masked_max(v, tokens, dim=1)], dim=-1)


def _softmax_over(scores: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """
    Computes the softmax over the last axis. The mask, of shape (batch, length), is `False` at the
    padding of this axis.
    """
    # Without `memory_efficient`, padding would score 0, which may be far above all tokens' scores.
    return masked_softmax(scores, mask.unsqueeze(1), memory_efficient=True)


def _encode_together(
    encoder: Seq2SeqEncoder, texts: Sequence[torch.Tensor], masks: Sequence[torch.Tensor]
) -> list[torch.Tensor]:
    """Runs an encoder once for several texts, each of shape (batch, length, dim), as one batch."""
    lengths = [mask.size(1) for mask in masks]
    widths = [max(lengths) - length for length in lengths]
    h = encoder(
        torch.cat([pad(text, (0, 0, 0, width)) for text, width in zip(texts, widths)]),
        torch.cat([pad(mask, (0, width)) for mask, width in zip(masks, widths)]),
    )
    return [part[:, :length] for part, length in zip(h.chunk(len(texts)), lengths)]
