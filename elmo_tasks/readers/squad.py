import logging
import os
from collections import Counter
from collections.abc import Iterable
from typing import Any

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, IndexField, MetadataField, TextField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Tokenizer

from elmo_tasks.common.errors import check_positive
from elmo_tasks.readers.squad_file import Passage, Question, read_squad
from elmo_tasks.readers.text_reader import PassageField, TextReader
from elmo_tasks.readers.tokenizers import SplittingTokenizer

logger = logging.getLogger(__name__)

# At most this many wrong answers of a file are named in the log. The others are only counted.
_MAX_NAMED = 10


@DatasetReader.register("elmo_squad")
class SquadReader(TextReader):
    """
    Reads SQuAD (Rajpurkar et al. 2016) in its official JSON, version 1.1 or 2.0. The labels of a
    question are the first and the last token that overlap its answer. If it has several answers,
    the most frequent one counts. Questions that version 2.0 marks as impossible are left out. An
    answer that is not in the passage at its `answer_start` is left out with a warning. A question
    without other answers is left out too. At the end, the reader logs how many questions were left
    out and why, and how many answers are not whole tokens.

    An instance has the fields `question`, `passage`, `span_start`, `span_end` and `metadata`.

    Registered as a `DatasetReader` with name "elmo_squad".

    # Parameters

    max_passage_tokens: For training: passages are cut to this many tokens. A question is left out
        if no answer lies wholly before the cut. By default nothing is cut. Predictors never cut.
    token_indexers: By default word ids under the name `tokens`.
    tokenizer (default `SplittingTokenizer()`): A tokenizer whose tokens have `idx` and `idx_end`.
    """

    def __init__(
        self,
        max_passage_tokens: int = None,
        token_indexers: dict[str, TokenIndexer] = None,
        tokenizer: Tokenizer = None,
        **kwargs,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        check_positive("max_passage_tokens", max_passage_tokens)
        self.max_passage_tokens = max_passage_tokens
        self.tokenizer = tokenizer or SplittingTokenizer()
        # The last passage is kept, because the next question is often about the same passage.
        self._text: str | None = None
        self._passage: Passage
        self._field: PassageField

    def _read(self, file_path: str | os.PathLike) -> Iterable[Instance]:
        counts: Counter[str] = Counter()
        for question in self.shard_iterable(read_squad(file_path)):
            try:
                instance = self._labelled(question, counts)
            except ValueError as error:
                raise ValueError(f"{file_path}: {question.path}: {error}") from error
            if instance is not None:
                counts["questions read"] += 1
                yield instance
        said = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
        logger.info("%s: %s", file_path, said)

    def text_to_instance(
        self,
        question: str,
        passage: str,
        id: str = None,
        answers: list[str] = None,
        span: tuple[int, int] = None,
        max_passage_tokens: int = None,
    ) -> Instance:
        """
        Makes an instance of raw text. Raises `ValueError` if the question or the passage has no
        word. `answers` are raw texts for the metric, `span` is the first and last token of the
        answer, and the passage is cut to `max_passage_tokens`.
        """
        question_tokens = self.tokenizer.tokenize(question)
        if not question_tokens:
            raise ValueError(f"there is no word in the question {question!r:.80}")
        in_passage, field = self._tokenized(passage)
        if max_passage_tokens is not None and max_passage_tokens < len(field):
            field = TextField(field.tokens[:max_passage_tokens])
        fields: dict[str, Field] = {"question": TextField(question_tokens), "passage": field}
        metadata: dict[str, Any] = {"id": id, "passage": in_passage}
        if answers is not None:
            metadata["answers"] = answers
        fields["metadata"] = MetadataField(metadata)
        if span is not None:
            fields["span_start"], fields["span_end"] = (IndexField(end, field) for end in span)
        return Instance(fields)

    def _tokenized(self, text: str) -> tuple[Passage, PassageField]:
        if text != self._text:
            tokens = self.tokenizer.tokenize(text)
            if not tokens:
                raise ValueError(f"there is no word in the passage {text!r:.80}")
            self._text = text
            self._passage, self._field = Passage.of(text, tokens), PassageField(tokens)
        return self._passage, self._field

    def _labelled(self, question: Question, counts: Counter[str]) -> Instance | None:
        """Returns the instance of a question, or `None` if the question is left out."""
        if question.is_impossible:
            counts["impossible questions left out"] += 1
            return None
        if not question.answers:
            raise ValueError(
                "the question has no answer and is not marked as impossible; give it an answer, or "
                "use a predictor, which needs no answers"
            )
        spans = self._spans(question, counts)
        if not spans:
            counts["questions without a right answer left out"] += 1
            return None
        limit = self.max_passage_tokens
        within = [span for span in spans if limit is None or span[1] < limit]
        if not within:
            counts["questions answered beyond max_passage_tokens left out"] += 1
            return None
        return self.text_to_instance(
            question.question,
            question.passage,
            id=question.id,
            # An answer without text would make every empty prediction right.
            answers=[answer.text for answer in question.answers if answer.text],
            span=Counter(within).most_common(1)[0][0],
            max_passage_tokens=limit,
        )

    def _spans(self, question: Question, counts: Counter[str]) -> list[tuple[int, int]]:
        """Returns the first and the last token of each answer that is in the passage."""
        passage, _ = self._tokenized(question.passage)
        spans = []
        for answer in question.answers:
            end = answer.start + len(answer.text)
            span = passage.tokens_of(answer.start, end)
            if not answer.is_in(question.passage) or span is None:
                counts["wrong answers left out"] += 1
                if counts["wrong answers left out"] <= _MAX_NAMED:
                    message = "%s: the answer %r is not at its answer_start %d; it is left out"
                    logger.warning(message, question.path, answer.text, answer.start)
            else:
                counts["answers are not whole tokens"] += passage.text_of(*span) != answer.text
                spans.append(span)
        return spans
