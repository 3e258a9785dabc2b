"""
Lets the core register the names in the configs of archives. The plugin registers them. No room may
import the plugin, so `elmo_tasks/__init__.py` sets here how to import it.
"""

from collections.abc import Callable
from typing import Any

register: Callable[[], Any]
