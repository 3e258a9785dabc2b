"""
Lets the core register the names in the configs of archives. The plugin, which does it, lies above
all rooms, so that `elmo_tasks/__init__.py` says here how to import it.
"""

from collections.abc import Callable
from typing import Any

register: Callable[[], Any]
