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
from elmo_tasks.readers.fields import UNKNOWN_LABEL
from elmo_tasks.readers.squad_file import GoldAnswer, Passage, Question, read_squad
from elmo_tasks.readers.text_reader import PassageField, TextReader
from elmo_tasks.readers.tokenizers import SplittingTokenizer
from elmo_tasks.readers.windows import Window, Windows

logger = logging.getLogger(__name__)

# At most this many wrong answers of a file are named in the log. The others are only counted.
_MAX_NAMED = 10

# The labels of a question none of whose answers has a place.
_NOWHERE = (UNKNOWN_LABEL, UNKNOWN_LABEL)


@DatasetReader.register("elmo_squad")
class SquadReader(TextReader):
    """
    Reads SQuAD (Rajpurkar et al. 2016), version 1.1 or 2.0, in its official JSON and in the shapes
    that other tools give it (see `read_squad`). The labels of a question are the first and the last
    token that overlap its answer. If it has several answers, the most frequent one counts. The log
    warns about an answer that is not in the passage at its `answer_start`. If the answer is nearby
    (see `GoldAnswer.found_in`), it is taken from there; otherwise it has no place. If none of a
    question's answers has a place, the question gets the labels -1: it is scored, but not learnt.

    Questions that version 2.0 marks as impossible are left out, and so are questions without
    answers or without a word in the question or passage. At the end, the reader logs how many were
    left out and why, and how many answers are not whole tokens.

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
        self._windows: Windows
        self._field: PassageField

    def _read(self, file_path: str | os.PathLike) -> Iterable[Instance]:
        counts: Counter[str] = Counter()
        num_left_out = 0
        questions = read_squad(file_path)
        for question in self.shard_iterable(questions):
            instance = self._labelled(question, question.origin(file_path), counts)
            if instance is None:
                num_left_out += 1
            else:
                counts["questions read"] += 1
                yield instance
        said = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
        if num_left_out == len(questions):
            raise ValueError(f"{file_path}: there is no question to learn or to score: {said}")
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
            read = [Window(0, max_passage_tokens)]
        else:
            read = self._windows.near(question_tokens)
        fields: dict[str, Field] = {"question": TextField(question_tokens), "passage": field}
        metadata: dict[str, Any] = {"id": id, "passage": in_passage}
        metadata.update(windows=self._windows, read=read)
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
            self._windows = Windows(self._passage, tokens)
        return self._passage, self._field

    def _labelled(self, question: Question, origin: str, counts: Counter[str]) -> Instance | None:
        """Returns the instance of a question, or `None` if the question is left out."""
        limit = self.max_passage_tokens
        spans: list[tuple[int, int]] = []
        reason = self._reason_against(question)
        if reason is None:
            spans = self._spans(question, origin, counts)
            if limit is not None and not spans:
                reason = "questions without a right answer"
            elif not spans:
                counts["questions scored, but not learnt, without a right answer_start"] += 1
                spans = [_NOWHERE]
        within = [span for span in spans if limit is None or span[1] < limit]
        if reason is not None or not within:
            counts[f"{reason or 'questions answered beyond max_passage_tokens'} left out"] += 1
            return None
        return self.text_to_instance(
            question.question,
            question.passage,
            id=question.id,
            answers=[answer.text for answer in question.answers],
            span=Counter(within).most_common(1)[0][0],
            max_passage_tokens=limit,
        )

    def _reason_against(self, question: Question) -> str | None:
        """Returns the kind of questions, all left out, that this question belongs to, or `None`."""
        if question.is_impossible:
            return "impossible questions"
        if not question.answers:
            return "questions without an answer"
        try:
            self._tokenized(question.passage)
            has_words = bool(self.tokenizer.tokenize(question.question))
        except ValueError:
            has_words = False
        return None if has_words else "questions without a word in the question or the passage"

    def _spans(
        self, question: Question, origin: str, counts: Counter[str]
    ) -> list[tuple[int, int]]:
        """Returns the first and the last token of each answer that has a place in the passage."""
        passage, _ = self._tokenized(question.passage)
        spans = []
        for answer in question.answers:
            found = answer.found_in(question.passage)
            span = None
            if found is not None:
                start = found.start or 0
                span = passage.tokens_of(start, start + len(found.text))
            if span is None or found != answer:
                _warn(origin, answer, found if span else None, counts)
            if span is not None:
                counts["answers are not whole tokens"] += passage.text_of(*span) != answer.text
                spans.append(span)
        return spans


def _warn(origin: str, answer: GoldAnswer, found: GoldAnswer | None, counts: Counter[str]) -> None:
    """Counts an answer that is not at its `answer_start`. Logs the first such answers of a file."""
    what, end = "wrong answers left out", "it is left out"
    if found is not None:
        what, end = "answers taken from another place", f"it is taken from {found.start}"
    counts[what] += 1
    if counts[what] <= _MAX_NAMED:
        message = "%s: the answer %r is not at its answer_start %s; %s"
        logger.warning(message, origin, answer.text, answer.start, end)
