from collections.abc import Callable
from typing import Any

# Registers our names with AllenNLP, for modules that need AllenNLP only sometimes. This folder may
# not import the plugin, so `elmo_tasks/__init__.py` and `console.py` set the function.
register: Callable[[], Any]
