from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import InputVariationalDropout, Seq2SeqEncoder
from allennlp.nn import InitializerApplicator
from allennlp.nn.util import get_text_field_mask, min_value_of_dtype
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from elmo_tasks.common.errors import check_positive
from elmo_tasks.models.metrics.squad import SquadMetric
from elmo_tasks.modules.answer_spans import best_spans
from elmo_tasks.modules.attention import BidirectionalAttention, SelfAttention
from elmo_tasks.modules.layers import Linear, check_input
from elmo_tasks.modules.text_embedder import ElmoTextEmbedder
from elmo_tasks.modules.windows import batch_of, by_length, length_of, window_of
from elmo_tasks.readers.fields import UNKNOWN_LABEL
from elmo_tasks.readers.windows import Window

# The most tokens of windows that are read at once.
_MAX_TOKENS = 8192


class ReadText(NamedTuple):
    """
    The output of the encoder for a question or a passage.

    # Parameters

    h: Shape (batch, length, h_dim): [h_k; ELMo_k], or h_k if ELMo is not at the output.
    mask (`torch.BoolTensor`): Shape (batch, length): true at tokens.
    """

    h: torch.Tensor
    mask: torch.Tensor


@Model.register("elmo_bidaf")
class Bidaf(Model):
    """
    Bidirectional attention flow with self-attention, the model of Clark and Gardner 2017, section
    3, with ELMo as in Peters et al. 2018, supplement A.4. One encoder reads the question and the
    passage, each by itself. The passage attends to the question, then to itself. Two more encoders,
    one after the other, score each token as the start and as the end of the answer.

    Registered as a `Model` with name "elmo_bidaf".

    # Parameters

    encoder: Reads the question and the passage. ELMo joins its output at the output place.
    residual_encoder: Reads the passage between attention to the question and self-attention.
    start_encoder: Reads the passage after the self-attention. The start is scored from its output.
    end_encoder: Reads the passage and the output of `start_encoder`. Its output scores the end.
    dropout: Applied to the inputs and outputs of `encoder` and `residual_encoder`,
        and to the passage that the other two encoders read. All tokens of a text share one mask.
    max_answer_tokens: The number of tokens in the longest answer to predict. Longer
        answers are still used in training.
    """

    default_predictor = "elmo_squad"

    def __init__(
        self,
        vocab: Vocabulary,
        text_embedder: ElmoTextEmbedder,
        encoder: Seq2SeqEncoder,
        residual_encoder: Seq2SeqEncoder,
        start_encoder: Seq2SeqEncoder,
        end_encoder: Seq2SeqEncoder,
        dropout: float = 0.2,
        max_answer_tokens: int = 17,
        initializer: InitializerApplicator = InitializerApplicator(),
        **kwargs,
    ) -> None:
        super().__init__(vocab, **kwargs)
        check_positive("max_answer_tokens", max_answer_tokens)
        self.text_embedder = text_embedder
        self.encoder = encoder
        self.residual_encoder = residual_encoder
        self.start_encoder = start_encoder
        self.end_encoder = end_encoder
        self.dropout = InputVariationalDropout(dropout)
        self.max_answer_tokens = max_answer_tokens
        x_dim = residual_encoder.get_input_dim()
        self.attention = BidirectionalAttention(
            encoder.get_output_dim() + text_embedder.get_elmo_dim()
        )
        self.attended = Linear(self.attention.get_output_dim(), x_dim)
        self.self_attention = SelfAttention(residual_encoder.get_output_dim())
        self.self_attended = Linear(3 * residual_encoder.get_output_dim(), x_dim)
        # A bias would have no effect: the softmax over the tokens cancels it.
        self.start = torch.nn.Linear(start_encoder.get_output_dim(), 1, bias=False)
        self.end = torch.nn.Linear(end_encoder.get_output_dim(), 1, bias=False)
        self._check_dimensions()
        self.squad = SquadMetric()
        initializer(self)

    def forward(
        self,
        question: TextFieldTensors,
        passage: TextFieldTensors,
        span_start: torch.Tensor = None,
        span_end: torch.Tensor = None,
        metadata: list[dict[str, Any]] = None,
    ) -> dict[str, Any]:
        """
        # Parameters

        question, passage: Texts of at least one token each.
        span_start, span_end (`torch.LongTensor`): Shape (batch, 1): the indices of the first and
            the last token of the answer, or -1 if the answer is not in the passage. The loss leaves
            out questions with -1, and is 0 if all questions of a batch have -1. The metric counts
            them.
        metadata: A dictionary for each question: `passage`, a `Passage`; `id`; if they are known,
            `answers`, a list of texts; and `read`, the windows of the passage to read (see
            `Window`). In training, a passage is one window, or its windows are paragraphs in
            `sampled`. The loss is then the shared norm of Clark and Gardner 2018: a softmax over
            all windows of a question.

        # Returns

        - `start_logits` and `end_logits`, shape (batch, passage length), with the smallest number
          of the dtype at padding;
        - `best_span`, shape (batch, 2): the indices of the first and the last token;
        - if metadata is given, `id` and `answer`, a slice of the raw passage;
        - if spans are given, the scalar `loss`.
        """
        # Shape: (batch, passage length), 0 at tokens that are not read
        windows: torch.Tensor
        name = "sampled" if self.training else "read"
        ranges = [about.get(name, ()) for about in metadata or ()]
        if all(len(window_ranges) < 2 for window_ranges in ranges):
            q, p = self.read(question, passage)
            start, end = self.score(q, p)
            windows = p.mask.long()
        else:
            start, end, windows = self._score_windows(question, passage, ranges)
        # Shape: (batch, 2)
        spans = best_spans(start, end, windows, self.max_answer_tokens)[0][:, 0]
        output: dict[str, Any] = {"start_logits": start, "end_logits": end, "best_span": spans}
        if span_start is not None and span_end is not None:
            labels = [_where_read(label, windows) for label in (span_start, span_end)]
            output["loss"] = sum(map(_loss, (start, end), labels))
        if metadata is not None:
            output["id"] = [about["id"] for about in metadata]
            output["answer"] = [
                about["passage"].text_of(*span) for about, span in zip(metadata, spans.tolist())
            ]
            if all("answers" in about for about in metadata):
                self.squad(output["answer"], [about["answers"] for about in metadata])
        return output

    def read(self, *texts: TextFieldTensors) -> list[ReadText]:
        """
        Embeds and encodes texts: each argument is a field of the instances, questions or passages.
        The output for a text does not depend on any other text.
        """
        return [
            ReadText(text.extend(self._encode(self.encoder, text.x, text.mask)), text.mask)
            for text in self.text_embedder(*texts)
        ]

    def score(self, question: ReadText, passage: ReadText) -> tuple[torch.Tensor, torch.Tensor]:
        """
        Returns the logits of start and end, both of shape (batch, passage length), with the dtype's
        smallest number at padding.
        """
        (q_h, q_mask), (p_h, p_mask) = question, passage
        # Shape: (batch, passage length, 4 * h_dim)
        attended = self.attention(p_h, q_h, p_mask, q_mask)
        # Shape: (batch, passage length, x_dim)
        x = torch.relu(self.attended(attended))
        x = self.dropout(x + self._attend_to_itself(x, p_mask))
        h_start = self.start_encoder(x, p_mask)
        h_end = self.end_encoder(torch.cat([x, h_start], dim=-1), p_mask)
        logits = [layer(h).squeeze(-1) for layer, h in ((self.start, h_start), (self.end, h_end))]
        start, end = (
            direction.masked_fill(~p_mask, min_value_of_dtype(direction.dtype))
            for direction in logits
        )
        return start, end

    def read_each(self, texts: Sequence[TextFieldTensors]) -> list[ReadText]:
        """Reads texts of any lengths. The texts and the results have no batch dimension."""

        def compute(indices: list[int]) -> ReadText:
            return self.read(batch_of([texts[index] for index in indices]))[0]

        lengths = [length_of(text) for text in texts]
        return [ReadText(*rows) for rows in by_length(lengths, _MAX_TOKENS, compute)]

    def score_each(
        self, question: ReadText, rows: Sequence[int], windows: Sequence[ReadText]
    ) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """
        Returns the logits of start and end of windows, shape (length), as `read_each` reads them.
        `rows` are the questions of the windows, as indices in the batch of questions.
        """

        def compute(indices: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
            of_window = [rows[index] for index in indices]
            questions = ReadText(question.h[of_window], question.mask[of_window])
            columns = zip(*(windows[index] for index in indices))
            passages = ReadText(*(pad_sequence(list(parts), batch_first=True) for parts in columns))
            return self.score(questions, passages)

        lengths = [len(window.mask) for window in windows]
        return [(start, end) for start, end in by_length(lengths, _MAX_TOKENS, compute)]

    def _score_windows(
        self,
        question: TextFieldTensors,
        passage: TextFieldTensors,
        ranges: Sequence[Sequence[Window]],
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """
        Returns the logits of start and end, and for each token the number of its window, from 1 on,
        or 0 if it is not read.
        """
        mask = get_text_field_mask(passage)
        lengths = mask.sum(dim=1).tolist()
        places = [
            (row, window)
            for row, (windows, length) in enumerate(zip(ranges, lengths))
            for window in windows or [Window(0, length)]
        ]
        texts = [window_of(passage, row, window.start, window.stop) for row, window in places]
        (question_text,) = self.read(question)
        scores = self.score_each(question_text, [row for row, _ in places], self.read_each(texts))
        least = min_value_of_dtype(scores[0][0].dtype)
        logits = scores[0][0].new_full((2, *mask.shape), least)
        numbers = torch.zeros_like(mask, dtype=torch.long)
        for (row, (first, stop, prior)), (start, end) in zip(places, scores):
            logits[0, row, first:stop] = start + prior
            logits[1, row, first:stop] = end
            numbers[row, first:stop] = first + 1
        return logits[0], logits[1], numbers

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        return {**self.squad.get_metric(reset), **self.text_embedder.mix_metrics()}

    def _encode(self, encoder: Seq2SeqEncoder, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.dropout(encoder(self.dropout(x), mask))

    def _attend_to_itself(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        h = self._encode(self.residual_encoder, x, mask)
        attended = self.self_attention(h, mask)
        return torch.relu(self.self_attended(torch.cat([attended, h, attended * h], dim=-1)))

    def _check_dimensions(self) -> None:
        embedded = self.text_embedder.get_output_dim()
        check_input("encoder", self.encoder, embedded, "output of text_embedder")
        x_dim, source = self.residual_encoder.get_input_dim(), "input of residual_encoder"
        check_input("start_encoder", self.start_encoder, x_dim, source)
        x_dim += self.start_encoder.get_output_dim()
        check_input(
            "end_encoder", self.end_encoder, x_dim, f"{source} with output of start_encoder"
        )


def _where_read(index: torch.Tensor, windows: torch.Tensor) -> torch.Tensor:
    """Returns the labels of answers, with -1 for an answer in a window that is not read."""
    is_read = windows.gather(1, index.clamp(min=0)) > 0
    return index.masked_fill(~is_read, UNKNOWN_LABEL)


def _loss(logits: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Returns the mean cross-entropy of the questions whose answer is in the passage."""
    labels = index.squeeze(-1)
    losses = cross_entropy(logits, labels, ignore_index=UNKNOWN_LABEL, reduction="sum")
    return losses / (labels != UNKNOWN_LABEL).sum().clamp(min=1)
