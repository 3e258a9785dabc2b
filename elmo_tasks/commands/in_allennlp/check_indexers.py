"""Checks that a model can read what the reader of its config gives."""

from collections.abc import Mapping
from typing import Any

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text import listed

# The name of the indexer of char ids, as `ELMO_INDEXER` of modules/text_embedder.py.
ELMO_INDEXER = "elmo"

# The types of indexers that give the characters of words.
_OF_CHARACTERS = ("elmo_word_characters", "characters")


def check_indexers(reader: Any, model: Mapping[str, Any]) -> None:
    """
    Raises `ConfigurationError` if a reader and a model of this package do not have the same names
    of indexers and of embedders.
    """
    embedder = model.get("text_embedder")
    words = embedder.get("words") if isinstance(embedder, dict) else None
    if not (isinstance(reader, dict) and isinstance(embedder, dict) and isinstance(words, dict)):
        return
    is_ours = all(str(part.get("type")).startswith("elmo_") for part in (reader, model))
    if not is_ours or "reader" in reader or words.keys() != {"token_embedders"}:
        return
    indexers = reader.get("token_indexers") or {"tokens": "single_id"}
    names = [*words["token_embedders"], *[ELMO_INDEXER] * (embedder.get("bilm") is not None)]
    if indexers.keys() != {*names}:
        raise ConfigurationError(
            f"dataset_reader.token_indexers has {listed(sorted(indexers))}, but "
            f"model.text_embedder needs {listed(sorted(names))}"
        )
    if ELMO_INDEXER in indexers and _type(indexers[ELMO_INDEXER]) == "single_id":
        raise ConfigurationError(
            f"dataset_reader.token_indexers.{ELMO_INDEXER} must be of type elmo_char_ids"
        )
    for name, fields in words["token_embedders"].items():
        if str(_type(fields)).endswith("character_encoding"):
            _check_characters(name, indexers[name], fields)


def _check_characters(name: str, indexer: Any, embedder: Mapping[str, Any]) -> None:
    """
    Raises `ConfigurationError` if an encoder of characters cannot read what an indexer of this name
    gives.
    """
    path = f"dataset_reader.token_indexers.{name}"
    if _type(indexer) not in _OF_CHARACTERS:
        raise ConfigurationError(f"{path} must be of type {_OF_CHARACTERS[0]}")
    fields = indexer if isinstance(indexer, dict) else {}
    embedding, namespace = embedder["embedding"], fields.get("namespace", "token_characters")
    is_sized = "_pretrained" in embedding or embedding.get("num_embeddings") is not None
    if not is_sized and embedding.get("vocab_namespace", "tokens") != namespace:
        raise ConfigurationError(
            f"model.text_embedder.words.token_embedders.{name}.embedding.vocab_namespace must be "
            f"{namespace!r}, as that of {path}"
        )
    if _type(embedder["encoder"]) == "cnn":
        # AllenNLP's default
        widths = embedder["encoder"].get("ngram_filter_sizes", (2, 3, 4, 5))
        if not widths:
            raise ConfigurationError(
                f"model.text_embedder.words.token_embedders.{name}.encoder.ngram_filter_sizes must "
                "have the width of a filter at least"
            )
        widest = max(widths)
        if fields.get("min_padding_length", 0) < widest:
            raise ConfigurationError(
                f"{path}.min_padding_length must be {widest} or more, the width of the widest "
                "filter of the characters"
            )


def _type(indexer: Any) -> Any:
    return indexer.get("type", "single_id") if isinstance(indexer, dict) else indexer
