"""
A model of one's own that reads ELMo as it reads any embedding: nothing here names it. Its config,
token_embedder.jsonnet, does, and model_test.py tests both.
"""

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from allennlp.nn.util import get_text_field_mask
from allennlp.training.metrics import CategoricalAccuracy


@Model.register("own_classifier")
class OwnClassifier(Model):
    default_predictor = "text_classifier"

    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2VecEncoder,
        **kwargs,  # the regularizer is an argument of Model
    ) -> None:
        super().__init__(vocab, **kwargs)
        self.text_field_embedder = text_field_embedder
        self.encoder = encoder
        self.scores = torch.nn.Linear(encoder.get_output_dim(), vocab.get_vocab_size("labels"))
        self.accuracy = CategoricalAccuracy()

    def forward(
        self, tokens: TextFieldTensors, label: torch.Tensor | None = None
    ) -> dict[str, torch.Tensor]:
        x = self.text_field_embedder(tokens)
        logits = self.scores(self.encoder(x, get_text_field_mask(tokens)))
        outputs = {"probs": logits.softmax(dim=-1)}
        if label is not None:
            outputs["loss"] = torch.nn.functional.cross_entropy(logits, label)
            self.accuracy(logits, label)
        return outputs

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        return {"accuracy": self.accuracy.get_metric(reset)}
