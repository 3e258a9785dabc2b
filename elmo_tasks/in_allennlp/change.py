from typing import Any, NamedTuple


class Change(NamedTuple):
    """
    A change to a module or class of another package: a name in it gets another value.

    # Parameters

    module (`ModuleType | type`): What is changed.
    name: The name in it.
    value: What the name stands for from now on.
    reason: Why the package needs the change.
    version (default `'allennlp 2.10.1'`): The package and the version that the change was made for.
    """

    module: Any
    name: str
    value: Any
    reason: str
    version: str = "allennlp 2.10.1"
