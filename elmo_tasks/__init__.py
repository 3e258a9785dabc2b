"""
ELMo (Peters et al. 2018) and the tasks of its paper.

The biLM, its files, the store of computed layers, the mix of layers and `ElmoEncoder` need PyTorch,
but not AllenNLP. Everything else is a plugin of AllenNLP, which `elmo_tasks.plugin` registers.
"""

import sys
from typing import TYPE_CHECKING, Any

from elmo_tasks.encoder import ElmoEncoder

if TYPE_CHECKING:
    from elmo_tasks.predictors.load import load as load

__all__ = ["ElmoEncoder"]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # `load` needs AllenNLP, which is imported at its first use.
    if name == "load":
        import elmo_tasks.plugin  # noqa: F401  registers the names in the config of an archive
        from elmo_tasks.predictors.load import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# AllenNLP imports its plugins by this name.
if sys.modules.get("allennlp") is not None:
    import elmo_tasks.plugin  # noqa: F401
