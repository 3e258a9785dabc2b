from typing import Any

from allennlp.common.checks import check_dimensions_match


def check_input(name: str, module: Any, width: int, source: str) -> None:
    """Raises `ConfigurationError` unless a module's input has `width`, the width of `source`."""
    check_dimensions_match(width, module.get_input_dim(), source, f"input of {name}")
