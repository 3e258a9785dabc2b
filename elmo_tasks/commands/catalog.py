"""The commands of this package, listed without importing them."""

import importlib
from typing import Any, NamedTuple


class Entry(NamedTuple):
    """
    A command.

    # Parameters

    path: The module and the class of the command, in `elmo_tasks.commands`.
    help: One line in the help of `elmo-tasks` and `allennlp`.
    imports_plugin (default `False`): Whether the plugin must be imported before the command.
    is_subcommand (default `True`): Whether `allennlp` has the command too, as `elmo-NAME`.
    """

    path: str
    help: str
    imports_plugin: bool = False
    is_subcommand: bool = True

    def load(self) -> Any:
        """Imports the command, and returns its class."""
        module, _, name = self.path.partition(".")
        return getattr(importlib.import_module(f"elmo_tasks.commands.{module}"), name)


CATALOG = {
    "embed": Entry("elmo_embed.ElmoEmbed", "Write the ELMo vectors of a text to HDF5."),
    "score": Entry("elmo_score.ElmoScore", "Say how likely each word of a text is."),
    "neighbors": Entry(
        "elmo_neighbors.ElmoNeighbors",
        "Cluster or rank the occurrences of a word by their vectors.",
    ),
    "check": Entry(
        "elmo_check.ElmoCheck", "Check whether the options and weights of a biLM are sound."
    ),
    "mix": Entry(
        "elmo_mix.ElmoMixReport", "Show the weights that models give the layers of their biLM."
    ),
    "export": Entry("elmo_export.ElmoExport", "Write a biLM as options and weights, or as ONNX."),
    "store": Entry("elmo_store.ElmoStore", "Fill the store of a biLM's layers.", True),
    "probe": Entry(
        "elmo_probe.ElmoProbe",
        "Measure how well each layer of a biLM predicts the tags of words.",
        True,
    ),
    "ablation": Entry(
        "elmo_ablation.ElmoAblation",
        "Train variants of a task with several seeds, and compare the results.",
        True,
    ),
    "pack": Entry(
        "elmo_pack.ElmoPack", "Write a trained model as a small folder, to publish it.", True
    ),
    "errors": Entry(
        "elmo_errors.ElmoErrors",
        "Show where a model errs, and whether another one is better by more than chance.",
        True,
    ),
    "serve": Entry(
        "elmo_serve.ElmoServe",
        "Show models in the browser, and answer requests for their predictions.",
        True,
    ),
    "new": Entry(
        "new.New", "Write a first config for a task, or for data of your own.", is_subcommand=False
    ),
}
