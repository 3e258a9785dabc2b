"""
Reads the files of a biLM of ELMoForManyLangs (Che et al. 2018): a folder with `config.json`,
`char.dic`, `word.dic`, `encoder.pkl` and `token_embedder.pkl`.
"""

import logging
import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import torch

from elmo_tasks.bilm.files.options import BiLmOptions
from elmo_tasks.bilm.lexicon import UNKNOWN_WORD
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.tensors import read_tensors
from elmo_tasks.common.text import BEGIN_TOKEN, END_TOKEN, parse_json

logger = logging.getLogger(__name__)

_SAMPLE = "cnn_50_100_512_4096_sample.json"

# The sizes in the sample config. Most released folders name this config, but do not contain it.
_SIZES = {
    "encoder": {
        "name": "elmo",
        "projection_dim": 512,
        "cell_clip": 3,
        "proj_clip": 3,
        "dim": 4096,
        "n_layers": 2,
    },
    "token_embedder": {
        "name": "cnn",
        "activation": "relu",
        "filters": [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
        "n_highway": 2,
        "word_dim": 100,
        "char_dim": 50,
        "max_characters_per_token": 50,
    },
}

# The keys of these two sections that bilm-tf's options have too.
_LSTM = ("n_layers", "dim", "projection_dim", "cell_clip", "proj_clip")
_CHAR_CNN = ("activation", "filters", "n_highway", "max_characters_per_token")

# Our names for the entries that ELMoForManyLangs names differently.
_NAMES = {"<bos>": BEGIN_TOKEN, "<eos>": END_TOKEN, "<oov>": UNKNOWN_WORD}


def many_langs_options(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """
    Returns the options of a biLM of ELMoForManyLangs, as `BiLmOptions` reads them. `config` is the
    content of `config.json`. The sizes are in `config` itself, or in a second config, which
    `config` names and which lies in the folder or in its subfolder `configs`. If `config` names no
    second config, the only other config there is read. If there is not exactly one, the sample
    config of the release is used. Wrong sizes are noticed when the weights are read. Raises
    `ConfigurationError` if a file is missing or describes another kind of model. The file of the
    sample config may be missing.
    """
    sizes = config if config.keys() >= _SIZES.keys() else _sizes(config.get("config_path"), folder)
    try:
        tokens, encoder = sizes["token_embedder"], sizes["encoder"]
        dims = tokens["word_dim"], tokens["char_dim"]
        lstm = {name: encoder[name] for name in _LSTM}
        char_cnn = {name: tokens[name] for name in _CHAR_CNN}
    except (KeyError, TypeError, ValueError) as error:
        raise ConfigurationError(
            f"{folder}: its config of sizes is not as in ELMoForManyLangs ({error!r})"
        ) from error
    return {
        "lstm": {**lstm, "use_skip_connections": True},
        "char_cnn": {
            **char_cnn,
            "embedding": {"dim": dims[1]},
            "n_characters": len(read_dictionary(folder / "char.dic")),
        },
        "n_tokens_vocab": len(read_dictionary(folder / "word.dic")),
        "many_langs": {"word_dim": dims[0]},
        # ELMoForManyLangs starts its first batch from zeros, and carries the state to later ones.
        "state": "reset",
    }


def read_dictionary(path: Path) -> list[str]:
    """
    Reads `char.dic` or `word.dic`. Each line has an entry and its number, with a tab between them.
    Returns the entries in the order of their numbers. Raises `ConfigurationError` if the file is
    missing or has another form.
    """
    entries: dict[int, str] = {}
    try:
        lines = path.read_text(encoding="utf-8-sig").removesuffix("\n").split("\n")
        for number, line in enumerate(lines, start=1):
            fields = line.strip().split("\t")
            # If `strip` removed the entry, it was an ideographic space.
            entry = fields[0] if len(fields) == 2 else "\u3000"
            if len(fields) > 2 or not fields[-1].isdecimal() or len(fields[-1]) > 8:
                raise ValueError(f"{path}:{number}: expected an entry, a tab and a number")
            entries[int(fields[-1])] = _NAMES.get(entry, entry)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"the dictionary {path} cannot be read: {error}") from error
    if sorted(entries) != list(range(len(entries))):
        raise ConfigurationError(f"{path}: the numbers of its entries are not 0, 1, 2, ...")
    marks = [*_NAMES, "<pad>", *(("<bow>", "<eow>") if path.name == "char.dic" else ())]
    missing = [mark for mark in marks if _NAMES.get(mark, mark) not in entries.values()]
    if missing:
        raise ConfigurationError(f"{path} lacks the entries {', '.join(missing)}")
    return [entries[number] for number in range(len(entries))]


class ManyLangsWeights(NamedTuple):
    """The weights in a folder of ELMoForManyLangs: pickles that hold only tensors."""

    folder: Path
    options: BiLmOptions

    def fill(self, state: dict[str, torch.Tensor], token_layer: Any) -> None:
        """
        Fills a `BiLm`'s state dict in place, and sets the words and characters of its token layer.

        # Raises

        `ConfigurationError`: A file is missing, damaged or does not fit the options.
        """
        _fill(self.folder, self.options, state, token_layer)


def open_many_langs(path: str, options: BiLmOptions) -> AbstractContextManager[ManyLangsWeights]:
    """Returns the weights in the folder of the file at `path`."""
    return nullcontext(ManyLangsWeights(Path(path).parent, options))


def _fill(
    folder: Path,
    options: BiLmOptions,
    state: dict[str, torch.Tensor],
    token_layer: Any,
) -> None:
    tokens = read_tensors(folder / "token_embedder.pkl")
    encoder = read_tensors(folder / "encoder.pkl")
    characters = read_dictionary(folder / "char.dic")
    padding = characters.index("<pad>")
    # In the token layer, the padding is the last character.
    order = [*range(padding), *range(padding + 1, len(characters)), padding]
    table = tokens.get("char_emb_layer.embedding.weight")
    if table is not None and len(table) == len(characters):
        tokens["char_emb_layer.embedding.weight"] = table[order]
    prefix, d = "many_langs.", options.word_dim
    _take(tokens, "word_emb_layer.embedding.weight", state[f"{prefix}word_embedding"], folder)
    _take(
        tokens, "char_emb_layer.embedding.weight", state[f"{prefix}char_cnn.embedding"][1:], folder
    )
    for name in ("convolutions", "highways._layers"):
        for index in range(len(options.filters) if name == "convolutions" else options.num_highway):
            for part in ("weight", "bias"):
                key = f"{name}.{index}.{part}"
                _take(tokens, key, state[f"{prefix}char_cnn.{key}"], folder)
    whole = torch.empty(options.projection_dim, d + options.num_filters)
    _take(tokens, "projection.weight", whole, folder)
    state[f"{prefix}word_projection"].copy_(whole[:, :d])
    state[f"{prefix}char_cnn.projection.weight"].copy_(whole[:, d:])
    _take(tokens, "projection.bias", state[f"{prefix}char_cnn.projection.bias"], folder)
    for direction in ("forward", "backward"):
        for layer in range(options.num_layers):
            theirs, ours = f"{direction}_layer_{layer}", f"{direction}_stack.layers.{layer}"
            for name, key, convert in (
                ("input_linearity.weight", "input_weight", _to_our_gates),
                ("state_linearity.weight", "recurrent_weight", _to_our_gates),
                ("state_linearity.bias", "bias", _to_our_gates),
                ("state_projection.weight", "projection_weight", None),
            ):
                _take(encoder, f"{theirs}.{name}", state[f"{ours}.{key}"], folder, convert)
    if further := sorted([*tokens, *encoder]):
        raise ConfigurationError(
            f"{folder} has the weights {further[0]!r:.80}, which a biLM of its config does not have"
        )
    token_layer.characters.set_words([characters[number] for number in order])
    token_layer.words.set_words(read_dictionary(folder / "word.dic"))


def _sizes(config_path: Any, folder: Path) -> Any:
    if config_path is None:
        configs = {
            path.name for parent in (folder, folder / "configs") for path in parent.glob("*.json")
        }
        configs.discard("config.json")
        config_path = configs.pop() if len(configs) == 1 else _SAMPLE
        logger.warning("%s: config.json names no config_path; taken: %s", folder, config_path)
    name = os.path.basename(str(config_path).replace("\\", "/"))
    for path in (folder / name, folder / "configs" / name):
        if path.is_file():
            try:
                with path.open("rb") as file:
                    return parse_json(file.read(10**6))
            except ValueError as error:
                raise ConfigurationError(f"{path} is not JSON: {error}") from error
    if name in (_SAMPLE, _SAMPLE.replace("cnn_50", "cnn_0")):
        return _SIZES
    raise ConfigurationError(f"{folder} has no {name}, which its config.json names")


def _take(
    tensors: dict[str, torch.Tensor],
    name: str,
    target: torch.Tensor,
    folder: Path,
    convert: Callable[[torch.Tensor], torch.Tensor] | None = None,
) -> None:
    tensor = tensors.pop(name, None)
    if tensor is None:
        raise ConfigurationError(f"{folder}: {name} is missing")
    if tensor.shape != target.shape:
        raise ConfigurationError(
            f"{folder}: {name} has shape {tuple(tensor.shape)}, but its config and dictionaries "
            f"ask for {tuple(target.shape)}"
        )
    if not tensor.is_floating_point() or not tensor.isfinite().all():
        raise ConfigurationError(f"{folder}: {name} holds a value that is not a finite number")
    target.copy_(tensor if convert is None else convert(tensor))


def _to_our_gates(tensor: torch.Tensor) -> torch.Tensor:
    """Reorders the gates input, forget, candidate, output to input, forget, output, candidate."""
    i, f, g, o = tensor.chunk(4)
    return torch.cat([i, f, o, g])
