from typing import Any

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2SeqEncoder
from allennlp.nn import InitializerApplicator
from allennlp.nn.util import sequence_cross_entropy_with_logits

from elmo_tasks.models.bases import Tagger
from elmo_tasks.models.metrics.spans import Span, SrlMetric
from elmo_tasks.modules.bio_paths import BioPaths
from elmo_tasks.modules.layers import check_input
from elmo_tasks.modules.text_embedder import ElmoTextEmbedder, EmbeddedText
from elmo_tasks.readers.entities import Entity, read_entities
from elmo_tasks.readers.srl import gold_arguments

# The most tokens whose roles are tagged at a time in raw text, where a sentence counts once for
# each of its predicates, padding included.
_MAX_TOKENS = 4096


@Model.register("elmo_srl_tagger")
class SrlTagger(Tagger):
    """
    Labels the semantic roles of one predicate of a sentence, as He et al. 2017 do, with ELMo as in
    Peters et al. 2018, supplement A.5. Interleaved LSTMs read each word with an embedding that says
    whether it is the predicate. A softmax scores the tags of each word. The best tags are chosen
    jointly among the sequences that the scheme BIO allows.

    In the paper, the predicates are given. For raw text, a network with one hidden layer reads
    [x_k; ELMo_k] and decides for each word whether it is a predicate. No gradient goes from this
    network to [x_k; ELMo_k], so it does not change how roles are learnt.

    Registered as a `Model` with name "elmo_srl_tagger".

    # Parameters

    encoder: The interleaved LSTMs, which read [x_k; p_k], where p_k is the embedding of the
        predicate's mark. ELMo joins their output at the output place.
    predicate_dim: Width of p_k.
    predicate_hidden_dim: Width of the hidden layer that finds predicates.
    """

    default_predictor = "elmo_srl"

    def __init__(
        self,
        vocab: Vocabulary,
        text_embedder: ElmoTextEmbedder,
        encoder: Seq2SeqEncoder,
        predicate_dim: int = 100,
        predicate_hidden_dim: int = 128,
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
        self.predicate_scores = torch.nn.Sequential(
            torch.nn.Linear(text_embedder.get_output_dim(), predicate_hidden_dim),
            torch.nn.ReLU(),
            torch.nn.Linear(predicate_hidden_dim, 2),
        )
        self.srl = SrlMetric()
        self.predicates = SrlMetric()
        initializer(self)

    def forward(
        self,
        tokens: TextFieldTensors,
        predicate: torch.Tensor = None,
        tags: torch.Tensor = None,
        is_predicate: torch.Tensor = None,
        metadata: list[dict[str, Any]] = None,
    ) -> dict[str, Any]:
        """
        # Parameters

        tokens: Sentences of at least one token each; one row for each predicate.
        predicate (`torch.LongTensor`): Shape (batch, 1): the index of the predicate. Without it,
            the model finds the predicates of each sentence, and tags the roles of each of them.
        tags (`torch.LongTensor`): Shape (batch, length), negative at tags that the vocabulary
            lacks. The loss ignores the negative tags.
        is_predicate (`torch.LongTensor`): Shape (batch, length): 1 at the predicates of the
            sentence, 0 at its other tokens, negative at tokens that do not count.
        metadata: A dictionary for each predicate: `tokens`, the words; `predicate`, its index; and,
            if they are known, `arguments`, a list of `Entity`, and `nested` (see `Predicate`).

        # Returns

        - `mask`, shape (batch, length);
        - `predicate_logits`, shape (batch, length, 2), for no predicate and a predicate;
        - with predicates, `logits`, shape (batch, length, tags), and `best_tags`, shape (batch,
          length): the best sequence that BIO allows;
        - without predicates, `found`: these outputs for the predicates that the model finds. It is
          a list of dictionaries for some predicates each; `sentence` and `predicate` have the
          indices of the sentences and of the tokens;
        - if metadata is given, `tokens` and `predicate`;
        - if tags are given, the scalar `loss`: the negative log-likelihood of a tag, averaged over
          the tokens of a sentence and then over the batch. If `is_predicate` is given, its negative
          log-likelihood, averaged in the same way, is added.
        """
        (text,) = self.text_embedder(tokens)
        predicate_logits = self.predicate_scores(text.x.detach())
        output = {"mask": text.mask, "predicate_logits": predicate_logits}
        if predicate is None:
            return {**output, "found": self._tag_predicted(text, predicate_logits)}
        output.update(self._tag(text, predicate))
        if metadata is not None:
            for name in ("tokens", "predicate"):
                output[name] = [about[name] for about in metadata]
            if all("arguments" in about for about in metadata):
                arguments = _arguments(self.names_of(output["best_tags"], text.mask))
                self.srl(arguments, [gold_arguments(about) for about in metadata])
        if tags is not None:
            output["loss"] = _cross_entropy(output["logits"], tags, text.mask)
            if is_predicate is not None:
                output["loss"] += _cross_entropy(predicate_logits, is_predicate, text.mask)
                live = text.mask & (is_predicate >= 0)
                predicted = predicate_logits.argmax(dim=-1) == 1
                self.predicates(_predicates(predicted & live), _predicates(is_predicate == 1))
        return output

    def _tag_predicted(
        self, text: EmbeddedText, predicate_logits: torch.Tensor
    ) -> list[dict[str, Any]]:
        """Tags the roles of the predicates that the model finds, some predicates at a time."""
        predicted = (predicate_logits.argmax(dim=-1) == 1) & text.mask
        size = max(1, _MAX_TOKENS // text.mask.size(1))
        # Shape: (predicates, 2)
        parts = [part for part in predicted.nonzero().split(size) if len(part)]
        return [
            {
                "sentence": part[:, 0].tolist(),
                "predicate": part[:, 1].tolist(),
                **self._tag(EmbeddedText(*(tensor[part[:, 0]] for tensor in text)), part[:, 1:]),
            }
            for part in parts
        ]

    def _tag(self, text: EmbeddedText, predicate: torch.Tensor) -> dict[str, torch.Tensor]:
        """Returns `mask`, `logits` and `best_tags`, for a predicate of each sentence."""
        marks = torch.zeros_like(text.mask, dtype=torch.long).scatter(1, predicate, 1)
        # Shape: (batch, length, x_dim + predicate_dim)
        x = torch.cat([text.x, self.predicate_embedding(marks)], dim=-1)
        # Shape: (batch, length, tags)
        logits = self.tag_scores(text.extend(self.encoder(x, text.mask)))
        best_tags = BioPaths(self.tag_names, logits, text.mask).best()
        return {"mask": text.mask, "logits": logits, "best_tags": best_tags}

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """
        Adds for each predicate `tags`, the names of its tags; `arguments`, a list of `Entity`,
        which includes the predicate itself with the role V; and `confidences`, the marginal
        probability of each argument (see `BioPaths`). For raw text, adds `predicates` in place of
        `found`: for each sentence, a list of dictionaries with `predicate` (the index of the
        token), `tags`, `arguments` and `confidences`.
        """
        if "found" in output_dict:
            output = {name: value for name, value in output_dict.items() if name != "found"}
            return {**output, "predicates": self._by_sentence(output_dict)}
        mask = output_dict["mask"]
        tags = self.names_of(output_dict["best_tags"], mask)
        arguments = _arguments(tags)
        paths = BioPaths(self.tag_names, output_dict["logits"].double(), mask)
        confidences = paths.span_probabilities(arguments)
        return {**output_dict, "tags": tags, "arguments": arguments, "confidences": confidences}

    def _by_sentence(self, output_dict: dict[str, Any]) -> list[list[dict[str, Any]]]:
        names = ("predicate", "tags", "arguments", "confidences")
        predicates: list[list[dict[str, Any]]] = [[] for _ in output_dict["mask"]]
        for part in map(self.make_output_human_readable, output_dict["found"]):
            for sentence, *values in zip(part["sentence"], *(part[name] for name in names)):
                predicates[sentence].append(dict(zip(names, values)))
        return predicates

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        Returns precision, recall and F1 of arguments as `srl-eval.pl` computes them, and
        `predicates-f1`, the F1 of predicates. The arguments are those of gold predicates.
        """
        scores = self.metrics_of(self.srl.get_metric(reset))
        predicates = self.predicates.get_metric(reset)
        return {**scores, "predicates-f1": predicates["f1-measure-overall"]}


def _cross_entropy(logits: torch.Tensor, labels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """
    Returns the negative log-likelihood of a label, averaged over the tokens of a sentence whose
    label is not negative, and then over the sentences that have such tokens.
    """
    return sequence_cross_entropy_with_logits(logits, labels.clamp(min=0), mask & (labels >= 0))


def _arguments(tags: list[list[str]]) -> list[list[Entity]]:
    return [read_entities(row, "BIO") for row in tags]


def _predicates(is_predicate: torch.Tensor) -> list[list[Span]]:
    """Returns the predicates of each sentence as spans of one token."""
    rows = (row.nonzero()[:, 0].tolist() for row in is_predicate)
    return [[("predicate", index, index + 1) for index in row] for row in rows]
