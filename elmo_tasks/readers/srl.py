import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import (
    Field,
    IndexField,
    MetadataField,
    SequenceLabelField,
    TextField,
)
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Token, Tokenizer

from elmo_tasks.common.columns import (
    CONLL_2012,
    NAME_COLUMNS,
    ROLES,
    check_columns,
    check_indices,
    with_advice,
)
from elmo_tasks.common.records import Record, read_records
from elmo_tasks.common.text_files import at_line
from elmo_tasks.readers.entities import Entity, write_tags
from elmo_tasks.readers.fields import UNKNOWN_LABEL, TagsField
from elmo_tasks.readers.text_reader import PassageField, TextReader
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer

logger = logging.getLogger(__name__)

# The value of the column `predicate` at tokens that are not predicates.
_NO_PREDICATE = "-"

# The columns of CoNLL-2005, if the words and the propositions are joined.
CONLL_2005 = ["word", "predicate", ROLES]

# Brackets that open before the star, and brackets that close behind it.
_BRACKETS = re.compile(r"((?:\([^()*]+)*)\*((?:[^()*]*\))*)")


class Predicate(NamedTuple):
    """
    A predicate of a sentence: the index of its token, and its arguments. The role V marks the
    predicate itself. A role with `C-` continues an argument, and a role with `R-` refers to an
    argument. `arguments` are in order and do not overlap. An argument inside another argument is in
    `nested`, where outer arguments come before inner ones.
    """

    position: int
    arguments: list[Entity]
    nested: tuple[Entity, ...] = ()


class SrlSentence(NamedTuple):
    """A sentence, and its predicates in the order of their tokens."""

    words: list[str]
    predicates: list[Predicate]


@DatasetReader.register("elmo_srl")
class SrlReader(TextReader):
    """
    Reads sentences with semantic roles from files in columns, such as `*.gold_conll` of CoNLL-2012
    (Pradhan et al. 2012). `read_srl` describes the format of the files. A file is read as a stream.

    Each predicate is an instance, with the fields `tokens`, `predicate`, `tags` in the scheme BIO,
    `is_predicate` and `metadata`. The instances of a sentence share its tokens in memory. In the
    first instance, `is_predicate` has 1 for each predicate and 0 for each other token. In the
    further instances it has -1, so that each sentence counts once. A sentence without a predicate
    has no instance. Some arguments of OntoNotes 5 lie inside other arguments. These have no tags,
    but the metric counts them, as the official script does.

    Registered as a `DatasetReader` with name "elmo_srl".

    # Parameters

    columns: Names of all columns of the file (see `read_srl`). By default, the columns of
        CoNLL-2012.
    token_indexers: By default word ids under the name `tokens`.
    tokenizer (default `ElmoSpacyTokenizer()`): Used by predictors for raw text.
    """

    def __init__(
        self,
        columns: list[str] = None,
        token_indexers: dict[str, TokenIndexer] = None,
        tokenizer: Tokenizer = None,
        **kwargs,
    ) -> None:
        super().__init__(token_indexers, **kwargs)
        self.columns = columns or CONLL_2012
        self.tokenizer = tokenizer or ElmoSpacyTokenizer()
        check_columns(self.columns, ("word", "predicate", ROLES))

    def _read(self, file_path: str | os.PathLike) -> Iterable[Instance]:
        for sentence in self.shard_iterable(read_srl(file_path, self.columns)):
            tokens = [Token(word) for word in sentence.words]
            yield from self._instances(tokens, sentence.predicates, labelled=True)

    def text_to_instance(self, tokens: list[Token], predicate: int | None = None) -> Instance:
        """
        Makes an instance of at least one token and the index of the predicate. Without an index,
        the instance has only the tokens, and the model finds their predicates.
        """
        if predicate is None:
            return Instance({"tokens": TextField(tokens)})
        (instance,) = self.text_to_instances(tokens, [predicate])
        return instance

    def text_to_instances(self, tokens: list[Token], predicates: Sequence[int]) -> list[Instance]:
        """
        Returns an instance for each predicate of a sentence. `predicates` has the indices of their
        tokens.
        """
        without_arguments = [Predicate(index, []) for index in predicates]
        return list(self._instances(tokens, without_arguments, labelled=False))

    def _instances(
        self, tokens: list[Token], predicates: list[Predicate], labelled: bool
    ) -> Iterator[Instance]:
        text = PassageField(tokens)
        words = [token.ensure_text() for token in tokens]
        indices = {predicate.position for predicate in predicates}
        is_predicate = SequenceLabelField([int(i in indices) for i in range(len(words))], text)
        for predicate in predicates:
            metadata: dict[str, Any] = {"tokens": words, "predicate": predicate.position}
            fields: dict[str, Field] = {
                "tokens": text,
                "predicate": IndexField(predicate.position, text),
                "metadata": MetadataField(metadata),
            }
            if labelled:
                metadata["arguments"] = predicate.arguments
                if predicate.nested:
                    metadata["nested"] = predicate.nested
                tags = write_tags(predicate.arguments, len(words), "BIO")
                fields["tags"] = TagsField(tags, text, "BIO")
                fields["is_predicate"] = is_predicate
            yield Instance(fields)
            # The sentence's first instance tells which tokens are predicates, so that each sentence
            # counts once.
            is_predicate = SequenceLabelField([UNKNOWN_LABEL] * len(words), text)


def gold_arguments(metadata: Mapping[str, Any]) -> list[Entity]:
    """
    Returns the arguments in the metadata of an instance, including arguments inside other
    arguments.
    """
    return [*metadata["arguments"], *metadata.get("nested", ())]


def read_srl(
    file_path: str | os.PathLike, columns: Sequence[str] = CONLL_2012
) -> Iterator[SrlSentence]:
    """
    Yields the sentences of a file with semantic roles in columns, such as those of CoNLL-2012 and
    CoNLL-2005. Each token has a line, and an empty line ends a sentence (see `sentence_columns`).
    The file is not held in memory.

    The column of a predicate has a `*` for each token. `(ARG0` before the star begins an argument,
    and `)` behind the star ends it. An argument may be within another one: `(ARG2(ARG1*))`. At the
    end, the number of such inner arguments is logged.

    # Parameters

    columns: Names of all columns. Three are read: `word`; `predicate`, which is `-` unless the
        token is a predicate; and `roles`, the name of all columns of roles: one for each predicate
        of the sentence, in the order of the predicates.

    # Raises

    `ValueError`, with file and line: There is no sentence or no predicate; a line has another
        number of columns; the column `index` does not count the tokens of a sentence; a sentence
        has more or fewer columns of roles than predicates; or brackets are unbalanced.
    """
    num_sentences = num_predicates = num_nested = first = 0
    advice = f"{NAME_COLUMNS} {CONLL_2005} for CoNLL-2005"
    for record in with_advice(_records(file_path, columns), advice):
        sentence = _sentence(record)
        num_sentences += 1
        num_predicates += len(sentence.predicates)
        num_here = sum(len(predicate.nested) for predicate in sentence.predicates)
        first = first or (record.line if num_here else 0)
        num_nested += num_here
        yield sentence
    if num_nested:
        message = (
            "%s: %d arguments within other arguments are scored, but not learnt; the first is in "
            "the sentence of line %d"
        )
        logger.warning(message, file_path, num_nested, first)
    if num_sentences == 0:
        raise ValueError(f"{file_path}:1: there is no sentence: expected a token on each line")
    if num_predicates == 0:
        raise ValueError(
            f"{file_path}:1: there is no predicate: the column predicate is {_NO_PREDICATE} "
            "everywhere"
        )


def _records(file_path: str | os.PathLike, columns: Sequence[str]) -> Iterator[Record]:
    """
    Yields the sentences. If the first sentence has other columns, the error says how to name
    columns.
    """
    for record in read_records(file_path, "columns", columns):
        check_indices(record.file, record.line, record.values.get("index", ()))
        yield record


def _sentence(record: Record) -> SrlSentence:
    words, predicates = record.values["word"], record.values["predicate"]
    rows: list[list[str]] = record.values[ROLES]
    for row, values in enumerate(rows):
        with at_line(record.file, record.line + row):
            if len(values) != len(rows[0]):
                raise ValueError(
                    f"expected {len(rows[0])} columns of roles, as on the first line of the "
                    f"sentence, but got {len(values)}: {' '.join(values)!r:.80}"
                )
    tokens = [row for row, value in enumerate(predicates) if value != _NO_PREDICATE]
    roles = list(zip(*rows))
    if not tokens and all(set(column) == {"*"} for column in roles):
        # Some files have a column of roles even if a sentence has no predicate.
        roles = []
    with at_line(record.file, record.line + (tokens[-1] if tokens else 0)):
        if len(tokens) != len(roles):
            raise ValueError(
                f"the sentence has {len(tokens)} predicates (tokens whose column predicate is not "
                f"{_NO_PREDICATE}), but {len(roles)} columns of roles; expected one for each "
                "predicate"
            )
    predicate_list = [
        Predicate(token, *_spans(record, column)) for token, column in zip(tokens, roles)
    ]
    return SrlSentence(words, predicate_list)


def _spans(record: Record, column: Iterable[str]) -> tuple[list[Entity], tuple[Entity, ...]]:
    """
    Returns the arguments in a column: first the outer ones, then those inside another argument.
    """
    spans: list[Entity] = []
    # The indices in `spans` of the arguments that are open, the outermost first.
    open_spans: list[int] = []
    nested: set[int] = set()
    for row, value in enumerate(column):
        with at_line(record.file, record.line + row):
            brackets = _BRACKETS.fullmatch(value)
            if brackets is None:
                raise ValueError(
                    f"a column of roles cannot be {value!r:.80}: expected *, (ROLE*, *) or (ROLE*)"
                )
            for role in brackets[1].split("(")[1:]:
                if open_spans:
                    nested.add(len(spans))
                open_spans.append(len(spans))
                spans.append(Entity(role, row, row))
            for role in brackets[2].split(")")[:-1]:
                if not open_spans or role not in ("", spans[open_spans[-1]].type):
                    name = role or "a bracket"
                    raise ValueError(f"{value!r:.80} closes {name:.80}, which is not open")
                index = open_spans.pop()
                spans[index] = spans[index]._replace(end=row + 1)
    if open_spans:
        role, start, _ = spans[open_spans[-1]]
        with at_line(record.file, record.line + start):
            raise ValueError(f"the bracket of {role:.80} is not closed within the sentence")
    outer = [span for index, span in enumerate(spans) if index not in nested]
    return outer, tuple(spans[index] for index in sorted(nested))
