import os
from typing import NamedTuple

import torch

from elmo_tasks.bilm import make_bilm
from elmo_tasks.bilm.files.options import BiLmOptions, num_parameters
from elmo_tasks.bilm.files.weights import open_weights
from elmo_tasks.bilm.formats import format_of, read_options
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.common.errors import ConfigurationError

# The sentence contains one word twice. The two vectors of this word should be equal in layer 0 and
# differ in all other layers.
_SENTENCE = "The boat left one bank of the river for the other bank .".split()
_TWICE = [position for position, word in enumerate(_SENTENCE) if word == "bank"]


class CheckReport(NamedTuple):
    """
    A description of the options and weights of a biLM, with the list of their problems.

    # Parameters

    facts: Properties of the biLM, such as `LSTM layers`, and their descriptions.
    """

    facts: dict[str, str]
    problems: list[str]

    def __str__(self) -> str:
        width = max(map(len, self.facts))
        lines = [f"{subject:{width}}  {text}" for subject, text in self.facts.items()]
        count = len(self.problems)
        verdict = f"Not sound: {count} problem{'s' * (count > 1)}." if count else "Sound."
        return "\n".join([*lines, "", verdict, *(f"- {problem}" for problem in self.problems)])


def check(options_file: str | os.PathLike, weight_file: str | os.PathLike) -> CheckReport:
    """Describes a biLM, and looks for problems in its files and in the layers of a sentence."""
    facts = {"options": str(options_file)}
    try:
        raw = read_options(options_file)
        options = BiLmOptions.from_dict(raw)
        facts |= _describe(options)
        bilm = make_bilm(raw, weight_file)
        facts["weights"] = _describe_weights(weight_file, options)
    except ConfigurationError as error:
        return CheckReport(facts, [str(error)])
    # Shape: (num_layers, length, 2 * projection_dim)
    layers = bilm(batch_char_ids([_SENTENCE], options.max_characters)).layers[0]
    facts["sentence"] = " ".join(_SENTENCE)
    problems = []
    for index, layer in enumerate(layers):
        deviation, largest = layer.std().item(), layer.abs().max().item()
        facts[f"layer {index}"] = f"standard deviation {deviation:.3f}, largest value {largest:.2f}"
        for direction, half in zip(("forward", "backward"), layer.chunk(2, dim=1)):
            if problem := _degenerate(half, contextual=index > 0):
                problems.append(f"layer {index}, {direction}: {problem}")
    return CheckReport(facts, problems)


def _describe(options: BiLmOptions) -> dict[str, str]:
    facts = {}
    if options.num_words:
        words = f"{options.num_words:,}, all others as <UNK>"
        facts["words"] = words if options.filters else f"{words}; no characters"
    return {
        **facts,
        "LSTM layers": f"{options.num_layers} a direction, cell state of {options.cell_dim}, "
        "output of "
        f"{options.projection_dim}",
        "layers for ELMo": f"{options.num_layers + 1} of width {2 * options.projection_dim}",
        "parameters": f"{num_parameters(options):,}",
        "state": f"{options.state}, as given in the options"
        if options.state
        else "snapshot: the options have no state; training with carried state is assumed",
    }


def _describe_weights(weight_file: str | os.PathLike, options: BiLmOptions) -> str:
    if not format_of(options).in_hdf5:
        return str(weight_file)
    size = os.path.getsize(weight_file) / 1e6
    with open_weights(weight_file, options) as weights:
        return f"{weight_file}: {size:.1f} MB, {' and '.join(sorted(weights.dtypes()))}"


def _degenerate(layer: torch.Tensor, contextual: bool) -> str | None:
    """
    Returns a message if the vectors of one direction of a layer cannot be right, for example all
    equal. Otherwise returns `None`. `layer` has the shape (length, projection_dim).
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
