from collections.abc import Collection
from importlib.util import find_spec


class ConfigurationError(ValueError):
    """Raised if a setting, a file or an argument cannot be used; the message says why."""


# The version of AllenNLP that this package is a plugin for.
ALLENNLP = "allennlp==2.10.1"

# The message for an answer that has NaN or infinity.
NOT_FINITE = (
    "the answer has a number that is not finite; the weights of the model may be damaged or much "
    "too large"
)

# What to do if AllenNLP is missing.
INSTALL_ALLENNLP = (
    "this part of elmo_tasks needs AllenNLP: "
    f'pip install "elmo-tasks[allennlp]" && pip install --no-deps {ALLENNLP}'
)


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raises `ConfigurationError` unless the value of a setting is one of the choices."""
    if value not in choices:
        alternatives = " or ".join(choices) if len(choices) == 2 else f"one of {', '.join(choices)}"
        raise ConfigurationError(f"{name} must be {alternatives}, not {value!r}")


def check_positive(name: str, number: int | None) -> None:
    """Raises `ConfigurationError` unless a setting is None or a whole number of at least 1."""
    if number is not None and (type(number) is not int or number < 1):
        raise ConfigurationError(f"{name} must be 1 or more, not {number!r}")


def require_allennlp() -> None:
    """Raises `ImportError` where AllenNLP is not installed; the message says what to install."""
    if not _is_installed("allennlp"):
        raise ImportError(INSTALL_ALLENNLP)


def require_package(module: str) -> None:
    """
    Raises the error of a failed import if a module is not installed. A command calls this before it
    reads or computes anything, and then says what to install.
    """
    if not _is_installed(module):
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False
