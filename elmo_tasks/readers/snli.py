import logging
import os
from collections.abc import Iterable, Iterator

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, LabelField, MetadataField, TextField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Token, Tokenizer

from elmo_tasks.common.records import Record, kind_of, read_records
from elmo_tasks.common.text_files import at_line
from elmo_tasks.readers.text_reader import TextReader, text_of
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer

logger = logging.getLogger(__name__)

LABELS = ("entailment", "neutral", "contradiction")
# The gold label of a pair if the annotators did not agree on one.
NO_LABEL = "-"


@DatasetReader.register("elmo_snli")
class SnliReader(TextReader):
    """
    Reads pairs of the Stanford Natural Language Inference corpus (Bowman et al. 2015): a JSON
    object on each line, or a table (see `kind_of`), such as the corpus's own, renamed to `.tsv`.
    Pairs without a gold label (`-`) are dropped and counted in the log.

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
                    self.tokenizer.tokenize(text_of(pair, name))
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
    kind = kind_of(file_path)
    for pair in read_records(file_path, "json" if kind == "text" else kind):
        num_pairs += 1
        with at_line(file_path, pair.line):
            label = text_of(pair.values, "gold_label")
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
