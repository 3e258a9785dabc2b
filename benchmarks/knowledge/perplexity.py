"""The perplexity of a language model, by kind of text."""

import math
from itertools import islice
from pathlib import Path

from benchmarks.knowledge.results import Rows
from elmo_tasks.common.text_files import read_lines
from elmo_tasks.predictors.load import load

# The held-out lines of each kind.
KINDS = {
    "books": "heldout.txt.gz",
    "Wikipedia": "wikipedia.heldout.txt.gz",
    "podcasts": "podcasts.heldout.txt.gz",
    "US government": "usgov-web.heldout.txt.gz",
}
_LINES = 500


def measure(archive: str, data: Path) -> Rows:
    """
    Returns the mean perplexity of the two directions on each kind of text, over the words of the
    language model, all others as one.
    """
    model = load(archive)
    rows: Rows = {}
    for kind, file in KINDS.items():
        lines = [line.strip() for line in islice(read_lines(data / "corpus" / file), _LINES)]
        forward: list[float] = []
        backward: list[float] = []
        for answer in model.predict(filter(None, lines)):
            forward += [*answer.forward_log_probs, answer.end_log_prob]
            backward += [*answer.backward_log_probs, answer.begin_log_prob]
        each = [math.exp(-sum(probs) / len(probs)) for probs in (forward, backward)]
        rows[f"perplexity: {kind}"] = [sum(each) / 2]
    return rows
