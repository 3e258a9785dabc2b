import sys
from pathlib import Path


def program() -> str:
    """Returns the program that a person typed to start this process: `elmo-tasks` or `allennlp`."""
    return "elmo-tasks" if Path(sys.argv[0]).stem == "elmo-tasks" else "allennlp"
