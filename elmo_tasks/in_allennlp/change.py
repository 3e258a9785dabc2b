from typing import Any, NamedTuple


class Change(NamedTuple):
    """
    A change to another package: a name in one of its modules or classes gets another value.

    # Parameters

    module (`ModuleType | type`): The module or class.
    name: The name that gets another value.
    value: The new value.
    reason: Why elmo_tasks needs the change.
    version (default `'allennlp 2.10.1'`): The package and the version that the change was made for.
    """

    module: Any
    name: str
    value: Any
    reason: str
    version: str = "allennlp 2.10.1"
