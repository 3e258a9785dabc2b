import logging
import os
from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import Any, NamedTuple

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, IndexField, MetadataField, TextField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Tokenizer

from elmo_tasks.common.errors import check_positive
from elmo_tasks.readers.fields import UNKNOWN_LABEL
from elmo_tasks.readers.other_paragraphs import OtherParagraphs
from elmo_tasks.readers.passage import GoldAnswer, Passage, Question
from elmo_tasks.readers.squad_file import read_squad
from elmo_tasks.readers.text_reader import JoinedField, PassageField, TextReader
from elmo_tasks.readers.tokenizers import SplittingTokenizer
from elmo_tasks.readers.windows import Range, Window, Windows

logger = logging.getLogger(__name__)

# At most this many wrong answers of a file are named in the log. The others are only counted.
_MAX_NAMED = 10

# The most passages that a reader of several paragraphs keeps, more than an article of SQuAD has.
_MAX_KEPT = 256

# The labels of a question none of whose answers has a place.
_NOWHERE = (UNKNOWN_LABEL, UNKNOWN_LABEL)


@DatasetReader.register("elmo_squad")
class SquadReader(TextReader):
    """
    Reads SQuAD (Rajpurkar et al. 2016), version 1.1 or 2.0, from its official JSON and from the
    formats of other tools (see `read_squad`). The labels of a question are the first and the last
    token that overlap its answer. If it has several answers, the most frequent answer counts. The
    log warns about an answer that is not in the passage at its `answer_start`. Such an answer is
    taken from nearby if it is there (see `GoldAnswer.found_in`). If none of a question's answers is
    found, the question gets the labels -1: it is scored, but not learnt.

    These questions are left out: those that version 2.0 marks as impossible, those without answers,
    and those without a word in the question or the passage. At the end, the log counts the
    questions left out by reason, and the answers that are not whole tokens.

    With `paragraphs`, a question is trained with other paragraphs of its article behind its
    passage, which have no answer (see `OtherParagraphs`). One softmax runs over all these
    paragraphs, the shared norm of Clark and Gardner 2018. The paragraphs are drawn anew each time
    the file is read.

    An instance has the fields `question`, `passage`, `span_start`, `span_end` and `metadata`.

    Registered as a `DatasetReader` with name "elmo_squad".

    # Parameters

    max_passage_tokens: For training: the most tokens of a passage. Longer passages are cut, and a
        question is left out if no answer lies wholly before the cut. By default nothing is cut.
        Predictors never cut.
    paragraphs: For training: the most paragraphs of a question, its passage included.
    token_indexers: By default word ids under the name `tokens`.
    tokenizer (default `SplittingTokenizer()`): A tokenizer whose tokens have `idx` and `idx_end`.
    """

    def __init__(
        self,
        max_passage_tokens: int = None,
        paragraphs: int = 1,
        token_indexers: dict[str, TokenIndexer] = None,
        tokenizer: Tokenizer = None,
        **kwargs,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        check_positive("max_passage_tokens", max_passage_tokens)
        check_positive("paragraphs", paragraphs)
        self.max_passage_tokens = max_passage_tokens
        self.paragraphs = paragraphs
        self.tokenizer = tokenizer or SplittingTokenizer()
        # The last passages are kept, because the next questions are often about the same ones.
        self._recent_texts: OrderedDict[str, _Text] = OrderedDict()

    def _read(self, file_path: str | os.PathLike) -> Iterable[Instance]:
        counts: Counter[str] = Counter()
        num_left_out = 0
        questions = read_squad(file_path)
        other_paragraphs = OtherParagraphs(questions, self.paragraphs - 1)
        for question in self.shard_iterable(questions):
            instance = self._labelled_instance(
                question, other_paragraphs, question.origin(file_path), counts
            )
            if instance is None:
                num_left_out += 1
            else:
                counts["questions read"] += 1
                yield instance
        report = ", ".join(f"{count:,} {kind}" for kind, count in counts.items() if count)
        if num_left_out == len(questions):
            raise ValueError(f"{file_path}: there is no question to learn or to score: {report}")
        logger.info("%s: %s", file_path, report)

    def text_to_instance(
        self,
        question: str,
        passage: str,
        id: str = None,
        answers: list[str] = None,
        span: tuple[int, int] = None,
        max_passage_tokens: int = None,
        other_passages: list[str] = None,
    ) -> Instance:
        """
        Makes an instance of raw text. `answers` are raw texts for the metric, and `span` is the
        first and last token of the answer. The passage is cut to `max_passage_tokens`.
        `other_passages` are further paragraphs to read: windows behind the passage, of at most
        `max_passage_tokens`. Raises `ValueError` if the question or the passage has no word.
        """
        question_tokens = self.tokenizer.tokenize(question)
        if not question_tokens:
            raise ValueError(f"there is no word in the question {question!r:.80}")
        parts = [
            self._tokenize(text).cut(max_passage_tokens)
            for text in (passage, *(other_passages or ()))
        ]
        # A batch has fields of one kind, whether a question has other passages or not.
        text = parts[0] if other_passages is None else _Text.joined(parts)
        metadata: dict[str, Any] = {"id": id, "passage": text.passage, "windows": text.windows}
        if other_passages is None:
            metadata["read"] = text.windows.near(question_tokens)
        else:
            metadata["read"] = metadata["sampled"] = [
                Window(*window) for window in text.windows.ranges
            ]
        if answers is not None:
            metadata["answers"] = answers
        fields: dict[str, Field] = {"question": TextField(question_tokens), "passage": text.field}
        fields["metadata"] = MetadataField(metadata)
        if span is not None:
            fields["span_start"], fields["span_end"] = (IndexField(end, text.field) for end in span)
        return Instance(fields)

    def _tokenize(self, text: str) -> "_Text":
        if text not in self._recent_texts:
            tokens = self.tokenizer.tokenize(text)
            if not tokens:
                raise ValueError(f"there is no word in the passage {text!r:.80}")
            if len(self._recent_texts) >= (_MAX_KEPT if self.paragraphs > 1 else 1):
                self._recent_texts.popitem(last=False)
            self._recent_texts[text] = _Text.of(Passage.of(text, tokens), PassageField(tokens))
        return self._recent_texts[text]

    def _labelled_instance(
        self,
        question: Question,
        other_paragraphs: OtherParagraphs,
        origin: str,
        counts: Counter[str],
    ) -> Instance | None:
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
            other_passages=self._draw_paragraphs(question, other_paragraphs, counts),
        )

    def _draw_paragraphs(
        self, question: Question, other_paragraphs: OtherParagraphs, counts: Counter[str]
    ) -> list[str] | None:
        if self.paragraphs == 1:
            return None
        paragraphs = [
            text for text in other_paragraphs.draw(question) if self.tokenizer.tokenize(text)
        ]
        counts["questions without another paragraph"] += not paragraphs
        return paragraphs

    def _reason_against(self, question: Question) -> str | None:
        """
        Returns why a question is left out, as a kind of questions for the log, or `None` if it
        stays.
        """
        if question.is_impossible:
            return "impossible questions"
        if not question.answers:
            return "questions without an answer"
        try:
            self._tokenize(question.passage)
            has_words = bool(self.tokenizer.tokenize(question.question))
        except ValueError:
            has_words = False
        return None if has_words else "questions without a word in the question or the passage"

    def _spans(
        self, question: Question, origin: str, counts: Counter[str]
    ) -> list[tuple[int, int]]:
        """Returns the first and the last token of each answer that is found in the passage."""
        passage = self._tokenize(question.passage).passage
        spans = []
        for answer in question.answers:
            gold = answer.found_in(question.passage)
            span = None
            if gold is not None:
                start = gold.start or 0
                span = passage.tokens_of(start, start + len(gold.text))
            if span is None or gold != answer:
                _warn(origin, answer, gold if span else None, counts)
            if span is not None:
                counts["answers are not whole tokens"] += passage.text_of(*span) != answer.text
                spans.append(span)
        return spans


class _Text(NamedTuple):
    """A passage, its field and its windows."""

    passage: Passage
    field: TextField
    windows: Windows

    @classmethod
    def of(cls, passage: Passage, field: TextField, ranges: Sequence[Range] = ()) -> "_Text":
        return cls(passage, field, Windows(passage, field.tokens, ranges=ranges))

    @classmethod
    def joined(cls, parts: Sequence["_Text"]) -> "_Text":
        """Joins texts to one passage. Each text is a paragraph and a window of the passage."""
        ends = accumulate((len(part.field) for part in parts), initial=0)
        passage = Passage.joined([part.passage for part in parts])
        return cls.of(passage, JoinedField([part.field for part in parts]), list(pairwise(ends)))

    def cut(self, max_tokens: int | None) -> "_Text":
        """Returns the first `max_tokens` tokens as a passage of one window."""
        if max_tokens is None or len(self.field) <= max_tokens:
            return self
        text, starts, ends = self.passage
        passage = Passage(text, starts[:max_tokens], ends[:max_tokens])
        return self.of(passage, PassageField(self.field.tokens[:max_tokens]), [(0, max_tokens)])


def _warn(origin: str, answer: GoldAnswer, gold: GoldAnswer | None, counts: Counter[str]) -> None:
    """Counts an answer that is not at its `answer_start`. Logs the first such answers of a file."""
    kind, end = "wrong answers left out", "it is left out"
    if gold is not None:
        kind, end = "answers taken from another place", f"it is taken from {gold.start}"
    counts[kind] += 1
    if counts[kind] <= _MAX_NAMED:
        message = "%s: the answer %r is not at its answer_start %s; %s"
        logger.warning(message, origin, answer.text, answer.start, end)
