import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from allennlp.data import DatasetReader, Instance
from allennlp.data.fields import Field, MetadataField
from allennlp.data.token_indexers import TokenIndexer
from allennlp.data.tokenizers import Token, Tokenizer

from elmo_tasks.common.columns import CONLL_2012, ROLES, check_columns
from elmo_tasks.readers.entities import write_tags
from elmo_tasks.readers.label_fields import TagsField
from elmo_tasks.readers.predicate_field import PredicateField
from elmo_tasks.readers.srl_file import Predicate, read_srl
from elmo_tasks.readers.text_reader import PassageField, TextReader
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer


@DatasetReader.register("elmo_srl")
class SrlReader(TextReader):
    """
    Reads sentences with semantic roles from files in columns, such as `*.gold_conll` of CoNLL-2012
    (Pradhan et al. 2012). `read_srl` describes the format of the files. A file is read as a stream.

    Each predicate is an instance, with the fields `tokens`, `predicate`, `tags` in the scheme BIO,
    and `metadata`. The instances of a sentence share its tokens in memory. A sentence without a
    predicate has no instance.

    Registered as a `DatasetReader` with name "elmo_srl".

    # Parameters

    columns: Names of all columns of the file, in their order (see `read_srl`). By default those of
        CoNLL-2012.
    token_indexers: By default word ids under the name `tokens`.
    tokenizer (default `ElmoSpacyTokenizer()`): Used by predictors for raw text; the files are
        tokenized already.
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

    def text_to_instance(self, tokens: list[Token], predicate: int) -> Instance:
        """
        # Parameters

        tokens: At least one token.
        predicate: The index of the predicate.
        """
        (instance,) = self.text_to_instances(tokens, [predicate])
        return instance

    def text_to_instances(self, tokens: list[Token], predicates: Sequence[int]) -> list[Instance]:
        """
        Returns an instance for each predicate of a sentence. `predicates` has the predicates'
        indices.
        """
        without_arguments = [Predicate(index, []) for index in predicates]
        return list(self._instances(tokens, without_arguments, labelled=False))

    def _instances(
        self, tokens: list[Token], predicates: list[Predicate], labelled: bool
    ) -> Iterator[Instance]:
        text = PassageField(tokens)
        words = [token.ensure_text() for token in tokens]
        indices = {predicate.position for predicate in predicates}
        others = [word for index, word in enumerate(words) if index not in indices]
        for predicate in predicates:
            metadata: dict[str, Any] = {"tokens": words, "predicate": predicate.position}
            fields: dict[str, Field] = {
                "tokens": text,
                "predicate": PredicateField(predicate.position, text, others),
                "metadata": MetadataField(metadata),
            }
            if labelled:
                metadata["arguments"] = predicate.arguments
                tags = write_tags(predicate.arguments, len(words), "BIO")
                fields["tags"] = TagsField(tags, text, "BIO")
            yield Instance(fields)
            # Only the sentence's first instance has the other words, so that each word counts once.
            others = []
