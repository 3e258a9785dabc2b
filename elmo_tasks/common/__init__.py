from collections.abc import Callable
from typing import Any

# Registers our names with AllenNLP, by importing the plugin, which this room may not import. So
# `elmo_tasks/__init__.py` stores the function here, for modules that need AllenNLP only sometimes.
register: Callable[[], Any]
