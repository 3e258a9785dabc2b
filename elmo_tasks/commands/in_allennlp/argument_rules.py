"""
Knows facts about the arguments of classes that their annotations do not say: which arguments
AllenNLP passes itself, and which numbers an argument may be.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from allennlp.commands.train import TrainModel
from allennlp.data import DataLoader, Vocabulary
from allennlp.models import Model
from allennlp.training import Checkpointer, Trainer, TrainerCallback
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.momentum_schedulers import MomentumScheduler
from allennlp.training.moving_average import MovingAverage
from allennlp.training.optimizers import Optimizer

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.text import listed

# What a training gives to each object that it makes, and what to those of a kind.
_TO_ALL = {"vocab", "serialization_dir", "local_rank", "ddp_accelerator", "batch_weight_key"}
_TO_KIND: dict[type, set[str]] = {
    TrainModel: set(),
    Model: set(),
    DataLoader: {"reader", "data_path"},
    Vocabulary: {"instances"},
    Trainer: {"model", "data_loader", "validation_data_loader"},
    Optimizer: {"model_parameters"},
    MovingAverage: {"parameters"},
    LearningRateScheduler: {"optimizer", "num_epochs", "num_steps_per_epoch"},
    MomentumScheduler: {"optimizer"},
    Checkpointer: set(),
    TrainerCallback: set(),
}

# Numbers by the names of their arguments, the least and the most that they can be. The first rule
# that fits counts.
_RULES = [
    (r"padding_index|(.*_)?(axis|dim_index)", None, None),
    (r"(.*_)?dropout|dropout_probability|label_smoothing", 0, 1),
    (r"(.*_)?(dims?|sizes?|width)|num_(layers|filters|heads|epochs)|batch_tokens|rows", 1, None),
    (r"num_.*|min_.*|max_.*|spans_per_word|lr|alpha|std|patience|factor|weight_decay", 0, None),
]


# The name of the indexer of char ids, as `ELMO_INDEXER` of modules/text_embedder.py.
ELMO_INDEXER = "elmo"

# The types of indexers that give the characters of words.
_OF_CHARACTERS = ("elmo_word_characters", "characters")


def is_given(name: str, kind: type) -> bool:
    """Returns whether a training run passes this argument. A config may then lack it."""
    kinds = (names for base, names in _TO_KIND.items() if issubclass(kind, base))
    return name in _TO_ALL or any(name in names for names in kinds)


def is_complete(kind: Any) -> bool:
    """
    Returns whether all arguments are known that a training run passes to an object of this kind, if
    the object is made later.
    """
    return isinstance(kind, type) and issubclass(kind, tuple(_TO_KIND))


def check_number(name: str, value: Any, path: str) -> None:
    """
    Raises `ConfigurationError` if an argument of this name cannot have this number, or one of these
    numbers.
    """
    rule = next((rule for rule in _RULES if re.fullmatch(rule[0], name)), None)
    if rule is None:
        return
    _, least, most = rule
    for number_path, number in _numbers(value, path):
        too_low, too_high = least is not None and number < least, most is not None and number > most
        if too_low or too_high:
            expected = f"{least} or more" if most is None else f"from {least} to {most}"
            raise ConfigurationError(f"{number_path} must be {expected}, not {number}")


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


def _numbers(value: Any, path: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, int | float):
        yield path, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _numbers(item, f"{path}.{index}")
