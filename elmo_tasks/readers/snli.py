import logging
import os
from collections.abc import Iterable, Iterator
from typing import Any

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, LabelField, MetadataField, TextField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Token, Tokenizer

from elmo_tasks.common.records import Record, read_rows
from elmo_tasks.common.rows import complete_rows
from elmo_tasks.common.text import listed
from elmo_tasks.common.text_files import at_line
from elmo_tasks.readers.text_reader import TextReader, add_origin, text_of
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer

logger = logging.getLogger(__name__)

TEXTS = ("sentence1", "sentence2")
LABELS = ("entailment", "neutral", "contradiction")
# The gold label of a pair if the annotators did not agree on one.
NO_LABEL = "-"


@DatasetReader.register("elmo_snli")
class SnliReader(TextReader):
    """
    Reads pairs of the Stanford Natural Language Inference corpus (Bowman et al. 2015) from JSON or
    a table (see `read_rows`), such as the corpus's own `snli_1.0_train.txt`. The fields or columns
    are `sentence1`, `sentence2` and `gold_label`. Pairs that lack a text or a gold label, or whose
    gold label is `-`, are left out and counted in the log.

    An instance has the fields `premise`, `hypothesis`, `label` and `metadata`, whose
    `premise_tokens` and `hypothesis_tokens` are the words.

    Registered as a `DatasetReader` with name "elmo_snli".

    # Parameters

    token_indexers: By default word ids under the name `tokens`.
    tokenizer (default `ElmoSpacyTokenizer()`): Cuts the raw texts, `sentence1` and `sentence2`.
    """

    def __init__(
        self,
        token_indexers: dict[str, TokenIndexer] = None,
        tokenizer: Tokenizer = None,
        **kwargs,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        self.tokenizer = tokenizer or ElmoSpacyTokenizer()

    def _read(self, file_path: str | os.PathLike) -> Iterable[Instance]:
        for _, line, pair in self.shard_iterable(_labelled_pairs(file_path)):
            with at_line(file_path, line):
                premise, hypothesis = (
                    self.tokenizer.tokenize(text_of(pair, name)) for name in TEXTS
                )
                instance = self.text_to_instance(premise, hypothesis, _label(pair))
            yield add_origin(instance, line, pair)

    def text_to_instance(
        self, premise: list[Token], hypothesis: list[Token], label: str | None = None
    ) -> Instance:
        """
        Makes an instance of two texts of at least one token each, with the label `entailment`,
        `neutral` or `contradiction`.
        """
        texts = {"premise": premise, "hypothesis": hypothesis}
        fields: dict[str, Field] = {}
        for name, tokens in texts.items():
            if not tokens:
                raise ValueError(f"the {name} is empty: it must have at least one token")
            fields[name] = TextField(tokens)
        words = {f"{name}_tokens": [token.text for token in texts[name]] for name in texts}
        fields["metadata"] = MetadataField(words)
        if label is not None:
            fields["label"] = LabelField(label)
        return Instance(fields)


def _labelled_pairs(file_path: str | os.PathLike) -> Iterator[Record]:
    """Yields the pairs that have both texts and a gold label."""
    num_dropped = num_pairs = 0
    for pair in complete_rows(_pairs(file_path), TEXTS, ["gold_label"]):
        num_pairs += 1
        with at_line(file_path, pair.line):
            label = _label(pair.values)
            if label not in (*LABELS, NO_LABEL):
                raise ValueError(
                    f"gold_label must be {', '.join(LABELS)} or {NO_LABEL}, not {label!r}; "
                    f"{_other_names(file_path)}"
                )
        if label == NO_LABEL:
            num_dropped += 1
        else:
            yield pair
    if not num_pairs:
        raise ValueError(f"{file_path}:1: there is no pair with both texts and a gold label")
    logger.info("%s: dropped %d pairs without a gold label", file_path, num_dropped)


def _pairs(file_path: str | os.PathLike) -> Iterator[Record]:
    """Yields the rows of a file. Raises `ValueError` if the file lacks a column of the corpus."""
    for number, row in enumerate(read_rows(file_path)):
        if number == 0 and not row.values.keys() & {*TEXTS, "gold_label"}:
            raise ValueError(
                f"{file_path}:{row.line}: expected {', '.join(TEXTS)} and gold_label, as in SNLI, "
                f"but there are {listed(row.values)}; {_other_names(file_path)}"
            )
        yield row


def _other_names(file_path: str | os.PathLike) -> str:
    return (
        "for other names and labels make a model with elmo-tasks new classify "
        f"{file_path} --text NAME --text NAME --label NAME"
    )


def _label(values: dict[str, Any]) -> str:
    """Returns the gold label, which other corpora write with capital letters."""
    return text_of(values, "gold_label").strip().lower()
