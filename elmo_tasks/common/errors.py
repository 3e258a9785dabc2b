import traceback
from importlib.util import find_spec


class ConfigurationError(ValueError):
    """Raised if a setting, a file or an argument cannot be used; the message says why."""


# What to do if AllenNLP is missing.
INSTALL_ALLENNLP = (
    "this part of elmo_tasks needs AllenNLP: "
    'pip install "elmo-tasks[allennlp]" && pip install --no-deps allennlp==2.10.1'
)


def require_allennlp() -> None:
    """Raises `ImportError` where AllenNLP is not installed; the message is what to install."""
    try:
        is_there = find_spec("allennlp") is not None
    except ModuleNotFoundError:
        is_there = False
    if not is_there:
        raise ImportError(INSTALL_ALLENNLP)


def raised_here(error: BaseException) -> bool:
    """Returns whether a line of this package raised an error."""
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    return bool(frames) and frames[-1].f_globals.get("__name__", "").startswith("elmo_tasks.")
