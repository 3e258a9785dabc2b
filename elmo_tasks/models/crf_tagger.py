from typing import Any

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import ConditionalRandomField, InputVariationalDropout, Seq2SeqEncoder
from allennlp.modules.conditional_random_field.conditional_random_field import allowed_transitions
from allennlp.nn import InitializerApplicator

from elmo_tasks.common.errors import NOT_FINITE, ConfigurationError
from elmo_tasks.models.bases import Tagger
from elmo_tasks.models.metrics.spans import SpanF1
from elmo_tasks.modules.crf_paths import CrfPaths
from elmo_tasks.modules.layers import check_input
from elmo_tasks.modules.text_embedder import ElmoTextEmbedder
from elmo_tasks.readers.entities import has_ends, read_entities, split_tag


@Model.register("elmo_crf_tagger")
class CrfTagger(Tagger):
    """
    A tagger of named entities with biLSTMs and a conditional random field, as in Peters et al.
    2018, supplement A.7. The tags of a sentence are chosen jointly, among the sequences that the
    tagging scheme allows: BIOUL, as our readers write it, or BIO if no tag of the vocabulary marks
    an end.

    Registered as a `Model` with name "elmo_crf_tagger".

    # Parameters

    encoders: At least one encoder; each reads the output of the encoder before it. The paper has
        two biLSTMs. ELMo joins the output of the last one at the output place.
    dropout: Applied to the input of each encoder, as in the paper, and to the
        vectors from which tags are scored, as in allennlp-models. A sentence's tokens share a mask.
    """

    default_predictor = "elmo_ner"
    # Tells the trainer to add up the processes' losses (see `share_loss`).
    loss_is_sum = True

    def __init__(
        self,
        vocab: Vocabulary,
        text_embedder: ElmoTextEmbedder,
        encoders: list[Seq2SeqEncoder],
        dropout: float = 0.5,
        initializer: InitializerApplicator = InitializerApplicator(),
        **kwargs,
    ) -> None:
        super().__init__(vocab, **kwargs)
        self.text_embedder = text_embedder
        self.encoders = torch.nn.ModuleList(encoders)
        self.dropout = InputVariationalDropout(dropout)
        self._check_dimensions()
        output_dim = encoders[-1].get_output_dim() + text_embedder.get_elmo_dim()
        self.tag_scores = torch.nn.Linear(output_dim, len(self.tag_names))
        self.scheme = "BIOUL" if has_ends(self.tag_names) else "BIO"
        self.crf = ConditionalRandomField(
            len(self.tag_names),
            allowed_transitions(self.scheme, dict(enumerate(self.tag_names))),
            include_start_end_transitions=False,
        )
        self.span_f1 = SpanF1(vocab, "labels", label_encoding=self.scheme)
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
        tags (`torch.LongTensor`): Shape (batch, length).
        metadata: A dictionary for each sentence, with its words under `tokens`.

        # Returns

        - `logits`, shape (batch, length, tags): the input of the CRF;
        - `mask` and `best_tags` (the best path), both of shape (batch, length);
        - if metadata is given, `tokens`;
        - if tags are given, the scalar `loss`: the negative log-likelihood, summed over the batch.
        """
        (text,) = self.text_embedder(tokens)
        h = text.x
        for encoder in self.encoders:
            # Shape: (batch, length, encoder width)
            h = encoder(self.dropout(h), text.mask)
        # Shape: (batch, length, tags)
        logits = self.tag_scores(self.dropout(text.extend(h)))
        # Shape: (batch, length)
        best_tags = CrfPaths(self.crf, logits, text.mask).best()
        output = {"logits": logits, "mask": text.mask, "best_tags": best_tags}
        if metadata is not None:
            output["tokens"] = [sentence["tokens"] for sentence in metadata]
        if tags is not None:
            output["loss"] = -self.crf(logits, tags, text.mask)
            votes = torch.nn.functional.one_hot(best_tags, len(self.tag_names))
            self.span_f1(votes, tags, text.mask)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Adds for each sentence `tags`, the names of its tags; `entities`, a list of `Entity`; and
        `confidences`, the marginal probability of each entity (see `CrfPaths`).

        Raises `ValueError` if a logit is not finite: no path is then the best.
        """
        if not output_dict["logits"].isfinite().all():
            raise ValueError(NOT_FINITE)
        best_tags, mask = output_dict["best_tags"], output_dict["mask"]
        tags = self.names_of(best_tags, mask)
        entities = [read_entities(row, self.scheme) for row in tags]
        paths = CrfPaths(self.crf, output_dict["logits"].double(), mask)
        confidences = paths.span_probabilities(best_tags, entities, self._is_inside())
        return {**output_dict, "tags": tags, "entities": entities, "confidences": confidences}

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Returns precision, recall and F1 of entities as conlleval computes them."""
        return self.metrics_of(self.span_f1.get_metric(reset))

    def _is_inside(self) -> torch.Tensor:
        # Whether each tag continues an entity. Shape: (tags,)
        inside = [split_tag(name)[0] in ("I", "L") for name in self.tag_names]
        return torch.tensor(inside, device=self.tag_scores.weight.device)

    def _check_dimensions(self) -> None:
        if not self.encoders:
            raise ConfigurationError("encoders is empty; a tagger needs at least one encoder")
        width, name = self.text_embedder.get_output_dim(), "output of text_embedder"
        for index, encoder in enumerate(self.encoders, start=1):
            check_input(f"encoder {index}", encoder, width, name)
            width, name = encoder.get_output_dim(), f"output of encoder {index}"
