"""
Checks the classes and files that an archive's config names, before any object is made from it.

An archive may name classes of elmo_tasks, of AllenNLP's modules in `ALLENNLP`, and of packages that
the user named by `--include-package` or imported. It may name no file, address or other archive.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from types import UnionType
from typing import Any, Union, get_args, get_origin

from allennlp.common import Lazy, Registrable
from allennlp.common.from_params import infer_params
from allennlp.common.plugins import DEFAULT_PLUGINS
from allennlp.data import DataLoader, DatasetReader, Tokenizer, Vocabulary
from allennlp.data.dataset_readers import TextClassificationJsonReader
from allennlp.data.tokenizers import SpacyTokenizer
from allennlp.evaluation import Evaluator
from allennlp.models import Model

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.locate import is_name

# Modules of AllenNLP whose classes neither read nor fetch nor run anything when they are made from
# a config. Dataset readers among them read only the file that the user gives.
ALLENNLP = re.compile(
    r"allennlp\.("
    r"data\.data_loaders\.(multiprocess|simple)_data_loader|"
    r"data\.dataset_readers\.(conll2003|sequence_tagging|text_classification_json)|"
    r"data\.samplers\..*|"
    r"data\.token_indexers\.(elmo_indexer|single_id_token_indexer|token_characters_indexer)|"
    r"data\.tokenizers\.(character|letters_digits|spacy|whitespace)_tokenizer|"
    r"data\.vocabulary|"
    r"evaluation\..*|"
    r"models\.(basic_classifier|simple_tagger)|"
    r"modules\.seq2seq_encoders\.(compose|feedforward|gated_cnn|pass_through)_encoder|"
    r"modules\.seq2seq_encoders\.pytorch_seq2seq_wrapper|"
    r"modules\.seq2vec_encoders\.(boe_encoder|cls_pooler|cnn_encoder|cnn_highway_encoder|"
    r"pytorch_seq2vec_wrapper)|"
    r"modules\.text_field_embedders\..*|"
    r"modules\.token_embedders\.(bag_of_word_counts_token_embedder|embedding|empty_embedder|"
    r"pass_through_token_embedder|token_characters_encoder)|"
    r"nn\.(activations|regularizers\..*))"
)

# Arguments that name a file or a folder, in any class of AllenNLP or of elmo_tasks.
_FILE = re.compile(r"(.*_)?(file|path|dir|directory|folder|archive|url|uri)s?")

# Other arguments that an archive may not give: `vocab` could read any file, `segment_sentences`
# loads a pipeline of spaCy, and `postprocessor_fn_name` could name any method, which is called.
_OTHERS = {"vocab", "segment_sentences", "postprocessor_fn_name"}

# The largest number that a config may have, since a vocabulary has at most some million words; the
# most workers of a data loader, since each is a process; and the most layers, as in a biLM.
_MOST, _MOST_OF = 10**7, {"num_workers": 16, "num_layers": 100}

# The fields of a config from which a command makes objects, and their classes.
_MADE = {
    "dataset_reader": DatasetReader,
    "validation_dataset_reader": DatasetReader,
    "model": Model,
    "vocabulary": Vocabulary,
    "data_loader": DataLoader,
    "validation_data_loader": DataLoader,
    "evaluation": Evaluator,
}

# Packages that the user named by `--include-package`. AllenNLP imports its plugins, such as
# `allennlp_models`, by itself, so their classes are allowed only if the user named the package.
named_packages: set[str] = set()


class NotAllowed(Exception):
    """
    Raised for a forbidden part of a config. The arguments are the path of the part, the problem
    and, unless it may be a class of the user's own, what to do.
    """


def check_config(config: Mapping[str, Any]) -> None:
    """
    Raises `NotAllowed` if a config has a class, file or address that an archive may not name. As in
    AllenNLP, the annotation of an argument decides which class its value stands for.
    """
    for field, kind in _MADE.items():
        if field in config:
            for path, key, value in items(config[field], field):
                # AllenNLP loads an archive for this key, wherever the key is.
                if key == "_pretrained":
                    raise NotAllowed(path, "names another archive")
                most = _MOST_OF.get(key, _MOST)
                if isinstance(value, int) and value > most:
                    raise NotAllowed(path, f"is more than {most:,}")
            _check(kind, config[field], field)


def items(value: Any, path: str) -> Iterator[tuple[str, str, Any]]:
    """Yields the path, the key and the value of every item in a config."""
    pairs: Any = value.items() if isinstance(value, dict) else ()
    for key, child in enumerate(value) if isinstance(value, list) else pairs:
        yield f"{path}.{key}", str(key), child
        yield from items(child, f"{path}.{key}")


def _check(kind: Any, value: Any, path: str) -> None:
    origin, args = get_origin(kind), get_args(kind)
    if origin is Lazy:
        _check(args[0], value, path)
    elif origin in (Union, UnionType):
        for part_kind in args:
            # AllenNLP tries a class before a list. If the class refuses a JSON object, AllenNLP
            # reads the object's keys as a list of types, and imports those with a dot.
            is_object = isinstance(value, dict) and _is_many(part_kind)
            _check(part_kind, [key for key in value if "." in key] if is_object else value, path)
    elif isinstance(value, dict) and _is_mapping(kind):
        for key, child in value.items():
            _check(args[-1], child, f"{path}.{key}")
    elif isinstance(value, list | dict) and args and _is_many(kind):
        # If AllenNLP expects a list but gets a JSON object, it takes the keys of the object.
        kinds = args if origin is tuple and ... not in args else len(value) * args[:1]
        for index, (part_kind, child) in enumerate(zip(kinds, value)):
            _check(part_kind, child, f"{path}.{index}")
    elif isinstance(value, str | dict) and hasattr(kind, "from_params"):
        _check_object(kind, {"type": value} if isinstance(value, str) else value, path)


def _check_object(kind: Any, fields: dict[str, Any], path: str) -> None:
    target, method = kind, None
    if kind in Registrable._registry:
        name = fields.get("type", kind.default_implementation)
        if name not in kind.list_available():
            raise NotAllowed(path, f"names the {kind.__name__} {name!r:.200}")
        target, method = kind.resolve_class_name(name)
        if not _is_allowed(target):
            raise NotAllowed(path, f"names the {kind.__name__} {name!r:.200}")
    if path == "vocabulary":
        # A vocabulary is read from the archive's folder, and only two tokens from its arguments.
        return
    if target is TextClassificationJsonReader and "tokenizer" not in fields:
        _check(Tokenizer, "spacy", f"{path}.tokenizer")
    parameters = infer_params(target, getattr(target, method or "__init__"))
    is_foreign = not target.__module__.startswith(("allennlp.", "elmo_tasks."))
    for key, value in fields.items():
        is_file = _FILE.fullmatch(key) or (target is SpacyTokenizer and key == "language")
        if not is_foreign and (is_file or key in _OTHERS):
            raise NotAllowed(f"{path}.{key}", f"is an argument of {target.__name__}")
        if key == "bilm" and isinstance(value, str) and not is_name(value):
            raise NotAllowed(
                f"{path}.{key}",
                f"is {value!r:.80}, not the name of a biLM",
                'put {"options": ...} with the content of its options.json there, or train again',
            )
        # Other keys need no check: AllenNLP refuses a field that is not an argument.
        if key in parameters:
            _check(parameters[key].annotation, value, f"{path}.{key}")


def _is_allowed(target: Any) -> bool:
    if target is SpacyTokenizer and find_spec("en_core_web_sm") is None:
        # AllenNLP would fetch and install this pipeline.
        raise ConfigurationError(
            "the pipeline en_core_web_sm of spaCy is not installed: install it by python -m "
            "spacy download en_core_web_sm"
        )
    package = target.__module__.partition(".")[0]
    if package == "allennlp":
        return ALLENNLP.fullmatch(target.__module__) is not None
    return package not in DEFAULT_PLUGINS or package in named_packages


def _is_mapping(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Mapping)


def _is_many(kind: Any) -> bool:
    origin = get_origin(kind)
    return isinstance(origin, type) and issubclass(origin, Iterable) and not _is_mapping(kind)
