from __future__ import annotations

# `typing` is not imported here: these lines run before `elmo-tasks` can catch Ctrl-C.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# Registers our names with AllenNLP, for modules that need AllenNLP only sometimes. This folder may
# not import the plugin, so `elmo_tasks/__init__.py` and `console.py` set the function.
register: Callable[[], Any]
