import copy
import json
import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import torch
from allennlp.data import Vocabulary
from allennlp.models import Model

from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.archives.published_weights import (
    write_published,
)
from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError, check_positive
from elmo_tasks.common.fetch import is_data_file
from elmo_tasks.common.file_names import OPTIONS_FILE, PUBLISHED_WEIGHTS, SOFTMAX_FILE, WEIGHTS_FILE
from elmo_tasks.common.outputs import is_model_file
from elmo_tasks.elmo.from_config import parents_of_bilms
from elmo_tasks.elmo.locate import is_name, locate_bilm
from elmo_tasks.elmo.opening import find_bilms
from elmo_tasks.language_model.model import ElmoLanguageModel, softmax_of
from elmo_tasks.language_model.softmax import write_softmax

# The number of words in the softmax of a published language model.
_MAX_WORDS = 50_000

# The namespace of words in a vocabulary.
_WORDS = "tokens"

# The fields of a config that are only for training.
_TRAINING = (
    "trainer",
    "train_data_path",
    "validation_data_path",
    "test_data_path",
    "evaluate_on_test",
    "datasets_for_vocab_creation",
    "distributed",
)


class Published(NamedTuple):
    """
    A report of `publish`: the bytes of all files that it wrote (`num_bytes`), the words of the
    vocabulary (`num_words`), and the biLMs of the model. `written_bilms` has the names of the
    modules whose weights were written. `bilms` has the biLMs without weights in the files: it maps
    the name of the module, such as `text_embedder.bilm`, to the name and hash by which the biLM is
    found.
    """

    num_bytes: int
    bilms: dict[str, tuple[str, str]]
    written_bilms: list[str]
    num_words: int


def publish(
    archive_file: str | os.PathLike,
    folder: str | os.PathLike,
    bilm: str | None = None,
    max_words: int | None = None,
    force: bool = False,
) -> Published:
    """
    Writes a trained model to a small folder:
    - `config.json`, without the fields that are only for training;
    - `weights.safetensors`, in float16, without the weights of a biLM that has a name;
    - `vocabulary/`.

    Every function and command of this package that opens an archive opens the folder, too. A
    language model is written for `LanguageModel.from_pretrained`: the biLM in float16 to
    `options.json` and `weights.hdf5`, and its softmax in 8 bits.

    # Parameters

    archive_file: The model (see `model_path`).
    bilm: The name by which anybody can get the biLM (see `locate_bilm`), by default the name in the
        config of the model. The weights of a biLM without such a name are written.
    max_words: The number of words to keep: the words of the training text, the most frequent first,
        then the most frequent words of a file of vectors. All other words count as unknown. By
        default, a language model keeps the 50,000 most frequent words, and another model keeps all.
    force: Whether files that this function wrote to the folder before are replaced. Other files
        stay.

    # Raises

    `ConfigurationError`: The folder has files, `bilm` is not the model's biLM, or a number is too
        large for float16.
    """
    folder = Path(folder)
    before = _own_files(folder, force)
    check_positive("max_words", max_words)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # If anything fails, the files that were there stay as they were.
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as aside:
        published = _publish(archive_file, Path(aside), bilm, max_words)
        for path in before:
            path.unlink()
        for path in [path for path in Path(aside).rglob("*") if path.is_file()]:
            target = folder / path.relative_to(aside)
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)
    return published


def _own_files(folder: Path, force: bool) -> list[Path]:
    """
    Returns the files of a published model in a folder. Raises `ConfigurationError` if the folder
    has files and `force` is not given, or if it has files of a model that is not packed.
    """
    if folder.is_file():
        raise ConfigurationError(f"{folder} is a file: choose a folder")
    paths = [path for path in folder.rglob("*") if not path.is_dir()]
    if paths and not force:
        raise ConfigurationError(
            f"{folder} has files; choose another folder, or replace a packed model with --force"
        )
    published = [path for path in paths if is_data_file(path.relative_to(folder).as_posix())]
    is_packed = any((folder / name).exists() for name in (PUBLISHED_WEIGHTS, SOFTMAX_FILE))
    foreign = [path for path in paths if is_model_file(path, folder) and path not in published]
    if foreign or (published and not is_packed):
        names = ", ".join(str(path.relative_to(folder)) for path in (foreign or published)[:3])
        raise ConfigurationError(
            f"{folder} has {names}, but is not a packed model, so it is not replaced: choose "
            "another folder"
        )
    return published


def _publish(
    archive_file: str | os.PathLike, folder: Path, bilm: str | None, max_words: int | None
) -> Published:
    archive = open_archive(archive_file)
    model, config = archive.model, archive.config.as_dict(quiet=True)
    if isinstance(model, ElmoLanguageModel):
        if bilm is not None:
            raise ConfigurationError(
                "a language model is written with its own biLM: leave out bilm"
            )
        softmax = softmax_of(model).in_8_bits(max_words or _MAX_WORDS)
        model.bilm.to_files(folder, dtype="float16")
        # The weights are read again, because float16 has rounded them.
        packed_bilm = make_bilm(folder / OPTIONS_FILE, folder / WEIGHTS_FILE, state="reset")
        write_softmax(folder, softmax, packed_bilm)
        return Published(_num_bytes(folder), {}, ["bilm"], len(softmax.words) - 1)
    bilms = _named_bilms(model, config, bilm)
    state = dict(model.state_dict())
    num_words = _bound_words(model, state, max_words)
    write_published(folder / PUBLISHED_WEIGHTS, state, bilms)
    config_text = json.dumps(_without_training(config, bilms), indent=2)
    (folder / "config.json").write_text(f"{config_text}\n", encoding="utf-8")
    _write_vocabulary(model.vocab, folder / "vocabulary", num_words)
    unnamed = [name for name in find_bilms(model) if name not in bilms]
    return Published(_num_bytes(folder), bilms, unnamed, num_words)


def _num_bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _named_bilms(
    model: Model, config: dict[str, Any], name: str | None
) -> dict[str, tuple[str, str]]:
    """Returns the `bilms` of `Published`: the biLMs that anybody can get by name."""
    if name is not None and not is_name(name):
        raise ConfigurationError(
            f"{name} is not the name of a biLM: give the name of a known biLM or of a repository "
            "on the hub, or leave the name out, so that the weights are written"
        )
    prints = {key: bilm.weights_hash().hex() for key, bilm in find_bilms(model).items()}
    bilms = [parent["bilm"] for parent in parents_of_bilms(config.get("model"))]
    files = [entry if isinstance(entry, str) else entry.get("pretrained_file") for entry in bilms]
    names = {name} if name is not None else {file for file in files if file and is_name(file)}
    name_of = {
        make_bilm(*locate_bilm(entry).files, state="reset").weights_hash().hex(): entry
        for entry in sorted(names)
    }
    if name is not None and not name_of.keys() & set(prints.values()):
        raise ConfigurationError(f"the model has no biLM with the weights of {name}")
    return {key: (name_of[value], value) for key, value in prints.items() if value in name_of}


def _bound_words(model: Model, state: dict[str, torch.Tensor], max_words: int | None) -> int:
    """
    Removes the rows of all words after the first `max_words` from the state dict, in place. Returns
    the number of words that are left. Padding and the unknown word do not count.
    """
    size = model.vocab.get_vocab_size(_WORDS)
    num_words = max(0, size - 2)
    if max_words is None or max_words >= num_words:
        return num_words
    for name, module in model.named_modules():
        # AllenNLP's `embedding` and `elmo_word_vectors` have this attribute.
        namespace = getattr(module, "_vocab_namespace", None)
        key = f"{name}.weight"
        if namespace == _WORDS and key in state and len(state[key]) == size:
            state[key] = state[key][: max_words + 2]
    return max_words


def _write_vocabulary(vocab: Vocabulary, folder: Path, num_words: int) -> None:
    """Writes the files of a vocabulary, cut to the first words."""
    vocab.save_to_files(str(folder))
    for path in folder.glob(".*"):
        # AllenNLP leaves its lock file.
        path.unlink()
    words = folder / f"{_WORDS}.txt"
    if words.exists() and vocab.is_padded(_WORDS):
        # The first line is the unknown word. Bytes are split, as a word may have a carriage return.
        lines = words.read_bytes().split(b"\n")[: num_words + 1]
        words.write_bytes(b"".join(line + b"\n" for line in lines))


def _without_training(config: dict[str, Any], bilms: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """Returns a copy of a config with only the fields that load the model and evaluate it."""
    short = {key: copy.deepcopy(value) for key, value in config.items() if key not in _TRAINING}
    names = {name for name, _ in bilms.values()}
    for parent in parents_of_bilms(short.get("model")):
        if isinstance(parent["bilm"], dict):
            parent["bilm"].pop("store", None)
            if parent["bilm"].get("pretrained_file") not in names:
                parent["bilm"].pop("pretrained_file", None)
    return short
