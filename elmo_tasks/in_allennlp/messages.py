"""
Makes AllenNLP 2.10.1 say which field of a config, or which file, is wrong.

An unknown field is refused before a missing field is asked for, because a misspelt field is both.
"""

import gzip
import json
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

from allennlp.commands import evaluate, print_results
from allennlp.common import Params, from_params
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from allennlp.data import BatchSampler, DataLoader, DatasetReader, Instance
from allennlp.evaluation import evaluator
from allennlp.models import Archive
from allennlp.modules.token_embedders.embedding import EmbeddingsTextFile
from allennlp.training import Trainer

from elmo_tasks.common.printable import printable
from elmo_tasks.common.spelling import did_you_mean, nearest_or_all
from elmo_tasks.in_allennlp.change import Change
from elmo_tasks.in_allennlp.configs import hidden_fields

# Fields that `allennlp train` reads before it makes a `TrainModel` of the other fields.
_OF_TRAIN = ["distributed", "include_in_archive", "numpy_seed", "pytorch_seed", "random_seed"]

# Numbers in trainers, data loaders and samplers that must be 1 or more. With 0 or less, AllenNLP
# shows a traceback, or makes no batch.
_AT_LEAST_ONE = frozenset(
    "batch_size batches_per_epoch max_instances_in_memory max_tokens num_epochs "
    "num_gradient_accumulation_steps times".split()
)

_COUNTING = (BatchSampler, DataLoader, Trainer)

_DELIMITERS = {"token_delimiter", "word_tag_delimiter"}

# The errors that Python raises on a damaged file of word vectors.
_DAMAGED = (EOFError, gzip.BadGzipFile, lzma.LZMAError, zlib.error)

# The word vectors that scripts/fetch_data.py can make.
_GLOVE = re.compile(r"glove\.(6B(?=\.100d\.120k\.txt\.gz$)|840B(?=\.300d\.txt$))")

_create_kwargs = from_params.create_kwargs
_load_archive = evaluate.load_archive
_open_vectors = EmbeddingsTextFile.__init__
_next_vector = EmbeddingsTextFile.__next__
_pop_int = Params.pop_int
_print_results = print_results.print_results_from_args
_read = DatasetReader.read


def _create_checked(constructor: Callable, cls: type, params: Params, **extras: Any) -> Any:
    parameters = from_params.infer_method_params(cls, constructor)
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    # `extras`, such as the vocabulary, come from code and not from the config.
    known = [name for name in parameters if name not in {"self", "cls", "kwargs", *extras}]
    title = f"{cls.__name__} has no parameter"
    if cls.__name__ == "TrainModel":
        title, known = "the config has no field", known + _OF_TRAIN
    unknown = sorted(params.keys() - parameters.keys() - set(known))
    if unknown and cls.__name__ == "TrainModel":
        known = [*sorted({*hidden_fields()} - {*known, *unknown}), *known]
    for name in unknown:
        # A constructor with **kwargs may take fields that nobody can list.
        if not takes_any or did_you_mean(name, known):
            raise ConfigurationError(f"{title} {name!r}{nearest_or_all(name, known)}")
    for name, value in params.params.items():
        if name in _DELIMITERS and value == "":
            raise ConfigurationError(f"{name} of {cls.__name__} must not be empty")
        is_number = name in _AT_LEAST_ONE and issubclass(cls, _COUNTING)
        if is_number and isinstance(value, int) and value < 1:
            raise ConfigurationError(f"{name} of {cls.__name__} must be 1 or more, not {value}")
    return _create_kwargs(constructor, cls, params, **extras)


def _pop_checked_int(params: Params, key: str, default: Any = Params.DEFAULT) -> int | None:
    given = params.params.get(key)
    try:
        value = _pop_int(params, key, default)
    except (TypeError, ValueError):
        raise ConfigurationError(f"{key} must be a whole number, not {given!r:.80}") from None
    # NumPy accepts only these seeds.
    if key in _OF_TRAIN and value is not None and not 0 <= value < 2**32:
        raise ConfigurationError(f"{key} must be from 0 to 2**32 - 1, not {value}")
    return value


def _read_named(reader: DatasetReader, file_path: Any) -> Iterator[Instance]:
    try:
        yield from _read(reader, file_path)
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{file_path} cannot be read: {error}") from error
    except (LookupError, ValueError) as error:
        if not type(reader).__module__.startswith("allennlp."):
            raise
        raise ValueError(
            f"{file_path} does not fit the reader {type(reader).__name__}: {error!r:.200}"
        ) from error


def _open_named(vectors: EmbeddingsTextFile, file_uri: str, *args: Any, **kwargs: Any) -> None:
    known = _GLOVE.search(file_uri)
    advice = f"; to make it: python scripts/fetch_data.py --glove {known[1]}" if known else ""
    try:
        _open_vectors(vectors, file_uri, *args, **kwargs)
    except FileNotFoundError:
        raise ConfigurationError(f"file {file_uri} not found{advice}") from None
    except StopIteration:
        raise ConfigurationError(
            f"{file_uri} is empty: expected a word and its numbers on each line{advice}"
        ) from None
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{file_uri} is not in UTF-8: {error}") from None
    except _DAMAGED as error:
        raise ConfigurationError(f"{file_uri} is damaged: {error}{advice}") from None


def _next_named(vectors: EmbeddingsTextFile) -> str:
    try:
        return _next_vector(vectors)
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{vectors.uri} is not in UTF-8: {error}") from None
    except _DAMAGED as error:
        raise ConfigurationError(f"{vectors.uri} is damaged: {error}") from None


@wraps(_load_archive)
def _load_with_loader(archive_file: str, *args: Any, **kwargs: Any) -> Archive:
    archive = _load_archive(archive_file, *args, **kwargs)
    config = archive.config.params
    if not isinstance(config.get("evaluation", {}), dict):
        raise ConfigurationError(f"{archive_file}: evaluation in its config must be an object")
    if config.get("validation_data_loader", config.get("data_loader")) is None:
        raise ConfigurationError(
            f"{archive_file}: its config has no data_loader; give one, such as -o "
            """'{"data_loader": {"batch_size": 32}}'"""
        )
    return archive


class PrintableTqdm(Tqdm):
    """
    Makes progress bars whose descriptions are escaped: they have the names of metrics, which may
    contain labels.
    """

    @staticmethod
    def tqdm(*args: Any, **kwargs: Any) -> Any:
        bar = Tqdm.tqdm(*args, **kwargs)
        describe = bar.set_description
        bar.set_description = lambda text, refresh=True: describe(printable(text), refresh)
        return bar


def _print_named_results(args: Any) -> None:
    if not args.keys:
        raise ConfigurationError(
            "name the metrics to print, such as --keys best_validation_accuracy"
        )
    _print_results(args)


CHANGES = (
    Change(
        from_params,
        "create_kwargs",
        _create_checked,
        "A misspelt field is refused before a missing one is asked for.",
    ),
    Change(evaluator, "Tqdm", PrintableTqdm, "The labels of an archive cannot steer the terminal."),
    Change(evaluate, "load_archive", _load_with_loader, "A missing data_loader is named."),
    Change(Params, "pop_int", _pop_checked_int, "A wrong number is refused by its name."),
    Change(DatasetReader, "read", _read_named, "A file that cannot be read is named."),
    Change(
        print_results,
        "print_results_from_args",
        _print_named_results,
        "The option that is missing is named.",
    ),
    Change(EmbeddingsTextFile, "__init__", _open_named, "A file of word vectors is named."),
    Change(EmbeddingsTextFile, "__next__", _next_named, "A file of word vectors is named."),
)
