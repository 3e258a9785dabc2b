import os
from typing import Any, NamedTuple

import h5py
import torch
from allennlp.common.file_utils import cached_path
from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids

from elmo_tasks.bilm import BiLm
from elmo_tasks.bilm.char_cnn import NUM_CHARACTERS, PAD_CHARACTER
from elmo_tasks.bilm.files.options import BiLmOptions, read_options
from elmo_tasks.bilm.files.weights import (
    HDF5_ERRORS,
    dataset_names,
    layout_problems,
    num_parameters,
    open_weights,
    read_array,
    value_problems,
)
from elmo_tasks.common.errors import ConfigurationError

# One word twice: alike in the layer of the tokens, and in no other.
_SENTENCE = "The boat left one bank of the river for the other bank .".split()
_TWICE = [place for place, word in enumerate(_SENTENCE) if word == "bank"]


class CheckReport(NamedTuple):
    """
    # Parameters

    facts : `list[tuple[str, str]]`
        What the pair is: a subject and what there is to say of it.
    problems : `list[str]`
        All that is wrong; the pair is sound where there is nothing.
    """

    facts: list[tuple[str, str]]
    problems: list[str]

    def __str__(self) -> str:
        width = max(len(subject) for subject, _ in self.facts)
        lines = [f"{subject:{width}}  {text}" for subject, text in self.facts]
        number = len(self.problems)
        verdict = f"Not sound: {number} problem{'s' * (number > 1)}." if number else "Sound."
        return "\n".join([*lines, "", verdict, *(f"- {problem}" for problem in self.problems)])


def check(options_file: str | os.PathLike, weight_file: str | os.PathLike) -> CheckReport:
    """Says what the pair is and all that is wrong with it; raises nothing that the files cause."""
    raw, options, of_options = _check_options(options_file)
    path, of_weights = _check_weights(weight_file, options)
    facts = of_options.facts + of_weights.facts
    problems = of_options.problems + of_weights.problems
    if raw is not None and path is not None:
        if not problems:
            of_layers = _check_layers(BiLm(raw, path))
            facts, problems = facts + of_layers.facts, of_layers.problems
        refusal = _refused_by_allennlp(options_file, path, raw)
        taken = "takes the pair all the same" if problems else "takes the pair"
        answer = f"refuses the pair: {refusal}" if refusal else taken
        facts.append(("AllenNLP", f"its own loader {answer}"))
    return CheckReport(facts, problems)


def _check_options(
    options_file: str | os.PathLike,
) -> tuple[dict[str, Any] | None, BiLmOptions | None, CheckReport]:
    """The options as they stand in the file, and read; `None` for what cannot be had."""
    fact = ("options", str(options_file))
    try:
        raw = read_options(options_file)
    except ConfigurationError as error:
        return None, None, CheckReport([fact], [str(error)])
    options, problems = BiLmOptions.parse(raw)
    if problems:
        problems = [f"{options_file}: {problem}" for problem in problems]
        return raw, None, CheckReport([fact], problems)
    return raw, options, CheckReport([fact, *_describe(raw, options)], [])


def _describe(raw: dict[str, Any], options: BiLmOptions) -> list[tuple[str, str]]:
    num_characters = raw["char_cnn"].get("n_characters") or NUM_CHARACTERS
    of_training = " (as while training; to predict, bilm-tf wants 262)"
    filters = ", ".join(f"{number} of width {width}" for width, number in options.filters)
    return [
        (
            "characters",
            f"{num_characters}{of_training if num_characters != NUM_CHARACTERS else ''}, "
            f"{options.max_characters} a token, embedded in {options.char_dim}",
        ),
        ("filters", f"{filters}; {options.num_filters} in all, {options.activation}"),
        ("highway layers", str(options.num_highway)),
        (
            "LSTM layers",
            f"{options.num_layers} a direction, memory of {options.cell_dim}, output of "
            f"{options.projection_dim}",
        ),
        ("skip connections", "yes" if options.skip_connections else "no"),
        (
            "clips",
            f"{options.cell_clip or 'none'} for the memory, {options.projection_clip or 'none'} "
            "for the output",
        ),
        ("layers for ELMo", f"{options.num_layers + 1} of width {2 * options.projection_dim}"),
        ("parameters", f"{num_parameters(options):,}"),
        (
            "state",
            f"{options.state}, as the options say"
            if options.state
            else "snapshot: no key in the options, so taken as trained with carried state",
        ),
    ]


def _check_weights(
    weight_file: str | os.PathLike, options: BiLmOptions | None
) -> tuple[str | None, CheckReport]:
    """The path of the file, where it can be opened."""
    try:
        with open_weights(weight_file) as file:
            names = dataset_names(file)
            dtypes = " and ".join(sorted({str(file[name].dtype) for name in names}))
            size = os.path.getsize(file.filename) / 1e6
            fact = ("weights", f"{weight_file}: {size:.1f} MB, {dtypes or 'no datasets'}")
            problems = [] if options is None else layout_problems(file, options)
            for name in names:
                problems += _dataset_problems(file, name)
            facts = [fact] if problems else [fact, *_biases(file, names)]
            problems = [f"{weight_file}: {problem}" for problem in problems]
            return file.filename, CheckReport(facts, problems)
    except ConfigurationError as error:
        return None, CheckReport([("weights", str(weight_file))], [str(error)])


def _dataset_problems(file: h5py.File, name: str) -> list[str]:
    """What is wrong with the values of a dataset."""
    if file[name].dtype.kind not in "fiu":
        return []
    try:
        array = read_array(file, name)
    except HDF5_ERRORS as error:
        return [f"{name} cannot be read ({error})"]
    if problems := value_problems(name, array):
        return problems
    if name == "char_embed" and len(array) == NUM_CHARACTERS and not array[0].any():
        return ["char_embed begins with a row of zeros for padding, which does not belong there"]
    # A vector of biases is all alike before training.
    if array.ndim > 1 and array.size > 1 and (array == array.flat[0]).all():
        return [f"{name} holds no number but {array.flat[0]:g}"]
    return []


def _biases(file: h5py.File, names: list[str]) -> list[tuple[str, str]]:
    """What suggests that a biLM was never trained, which does not make it unsound."""
    biases = [file[name][...] for name in names if file[name].ndim == 1]
    num_alike = sum(bias.size > 1 and bool((bias == bias[0]).all()) for bias in biases)
    if num_alike == 0:
        return []
    return [("biases", f"{num_alike} of {len(biases)} hold one number alone, as before training")]


def _check_layers(bilm: BiLm) -> CheckReport:
    """What the biLM makes of a sentence."""
    # Shape: (num_layers, length, 2 * projection_dim)
    layers = bilm(_char_ids(bilm.options.max_characters)).layers[0]
    facts, problems = [("sentence", " ".join(_SENTENCE))], []
    for number, layer in enumerate(layers):
        deviation, largest = layer.std().item(), layer.abs().max().item()
        fact = f"standard deviation {deviation:.3f}, largest value {largest:.2f}"
        facts.append((f"layer {number}", fact))
        for direction, half in zip(("forward", "backward"), layer.chunk(2, dim=1)):
            if problem := _degenerate(half, contextual=number > 0):
                problems.append(f"layer {number}, {direction}: {problem}")
    return CheckReport(facts, problems)


def _degenerate(layer: torch.Tensor, contextual: bool) -> str | None:
    """What is wrong with one direction of a layer, of shape (length, projection_dim)."""
    if not layer.isfinite().all():
        return "the sentence has values that are not finite numbers"
    # What rounding alone may make of equal vectors.
    rounding = 1e-5 * layer.abs().max()
    if (layer - layer[0]).abs().max() <= rounding:
        return "all words of the sentence have the same vector"
    first, second = layer[_TWICE]
    if contextual and (first - second).abs().max() <= rounding:
        return "a word has the same vector in two contexts"
    return None


def _char_ids(max_characters: int) -> torch.Tensor:
    char_ids = batch_to_ids([_SENTENCE])
    missing = max_characters - char_ids.size(2)
    return torch.nn.functional.pad(char_ids, (0, missing), value=PAD_CHARACTER)


def _refused_by_allennlp(
    options_file: str | os.PathLike, weight_file: str, raw: dict[str, Any]
) -> str | None:
    """Why AllenNLP's loader refuses the pair, if it does."""
    if refusals := _refusals(raw):
        return "; ".join(refusals)
    try:
        bilm = _ElmoBiLm(str(cached_path(options_file)), weight_file)
        bilm(batch_to_ids([_SENTENCE]))
    # It checks little itself, so that this may be anything.
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _refusals(raw: dict[str, Any]) -> list[str]:
    """What AllenNLP's loader refuses in options that may be sound for us."""
    lstm, cnn = raw.get("lstm"), raw.get("char_cnn")
    if not isinstance(lstm, dict) or not isinstance(cnn, dict):
        return []
    refusals = [
        f"the options have no lstm.{key}, which may be null"
        for key in ("cell_clip", "proj_clip")
        if key not in lstm
    ]
    if not lstm.get("use_skip_connections"):
        refusals.append("it knows no biLM without skip connections")
    if cnn.get("n_highway") is None:
        refusals.append("the options have no char_cnn.n_highway, which may be 0")
    if cnn.get("max_characters_per_token") != 50:
        refusals.append("char_cnn.max_characters_per_token is not 50")
    return refusals
