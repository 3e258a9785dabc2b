"""The formats of biLMs: their token layers, and how their options and weights are read."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import torch

from elmo_tasks.bilm.char_cnn import CharCnn
from elmo_tasks.bilm.files.known_bilms import is_many_langs
from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.bilm.files.weights import read_weights
from elmo_tasks.bilm.lexicon import WordTable, read_vocabulary
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import local_path
from elmo_tasks.common.text import parse_json


class Format(NamedTuple):
    """
    # Parameters

    name: The name in messages, which say "a biLM of ...".
    key: The name of the token layer in a `BiLm`, with which the keys of its weights begin.
    token_layer: Makes the module that computes x^LM of char ids.
    read: Reads a file of weights into a state dict, and the file's words into the token layer.
    in_hdf5: Whether the weights are a `weights.hdf5`, which alone can be checked and written.
    """

    name: str
    key: str
    token_layer: Callable[[BiLmOptions], torch.nn.Module]
    read: Callable[[str, BiLmOptions, dict[str, torch.Tensor], Any], None]
    in_hdf5: bool = True


def _read_hdf5(file: str, options: BiLmOptions, state: dict[str, Any], token_layer: Any) -> None:
    read_weights(file, options, state)
    if options.num_words:
        token_layer.lexicon.set_words(read_vocabulary(file, options.num_words))


_CHARACTERS = Format("characters", "char_cnn", CharCnn, _read_hdf5)
_WORDS = Format("words", "word_table", WordTable, _read_hdf5)


def format_of(options: BiLmOptions) -> Format:
    if options.word_dim:
        # Imported here, since few biLMs are of this kind.
        from elmo_tasks.bilm.many_langs import ManyLangsTokens, read_many_langs

        return Format("ELMoForManyLangs", "many_langs", ManyLangsTokens, read_many_langs, False)
    return _WORDS if options.num_words else _CHARACTERS


def read_options(options_file: str | os.PathLike) -> dict[str, Any]:
    """Reads the options of a biLM of any format from a path or an address."""
    try:
        options = parse_json(Path(local_path(options_file)).read_bytes())
    except FileNotFoundError as error:
        raise ConfigurationError(f"there is no file of options {options_file}") from error
    except OSError as error:
        raise ConfigurationError(f"{options_file} cannot be read: {error}") from error
    except ConfigurationError:
        raise
    except ValueError as error:
        raise ConfigurationError(f"{options_file} is not JSON: {error}") from error
    if not isinstance(options, dict):
        raise ConfigurationError(f"{options_file} is not a JSON object, but {options!r:.40}")
    folder = Path(options_file).parent
    if "config_path" in options or ("lstm" not in options and is_many_langs(folder)):
        from elmo_tasks.bilm.many_langs import many_langs_options

        return many_langs_options(options, folder)
    return options
