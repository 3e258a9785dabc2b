"""
ELMo in spaCy: the components `elmo`, `elmo_coref`, `elmo_ner`, `elmo_sentiment`, `elmo_srl`,
`elmo_tagger` and `elmo_textcat`, and the architecture `elmo_tasks.Tok2Vec.v1`. Importing this
package registers them. If elmo_tasks is installed, spaCy finds them without an import.
"""

import importlib
from typing import TYPE_CHECKING, Any

from elmo_tasks.spacy import factories  # noqa: F401

if TYPE_CHECKING:
    from elmo_tasks.spacy.elmo import ElmoComponent, use_elmo

__all__ = ["ElmoComponent", "use_elmo"]


def __getattr__(name: str) -> Any:
    """Imports a public name on first use, because spaCy imports this package for every pipeline."""
    if name in __all__:
        return getattr(importlib.import_module("elmo_tasks.spacy.elmo"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
