import os
import sys
from typing import Any, NamedTuple

import h5py
import torch

from elmo_tasks.bilm import make_bilm
from elmo_tasks.bilm.characters import NUM_CHARACTERS, batch_char_ids
from elmo_tasks.bilm.files.hdf5 import find_item, item_names, storage_problem
from elmo_tasks.bilm.files.layout import datasets
from elmo_tasks.bilm.files.options import BiLmOptions, num_parameters
from elmo_tasks.bilm.files.read_options import read_options
from elmo_tasks.bilm.files.weights import (
    HDF5_ERRORS,
    layout_problems,
    open_weights,
    read_array,
    value_problems,
)
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.fetch import local_path

# The sentence contains one word twice. The two vectors of this word should be equal in layer 0 and
# differ in all other layers.
_SENTENCE = "The boat left one bank of the river for the other bank .".split()
_TWICE = [position for position, word in enumerate(_SENTENCE) if word == "bank"]


class CheckReport(NamedTuple):
    """
    A description of the options and weights of a biLM, with the list of their problems.

    # Parameters

    facts: Subjects, such as `LSTM layers`, and their descriptions.
    """

    facts: list[tuple[str, str]]
    problems: list[str]

    def __str__(self) -> str:
        width = max(len(subject) for subject, _ in self.facts)
        lines = [f"{subject:{width}}  {text}" for subject, text in self.facts]
        count = len(self.problems)
        verdict = f"Not sound: {count} problem{'s' * (count > 1)}." if count else "Sound."
        return "\n".join([*lines, "", verdict, *(f"- {problem}" for problem in self.problems)])


def check(options_file: str | os.PathLike, weight_file: str | os.PathLike) -> CheckReport:
    """
    Describes the files of a biLM and lists all their problems, without raising an error. If
    AllenNLP is already imported, also tries AllenNLP's own loader.
    """
    raw, options, of_options = _check_options(options_file)
    path, of_weights = _check_weights(weight_file, options)
    facts = of_options.facts + of_weights.facts
    problems = of_options.problems + of_weights.problems
    if raw is not None and options is not None and path is not None:
        if not problems:
            of_layers = _check_layers(raw, path)
            facts, problems = facts + of_layers.facts, of_layers.problems
        # The import takes seconds, and AllenNLP may not be installed.
        if "allennlp" in sys.modules:
            refusal = _refused_by_allennlp(options_file, path, raw)
            accepted = "accepts the pair nevertheless" if problems else "accepts the pair"
            answer = f"refuses the pair: {refusal}" if refusal else accepted
            facts.append(("AllenNLP", f"its own loader {answer}"))
    return CheckReport(facts, problems)


def _check_options(
    options_file: str | os.PathLike,
) -> tuple[dict[str, Any] | None, BiLmOptions | None, CheckReport]:
    """
    Returns the JSON of the options, the parsed options and a report on the file. The JSON is `None`
    if the file cannot be read. The parsed options are `None` if the file has any problem.
    """
    fact = ("options", str(options_file))
    try:
        raw = read_options(options_file)
    except ConfigurationError as error:
        return None, None, CheckReport([fact], [str(error)])
    options, problems = BiLmOptions.parse(raw)
    if problems:
        problems = [f"{options_file}: {problem}" for problem in problems]
        return raw, None, CheckReport([fact], problems)
    return (
        raw,
        options,
        CheckReport([fact, *_describe_tokens(raw, options), *_describe_lstms(options)], []),
    )


def _describe_tokens(raw: dict[str, Any], options: BiLmOptions) -> list[tuple[str, str]]:
    words = f"{options.num_words:,}, all others as <UNK>"
    if options.num_words and not options.word_dim:
        return [("words", f"{words}; no characters")]
    num_characters = raw["char_cnn"].get("n_characters") or NUM_CHARACTERS
    is_usual = options.word_dim or num_characters == NUM_CHARACTERS
    of_training = "" if is_usual else " (as for training; bilm-tf needs 262 for prediction)"
    filters = ", ".join(f"{count} of width {width}" for width, count in options.filters)
    return [
        *([("words", words)] if options.word_dim else []),
        (
            "characters",
            f"{num_characters:,}{of_training}, "
            f"{options.max_characters} a token, embedded in {options.char_dim}",
        ),
        ("filters", f"{filters}; {options.num_filters} in all, {options.activation}"),
        ("highway layers", str(options.num_highway)),
    ]


def _describe_lstms(options: BiLmOptions) -> list[tuple[str, str]]:
    return [
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
            f"{options.state}, as given in the options"
            if options.state
            else "snapshot: the options have no state; training with carried state is assumed",
        ),
    ]


def _check_weights(
    weight_file: str | os.PathLike, options: BiLmOptions | None
) -> tuple[str | None, CheckReport]:
    """
    Returns the local path of the weights and a report on them. The path is `None` if the file
    cannot be opened, or if AllenNLP's loader could not open it safely.
    """
    if options is not None and options.word_dim:
        # A biLM of ELMoForManyLangs is made of pickles, which `_check_layers` reads.
        return str(weight_file), CheckReport([("weights", str(weight_file))], [])
    try:
        with open_weights(weight_file) as file:
            items = {name: find_item(file, name) for name in item_names(file)}
            found = {name: item for name, item in items.items() if isinstance(item, h5py.Dataset)}
            dtypes = " and ".join(sorted({str(dataset.dtype) for dataset in found.values()}))
            size = os.path.getsize(file.filename)
            fact = ("weights", f"{weight_file}: {size / 1e6:.1f} MB, {dtypes or 'no datasets'}")
            asked = {} if options is None else {d.name: d.shape for d in datasets(options)}
            problems = [] if options is None else layout_problems(file, options)
            names = _readable(found, asked, size)
            for name in names:
                problems += _dataset_problems(file, name)
            facts = [fact] if problems else [fact, *_biases(file, names)]
            problems = [f"{weight_file}: {problem}" for problem in dict.fromkeys(problems)]
            # AllenNLP follows links in the file, and reads whatever they lead to.
            safe = items.keys() & asked.keys() <= set(names)
            return file.filename if safe else None, CheckReport(facts, problems)
    except ConfigurationError as error:
        return None, CheckReport([("weights", str(weight_file))], [str(error)])


def _readable(
    found: dict[str, h5py.Dataset], asked: dict[str, tuple[int, ...]], most_bytes: int
) -> list[str]:
    """
    Returns the names of the datasets whose values are checked: those that the options name, or all
    if there are no options. Datasets without the shape in the options are left out once they take
    more than `most_bytes` together.
    """
    names = []
    for name, dataset in found.items():
        if dataset.shape is None or (asked and name not in asked):
            continue
        if dataset.shape != asked.get(name):
            most_bytes -= dataset.nbytes
            if most_bytes < 0:
                continue
        if storage_problem(dataset, name) is None:
            names.append(name)
    return names


def _dataset_problems(file: h5py.File, name: str) -> list[str]:
    """Returns descriptions of what is wrong with the values of a dataset."""
    try:
        array = read_array(file, name)
    except HDF5_ERRORS as error:
        return [f"{name} cannot be read ({error})"]
    if problems := value_problems(name, array):
        return problems
    if name == "char_embed" and len(array) == NUM_CHARACTERS and not array[0].any():
        return ["char_embed begins with a row of zeros for padding; leave this row out"]
    # Bias vectors are left out here, because their values are all equal before training.
    if array.ndim > 1 and array.size > 1 and (array == array.flat[0]).all():
        return [f"all values of {name} are {array.flat[0]:g}"]
    return []


def _biases(file: h5py.File, names: list[str]) -> list[tuple[str, str]]:
    """
    Returns a fact for the report if there are bias vectors whose values are all equal. Such vectors
    suggest that the biLM was not trained, but do not count as a problem of the files.
    """
    biases = [file[name][...] for name in names if file[name].ndim == 1]
    num_equal = sum(bias.size > 1 and bool((bias == bias[0]).all()) for bias in biases)
    if num_equal == 0:
        return []
    return [
        (
            "biases",
            f"all values are equal in {num_equal} of {len(biases)} vectors, as before training",
        )
    ]


def _check_layers(raw: dict[str, Any], weight_file: str) -> CheckReport:
    """Computes the layers of a sentence, and returns facts about them and their problems."""
    try:
        bilm = make_bilm(raw, weight_file)
    # The biLM's list of words or characters may be damaged.
    except ConfigurationError as error:
        return CheckReport([], [str(error)])
    # Shape: (num_layers, length, 2 * projection_dim)
    layers = bilm(batch_char_ids([_SENTENCE], bilm.options.max_characters)).layers[0]
    facts, problems = [("sentence", " ".join(_SENTENCE))], []
    for index, layer in enumerate(layers):
        deviation, largest = layer.std().item(), layer.abs().max().item()
        fact = f"standard deviation {deviation:.3f}, largest value {largest:.2f}"
        facts.append((f"layer {index}", fact))
        for direction, half in zip(("forward", "backward"), layer.chunk(2, dim=1)):
            if problem := _degenerate(half, contextual=index > 0):
                problems.append(f"layer {index}, {direction}: {problem}")
    return CheckReport(facts, problems)


def _degenerate(layer: torch.Tensor, contextual: bool) -> str | None:
    """
    Returns what is wrong with one direction of a layer, or `None`. `layer` has the shape (length,
    projection_dim).
    """
    if not layer.isfinite().all():
        return "the sentence has values that are not finite numbers"
    # Two vectors count as equal if they differ by no more than this.
    rounding = 1e-5 * layer.abs().max()
    if (layer - layer[0]).abs().max() <= rounding:
        return "all words of the sentence have the same vector"
    first, second = layer[_TWICE]
    if contextual and (first - second).abs().max() <= rounding:
        return "a word has the same vector in two contexts"
    return None


def _refused_by_allennlp(
    options_file: str | os.PathLike, weight_file: str, raw: dict[str, Any]
) -> str | None:
    """Returns why AllenNLP's loader refuses the two files, or `None` if it accepts them."""
    if refusals := _refusals(raw):
        return "; ".join(refusals)
    from allennlp.modules.elmo import _ElmoBiLm

    try:
        bilm = _ElmoBiLm(local_path(options_file), weight_file)
        bilm(batch_char_ids([_SENTENCE]))
    # AllenNLP checks little of a config, so any error may be raised.
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def _refusals(raw: dict[str, Any]) -> list[str]:
    """Returns the reasons why AllenNLP's loader refuses options that elmo_tasks may accept."""
    lstm, cnn = raw.get("lstm"), raw.get("char_cnn")
    if "many_langs" in raw:
        return ["it cannot load a biLM of ELMoForManyLangs"]
    if "n_tokens_vocab" in raw and cnn is None:
        return ["it cannot load a biLM of words"]
    if not isinstance(lstm, dict) or not isinstance(cnn, dict):
        return []
    refusals = [
        f"the options have no lstm.{key}, which may be null"
        for key in ("cell_clip", "proj_clip")
        if key not in lstm
    ]
    if not lstm.get("use_skip_connections"):
        refusals.append("it cannot load a biLM without skip connections")
    if cnn.get("n_highway") is None:
        refusals.append("the options have no char_cnn.n_highway, which may be 0")
    if cnn.get("max_characters_per_token") != 50:
        refusals.append("char_cnn.max_characters_per_token is not 50")
    return refusals
