"""
Knows the formats of biLMs: bilm-tf's, and ELMoForManyLangs's. A format has its own token layer, and
its own way to read options and weights.
"""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import torch

from elmo_tasks.bilm.char_cnn import CharCnn
from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.bilm.files.weights import open_weights
from elmo_tasks.bilm.lexicon import WordTable
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import check_regular
from elmo_tasks.common.file_names import OTHER_FILES
from elmo_tasks.common.text import parse_json


class TokenLayer(Protocol):
    """Computes x^LM of tokens."""

    @property
    def embedding(self) -> torch.Tensor:
        """A tensor with the device and the dtype of the vectors that the layer returns."""

    def __call__(self, char_ids: torch.Tensor) -> torch.Tensor:
        """Returns x^LM of shape (tokens, projection_dim) for char ids of shape (tokens, 50)."""


class OpenedWeights(Protocol):
    """Weights that fit the options of a biLM."""

    def fill(self, state: dict[str, torch.Tensor], token_layer: Any) -> None:
        """Fills the tensors of a biLM's state dict, and its token layer with words."""


class Format(NamedTuple):
    """
    # Parameters

    name: The name in messages, after "a biLM of".
    key: The attribute of a `BiLm` that is the token layer. The keys of the layer's weights begin
        with it.
    token_layer: Makes the token layer.
    open: Opens a file of weights, and checks that it fits the options, before a biLM is allocated.
    in_hdf5: Whether the weights are a `weights.hdf5`. No other weights can be written.
    """

    name: str
    key: str
    token_layer: Callable[[BiLmOptions], torch.nn.Module]
    open: Callable[[str, BiLmOptions], AbstractContextManager[OpenedWeights]]
    in_hdf5: bool = True


_CHARACTERS = Format("characters", "char_cnn", CharCnn, open_weights)
_WORDS = Format("words", "word_table", WordTable, open_weights)


def format_of(options: BiLmOptions) -> Format:
    if options.word_dim:
        # Imported here, since few biLMs are of this kind.
        from elmo_tasks.bilm.files.many_langs import open_many_langs
        from elmo_tasks.bilm.many_langs import ManyLangsTokens

        return Format("ELMoForManyLangs", "many_langs", ManyLangsTokens, open_many_langs, False)
    return _WORDS if options.num_words else _CHARACTERS


def read_options(path: str | os.PathLike) -> dict[str, Any]:
    """Reads the options of a biLM of any format."""
    try:
        check_regular(path)
        options = parse_json(Path(path).read_bytes())
    except FileNotFoundError as error:
        raise ConfigurationError(f"there is no file of options {path}") from error
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error}") from error
    except ConfigurationError:
        raise
    except ValueError as error:
        raise ConfigurationError(f"{path} is not JSON: {error}") from error
    if not isinstance(options, dict):
        raise ConfigurationError(f"{path} is not a JSON object, but {options!r:.40}")
    folder = Path(path).parent
    is_many_langs = any((folder / weights).is_file() for _, weights in OTHER_FILES)
    if "config_path" in options or ("lstm" not in options and is_many_langs):
        from elmo_tasks.bilm.files.many_langs import many_langs_options

        return many_langs_options(options, folder)
    return options
