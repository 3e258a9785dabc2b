import sys
from pathlib import Path


def program() -> str:
    """Returns what a person typed to run this process: `elmo-tasks`, otherwise `allennlp`."""
    return "elmo-tasks" if Path(sys.argv[0]).stem == "elmo-tasks" else "allennlp"
