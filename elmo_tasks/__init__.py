"""
ELMo (Peters et al. 2018) and the tasks of its paper.

The biLM, its files, the store of layers, the mix of layers and `ElmoEncoder` need PyTorch, but not
AllenNLP. `elmo_tasks.plugin` registers the readers, models, predictors and the trainer with
AllenNLP.
"""

from __future__ import annotations

import importlib
import sys

# `typing` is not imported here: these lines run before `elmo-tasks` can catch Ctrl-C.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from elmo_tasks.elmo import ElmoEncoder
    from elmo_tasks.language_model.scoring.language_model import LanguageModel
    from elmo_tasks.predictors.load import load as load

__all__ = ["ElmoEncoder", "LanguageModel"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Imports a public name on first use, so that `import elmo_tasks` does not import PyTorch."""
    if name == "ElmoEncoder":
        return importlib.import_module("elmo_tasks.elmo").ElmoEncoder
    if name == "LanguageModel":
        return importlib.import_module(
            "elmo_tasks.language_model.scoring.language_model"
        ).LanguageModel
    if name == "load":
        importlib.import_module("elmo_tasks.plugin")
        return importlib.import_module("elmo_tasks.predictors.load").load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# AllenNLP loads this plugin by importing `elmo_tasks`. Without AllenNLP, nothing is registered.
if sys.modules.get("allennlp") is not None:
    import elmo_tasks.plugin  # noqa: F401
