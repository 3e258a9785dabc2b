from typing import Any

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2SeqEncoder
from allennlp.nn import InitializerApplicator
from allennlp.nn.util import sequence_cross_entropy_with_logits

from elmo_tasks.models.bases import Tagger
from elmo_tasks.models.metrics.spans import SrlMetric
from elmo_tasks.modules.bio_paths import BioPaths
from elmo_tasks.modules.layers import check_input
from elmo_tasks.modules.text_embedder import ElmoTextEmbedder
from elmo_tasks.readers.entities import Entity, read_entities
from elmo_tasks.readers.srl import gold_arguments


@Model.register("elmo_srl_tagger")
class SrlTagger(Tagger):
    """
    Labels the semantic roles of one predicate of a sentence, as He et al. 2017 do, with ELMo as in
    Peters et al. 2018, supplement A.5. Interleaved LSTMs read each word with an embedding that says
    whether it is the predicate. A softmax scores the tags of each word. The best tags are chosen
    jointly among the sequences that the scheme BIO allows.

    Registered as a `Model` with name "elmo_srl_tagger".

    # Parameters

    encoder: The interleaved LSTMs, which read [x_k; p_k], where p_k is the embedding of the
        predicate's mark. ELMo joins their output at the output place.
    predicate_dim: Width of p_k.
    """

    default_predictor = "elmo_srl"

    def __init__(
        self,
        vocab: Vocabulary,
        text_embedder: ElmoTextEmbedder,
        encoder: Seq2SeqEncoder,
        predicate_dim: int = 100,
        initializer: InitializerApplicator = InitializerApplicator(),
        **kwargs,
    ) -> None:
        super().__init__(vocab, **kwargs)
        self.text_embedder = text_embedder
        self.predicate_embedding = torch.nn.Embedding(2, predicate_dim)
        self.encoder = encoder
        width = text_embedder.get_output_dim() + predicate_dim
        check_input("encoder", encoder, width, "output of text_embedder with predicate_dim")
        output_dim = encoder.get_output_dim() + text_embedder.get_elmo_dim()
        self.tag_scores = torch.nn.Linear(output_dim, len(self.tag_names))
        self.srl = SrlMetric()
        initializer(self)

    def forward(
        self,
        tokens: TextFieldTensors,
        predicate: torch.Tensor,
        tags: torch.Tensor = None,
        metadata: list[dict[str, Any]] = None,
    ) -> dict[str, Any]:
        """
        # Parameters

        tokens: Sentences of at least one token each; one row for each predicate.
        predicate (`torch.LongTensor`): Shape (batch, 1): the index of the predicate.
        tags (`torch.LongTensor`): Shape (batch, length), negative at tags that the vocabulary
            lacks. The loss ignores the negative tags.
        metadata: A dictionary for each predicate: `tokens`, the words; `predicate`, its index; and,
            if they are known, `arguments`, a list of `Entity`, and `nested` (see `Predicate`).

        # Returns

        `logits`, of shape (batch, length, tags); `mask` and `best_tags` (the best sequence that BIO
        allows), both of shape (batch, length); `tokens` and `predicate`, if metadata is given; the
        scalar `loss`, if tags are given: the negative log-likelihood of a tag, averaged over the
        tokens of a sentence and then over the batch.
        """
        (text,) = self.text_embedder(tokens)
        marks = torch.zeros_like(text.mask, dtype=torch.long).scatter(1, predicate, 1)
        # Shape: (batch, length, x_dim + predicate_dim)
        x = torch.cat([text.x, self.predicate_embedding(marks)], dim=-1)
        # Shape: (batch, length, tags)
        logits = self.tag_scores(text.extend(self.encoder(x, text.mask)))
        # Shape: (batch, length)
        best_tags = BioPaths(self.tag_names, logits, text.mask).best()
        output = {"logits": logits, "mask": text.mask, "best_tags": best_tags}
        if metadata is not None:
            for name in ("tokens", "predicate"):
                output[name] = [about[name] for about in metadata]
            if all("arguments" in about for about in metadata):
                found = _arguments(self.names_of(best_tags, text.mask))
                self.srl(found, [gold_arguments(about) for about in metadata])
        if tags is not None:
            known = text.mask & (tags >= 0)
            output["loss"] = sequence_cross_entropy_with_logits(logits, tags.clamp(min=0), known)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Adds for each predicate `tags`, the names of its tags; `arguments`, a list of `Entity`,
        which includes the predicate itself with the role V; and `confidences`, the marginal
        probability of each argument (see `BioPaths`).
        """
        mask = output_dict["mask"]
        tags = self.names_of(output_dict["best_tags"], mask)
        arguments = _arguments(tags)
        paths = BioPaths(self.tag_names, output_dict["logits"].double(), mask)
        confidences = paths.span_probabilities(arguments)
        return {**output_dict, "tags": tags, "arguments": arguments, "confidences": confidences}

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Returns precision, recall and F1 of arguments as `srl-eval.pl` computes them."""
        return self.metrics_of(self.srl.get_metric(reset))


def _arguments(tags: list[list[str]]) -> list[list[Entity]]:
    return [read_entities(row, "BIO") for row in tags]
