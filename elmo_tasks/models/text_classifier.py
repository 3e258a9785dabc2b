from collections.abc import Iterator
from itertools import chain
from typing import Any

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import FeedForward, Seq2SeqEncoder
from allennlp.nn import InitializerApplicator
from allennlp.training.metrics import FBetaMultiLabelMeasure
from torch.nn.functional import binary_cross_entropy_with_logits

from elmo_tasks.models.bases import Classifier
from elmo_tasks.modules.document_run import DocumentRun, sentence_batches
from elmo_tasks.modules.layers import check_input, use_products
from elmo_tasks.modules.text_embedder import ElmoTextEmbedder
from elmo_tasks.readers.classify import SEVERAL

# The most tokens, padding included, that the biLM and the encoder read at a time.
_MAX_TOKENS = 2048

# A text that may have several labels gets all labels that are at least this probable.
THRESHOLD = 0.5


@Model.register("elmo_classifier")
class TextClassifier(Classifier):
    """
    Classifies texts of any length. The biLM and a biLSTM read each sentence of a text by itself, in
    batches. The maximum, the mean and an attention over all words of the text make its vector. If
    an instance has two texts, u and v, the classifier reads [u; v; `|u - v|`; u * v].

    If texts may have several labels (see `ClassifyReader`), each label has its own probability, and
    a text gets all labels with a probability of 0.5 or more. Otherwise a text gets the most
    probable label.

    Registered as a `Model` with name "elmo_classifier".

    # Parameters

    encoder: Reads a sentence. ELMo joins its output at the output place.
    feedforward: Applied to the vector of a text, or of two texts, before the labels are scored.
    dropout: Applied to the inputs of `encoder` and `feedforward`.
    """

    default_predictor = "elmo_classify"

    def __init__(
        self,
        vocab: Vocabulary,
        text_embedder: ElmoTextEmbedder,
        encoder: Seq2SeqEncoder,
        feedforward: FeedForward,
        dropout: float = 0.5,
        initializer: InitializerApplicator = InitializerApplicator(),
        **kwargs,
    ) -> None:
        super().__init__(vocab, **kwargs)
        self.several = SEVERAL in vocab.get_namespaces()
        self.namespace = SEVERAL if self.several else "labels"
        self.text_embedder = text_embedder
        self.encoder = encoder
        word_dim = encoder.get_output_dim() + text_embedder.get_elmo_dim()
        # A bias would have no effect: the softmax over the words cancels it.
        self.pool_score = torch.nn.Linear(word_dim, 1, bias=False)
        self.feedforward = feedforward
        use_products(feedforward)
        self.label_scores = torch.nn.Linear(
            feedforward.get_output_dim(), vocab.get_vocab_size(self.namespace)
        )
        self.dropout = torch.nn.Dropout(dropout)
        self._check_dimensions(3 * word_dim)
        self.f1 = FBetaMultiLabelMeasure(average="micro", threshold=THRESHOLD)
        initializer(self)

    def forward(
        self,
        tokens: TextFieldTensors,
        metadata: list[dict[str, Any]],
        second: TextFieldTensors = None,
        label: torch.Tensor = None,
    ) -> dict[str, Any]:
        """
        # Parameters

        tokens: Texts of at least one word each.
        metadata: For each instance a dictionary. Its `sentences` has for each text a list of
            sentences, each a list of words.
        second: The second text of each instance.
        label (`torch.LongTensor`): Shape (batch,). If texts may have several labels, shape (batch,
            labels), 1 at a text's labels.

        # Returns

        The outputs of `Classifier.class_output`; `tokens`, the words of the first text.
        """
        texts = [tokens] if second is None else [tokens, second]
        vectors = [
            self._vectors(text, [about["sentences"][index] for about in metadata])
            for index, text in enumerate(texts)
        ]
        features = vectors[0]
        if second is not None:
            u, v = vectors
            features = torch.cat([u, v, (u - v).abs(), u * v], dim=-1)
        # Shape: (batch, labels)
        logits = self.label_scores(self.feedforward(self.dropout(features)))
        output = self.class_output(logits, label)
        output["tokens"] = [list(chain(*about["sentences"][0])) for about in metadata]
        return output

    def class_output(self, logits: torch.Tensor, label: torch.Tensor | None) -> dict[str, Any]:
        if not self.several:
            return super().class_output(logits, label)
        output = {"logits": logits, "class_probabilities": torch.sigmoid(logits)}
        if label is not None:
            output["loss"] = binary_cross_entropy_with_logits(logits, label.to(logits))
            self.f1(output["class_probabilities"], label)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Adds the `probabilities` of all labels, and the `label` of each instance. If texts may have
        several labels, adds a list `labels`, the most probable first, not `label`.
        """
        answer = super().make_output_human_readable(output_dict)
        if self.several:
            del answer["label"]
            answer["labels"] = [
                [
                    name
                    for name in sorted(row, key=row.__getitem__, reverse=True)
                    if row[name] >= THRESHOLD
                ]
                for row in answer["probabilities"]
            ]
        return answer

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        Returns the accuracy. If texts may have several labels, returns precision, recall and F1
        over all pairs of a text and a label.
        """
        if not self.several:
            return super().get_metrics(reset)
        scores = self.f1.get_metric(reset)
        scores["f1"] = scores.pop("fscore")
        return {**scores, **self.text_embedder.mix_metrics()}

    def _vectors(self, tokens: TextFieldTensors, texts: list[list[list[str]]]) -> torch.Tensor:
        """Returns the vectors of texts, shape (batch, 3 * word_dim)."""
        runs = [DocumentRun.of(sentences, (), None) for sentences in texts]
        # Shape: (words of all texts, word_dim)
        words = torch.cat([*map(self._words, sentence_batches(tokens, runs, _MAX_TOKENS))])
        # Texts are pooled one by one, since a long text would pad all others to its length.
        return torch.stack(list(self._pool(words.split([sum(run.lengths) for run in runs]))))

    def _words(self, sentences: TextFieldTensors) -> torch.Tensor:
        (text,) = self.text_embedder(sentences)
        return text.extend(self.encoder(self.dropout(text.x), text.mask))[text.mask]

    def _pool(self, texts: tuple[torch.Tensor, ...]) -> Iterator[torch.Tensor]:
        for y in texts:
            attention = torch.softmax(self.pool_score(y), dim=0)
            yield torch.cat([y.amax(dim=0), y.mean(dim=0), (attention * y).sum(dim=0)])

    def _check_dimensions(self, text_dim: int) -> None:
        embedded = self.text_embedder.get_output_dim()
        check_input("encoder", self.encoder, embedded, "output of text_embedder")
        # If instances have two texts, the feedforward reads four vectors of this width.
        if self.feedforward.get_input_dim() != 4 * text_dim:
            source = "3 * output of encoder, with the ELMo that joins it,"
            check_input("feedforward", self.feedforward, text_dim, source)
