from collections.abc import Iterator
from typing import Any

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import FeedForward, Seq2SeqEncoder
from allennlp.nn import InitializerApplicator

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.models.metrics.coref import CorefMetric
from elmo_tasks.modules.antecedent_choice import (
    CorefMention,
    choose_antecedents,
    cluster_labels,
    clusters_of,
)
from elmo_tasks.modules.antecedent_scorer import AntecedentScorer, Mentions
from elmo_tasks.modules.document_run import DocumentRun, sentence_batches
from elmo_tasks.modules.layers import check_input, use_products
from elmo_tasks.modules.mention_spans import SpanRepresentation, candidate_spans, choose_spans
from elmo_tasks.modules.text_embedder import ElmoTextEmbedder
from elmo_tasks.readers.coref import gold_clusters
from elmo_tasks.readers.fields import GENRES

# The most tokens that the biLM and the encoder read at a time, padding included.
_MAX_TOKENS = 2**14

# The most spans that are scored at a time to choose the mentions.
_MAX_SPANS = 2**11

# At least so many spans are kept as mentions: a text of one or two sentences may have more mentions
# in a word than a long one has on average.
_MIN_SPANS = 10


@Model.register("elmo_coref")
class CorefResolver(Model):
    """
    Finds the mentions of a document, and the clusters of mentions that refer to the same thing, as
    Lee et al. 2017 do, with ELMo as in Peters et al. 2018, supplement A.6. A biLSTM reads the
    document sentence by sentence. Every span of a sentence gets a mention score, and the best spans
    are kept. For each kept span, the model learns a distribution over its possible antecedents: the
    mentions before it, or none.

    Registered as a `Model` with name "elmo_coref".

    # Parameters

    encoder: The biLSTM. ELMo joins its output at the output place.
    mention_feedforward: Reads a span: [h_first; h_last; width; head].
    antecedent_feedforward: Reads a pair of spans: both of them, their product, and three features.
    feature_dim: Width of the embeddings of widths, speakers, genres and distances.
    max_span_width: The number of words in the longest mention.
    spans_per_word: The number of spans kept as mentions, divided by the number of words of the
        document. At least ten are kept.
    max_antecedents: How many of the mentions just before a mention can be its
        antecedent.
    max_training_sentences: In training, the model reads only this many consecutive
        sentences of a longer document, chosen at random.
    lexical_dropout: Applied to the embeddings of words and characters, but not to
        ELMo.
    dropout: Applied to the output of the encoder and to the embeddings of the
        features.
    """

    default_predictor = "elmo_coref"

    def __init__(
        self,
        vocab: Vocabulary,
        text_embedder: ElmoTextEmbedder,
        encoder: Seq2SeqEncoder,
        mention_feedforward: FeedForward,
        antecedent_feedforward: FeedForward,
        feature_dim: int = 20,
        max_span_width: int = 10,
        spans_per_word: float = 0.4,
        max_antecedents: int = 250,
        max_training_sentences: int = 50,
        lexical_dropout: float = 0.5,
        dropout: float = 0.2,
        initializer: InitializerApplicator = InitializerApplicator(),
        **kwargs,
    ) -> None:
        super().__init__(vocab, **kwargs)
        if spans_per_word <= 0:
            raise ConfigurationError(f"spans_per_word must be above 0, not {spans_per_word}")
        self.text_embedder = text_embedder
        self.encoder = encoder
        self.spans = SpanRepresentation(
            text_embedder.get_output_dim(),
            encoder.get_output_dim() + text_embedder.get_elmo_dim(),
            max_span_width,
            feature_dim,
            dropout,
        )
        span_dim = self.spans.get_output_dim()
        check_input("encoder", encoder, text_embedder.get_output_dim(), "output of text_embedder")
        check_input("mention_feedforward", mention_feedforward, span_dim, "width of a span")
        self.mention_feedforward = mention_feedforward
        use_products(mention_feedforward)
        self.mention_scores = torch.nn.Linear(mention_feedforward.get_output_dim(), 1)
        self.antecedents = AntecedentScorer(
            antecedent_feedforward, span_dim, feature_dim, max_antecedents, dropout
        )
        self.genre_embedding = torch.nn.Embedding(max(1, vocab.get_vocab_size(GENRES)), feature_dim)
        self.spans_per_word = spans_per_word
        self.max_training_sentences = max_training_sentences
        self.lexical_dropout = torch.nn.Dropout(lexical_dropout)
        self.dropout = torch.nn.Dropout(dropout)
        self.coref = CorefMetric()
        initializer(self)

    def forward(
        self, tokens: TextFieldTensors, genre: torch.Tensor, metadata: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """
        # Parameters

        tokens: Documents of at least one word each.
        genre (`torch.LongTensor`): Shape (batch,): the genres. An unknown genre is negative, and
            has the mean of all genres' embeddings.
        metadata: A dictionary for each document: `sentences`, lists of words; `speakers`, one for
            each word; and, if they are known, `clusters`, lists of `Span`, and `singletons`,
            clusters of one mention. Singletons are scored, but not learnt.

        # Returns

        - for each document, `spans`, shape (mentions, 2): the first word of each kept span and the
          word after its last;
        - for each document, `antecedents`, shape (mentions,): the index of the most probable
          antecedent, or -1 for none;
        - for each document, `probabilities`, shape (mentions,), of these antecedents;
        - if all gold clusters are given, the scalar `loss`: -log of the summed probability of a
          mention's gold antecedents, summed over mentions and averaged over documents.
        """
        runs = [self._run(about) for about in metadata]
        words = self._encode(tokens, runs)
        outputs = [
            self._resolve(run, *texts, self._genre(index))
            for run, texts, index in zip(runs, words, genre.tolist())
        ]
        output = {name: [values[name] for values in outputs] for name in outputs[0]}
        losses = output.pop("loss")
        if all(run.clusters is not None for run in runs):
            output["loss"] = torch.stack(losses).mean()
            predicted = [
                [[(mention.start, mention.end) for mention in cluster] for cluster in clusters]
                for clusters in _clusters(output)
            ]
            gold = [run.clusters for run in runs] if self.training else map(gold_clusters, metadata)
            self.coref(predicted, list(gold))  # type: ignore[arg-type]
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Adds, for each document, `clusters`: lists of `CorefMention`."""
        return {**output_dict, "clusters": _clusters(output_dict)}

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """
        Returns the scores of `CorefMetric`. Training scores only the sentences that the model
        reads.
        """
        return {**self.coref.get_metric(reset), **self.text_embedder.mix_metrics()}

    def _run(self, about: dict[str, Any]) -> DocumentRun:
        run = DocumentRun.of(about["sentences"], about["speakers"], about.get("clusters"))
        num_more = len(run.lengths) - self.max_training_sentences
        if not self.training or num_more <= 0:
            return run
        first = int(torch.randint(num_more + 1, ()))
        return run.part(first, first + self.max_training_sentences)

    def _encode(
        self, tokens: TextFieldTensors, runs: list[DocumentRun]
    ) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """
        Yields, for each document, the vectors x of the words that are read and the encoder's
        outputs h.
        """
        parts = map(self._embed, sentence_batches(tokens, runs, _MAX_TOKENS))
        x, h = (torch.cat(tensors) for tensors in zip(*parts))
        sizes = [sum(run.lengths) for run in runs]
        return zip(x.split(sizes), h.split(sizes))

    def _embed(self, sentences: TextFieldTensors) -> tuple[torch.Tensor, torch.Tensor]:
        """Returns x and h of the words of some sentences, without padding."""
        (text,) = self.text_embedder(sentences)
        words, elmo = text.x.tensor_split([self.text_embedder.words.get_output_dim()], dim=-1)
        x = torch.cat([self.lexical_dropout(words), elmo], dim=-1)
        h = text.extend(self.dropout(self.encoder(x, text.mask)))
        return x[text.mask], h[text.mask]

    def _resolve(
        self, run: DocumentRun, x: torch.Tensor, h: torch.Tensor, genre: torch.Tensor
    ) -> dict[str, Any]:
        candidates = candidate_spans(run.lengths, self.spans.max_width).to(x.device)
        num_spans = max(_MIN_SPANS, int(self.spans_per_word * len(x)))
        # Without gradients, memory need not hold the representations of all candidates.
        with torch.no_grad():
            scores = [self._score(self.spans(x, h, part)) for part in candidates.split(_MAX_SPANS)]
            spans = candidates[choose_spans(candidates, torch.cat(scores), num_spans)]
        g = self.spans(x, h, spans)
        speakers = spans.new_tensor(run.speaker_ids())[spans[:, 0]]
        spans = spans + spans.new_tensor([0, 1])
        labels = None
        if run.clusters is not None:
            labels = spans.new_tensor(cluster_labels(spans.tolist(), run.clusters))
        choice = choose_antecedents(
            self.antecedents(Mentions(g, self._score(g), speakers, genre)), labels
        )
        return {"spans": spans, **choice._asdict()}

    def _score(self, g: torch.Tensor) -> torch.Tensor:
        return self.mention_scores(self.mention_feedforward(g)).squeeze(-1)

    def _genre(self, index: int) -> torch.Tensor:
        weight = self.genre_embedding.weight
        return weight[index] if 0 <= index < len(weight) else weight.mean(dim=0)


def _clusters(output: dict[str, Any]) -> list[list[list[CorefMention]]]:
    documents = zip(output["spans"], output["antecedents"], output["probabilities"])
    return [clusters_of(*(values.tolist() for values in document)) for document in documents]
