import logging
import os
from collections.abc import Iterable, Iterator

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, LabelField, MetadataField, TextField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Token, Tokenizer

from elmo_tasks.common.records import Record, read_records
from elmo_tasks.common.text_files import at_line, numbered_lines
from elmo_tasks.readers.text_reader import TextReader
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer

logger = logging.getLogger(__name__)

LABELS = ("entailment", "neutral", "contradiction")
# The gold label of a pair if the annotators did not agree on one.
NO_LABEL = "-"


@DatasetReader.register("elmo_snli")
class SnliReader(TextReader):
    """
    Reads pairs of the Stanford Natural Language Inference corpus (Bowman et al. 2015) in both
    official formats: a JSON object on each line, or columns separated by tabs with their names on
    the first line. Pairs without a gold label (`-`) are dropped and counted in the log.

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
                    self.tokenizer.tokenize(_field(pair, name))
                    for name in ("sentence1", "sentence2")
                )
                instance = self.text_to_instance(premise, hypothesis, pair["gold_label"])
            yield instance

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
    """Yields the pairs that have a gold label."""
    dropped = num_pairs = 0
    for pair in read_records(file_path, _kind(file_path)):
        num_pairs += 1
        with at_line(file_path, pair.line):
            label = _field(pair.values, "gold_label")
            if label not in (*LABELS, NO_LABEL):
                raise ValueError(
                    f"gold_label must be {', '.join(LABELS)} or {NO_LABEL}, not {label!r}"
                )
        if label == NO_LABEL:
            dropped += 1
        else:
            yield pair
    if not num_pairs:
        raise ValueError(f"{file_path}:1: the file is empty: expected a pair on every line")
    logger.info("%s: dropped %d pairs without a gold label", file_path, dropped)


def _kind(file_path: str | os.PathLike) -> str:
    """Returns the kind of a file by its first line, because tables are named `.txt`."""
    lines = (line for _, line in numbered_lines(file_path) if line.strip())
    return "tsv" if "gold_label" in next(lines, "").split("\t") else "json"


def _field(pair: dict[str, str], name: str) -> str:
    if name not in pair:
        raise ValueError(f"there is no field {name}; there are {', '.join(pair) or 'no fields'}")
    if not isinstance(pair[name], str):
        raise ValueError(f"{name} must be text, not {pair[name]!r}")
    return pair[name]
