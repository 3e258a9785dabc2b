"""
Lets core modules register the names that configs of archives use. The plugin registers them when it
is imported, but these modules may not import the plugin. So `elmo_tasks/__init__.py` stores a
function here that imports the plugin.
"""

from collections.abc import Callable
from typing import Any

register: Callable[[], Any]
