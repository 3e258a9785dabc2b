import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, IndexField, MetadataField, SequenceLabelField, TextField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Token, Tokenizer

from elmo_tasks.common.columns import CONLL_2012, ROLES, check_columns
from elmo_tasks.readers.entities import Entity, write_tags
from elmo_tasks.readers.fields import UNKNOWN_LABEL, TagsField
from elmo_tasks.readers.srl_file import Predicate, read_srl
from elmo_tasks.readers.text_reader import PassageField, TextReader
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer


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
