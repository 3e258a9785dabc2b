"""
Lets the core register the names that configs of archives use. The plugin registers them when it is
imported, but no room may import the plugin. So `elmo_tasks/__init__.py` stores a function here that
imports it.
"""

from collections.abc import Callable
from typing import Any

register: Callable[[], Any]
