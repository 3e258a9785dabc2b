import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.language_model.scoring.scorer import ScoreEngine
from elmo_tasks.language_model.scoring.scores import Score

# The columns that are written for each token, and for each sentence.
COLUMNS = ("sentence", "position", "token", "known", "forward", "backward")
SUMS = (
    "sentence",
    "line",
    "row",
    "tokens",
    "unknown",
    *(
        f"{way}_{name}"
        for way in ("forward", "backward")
        for name in ("bits", "mean", "perplexity")
    ),
)

# A function that cuts a word into the tokens of the training text.
Cut = Callable[[str], list[str]]


class ScoreSettings(NamedTuple):
    """
    The settings of `elmo-tasks score`.

    # Parameters

    context: As for `LanguageModel.iterate`.
    cut: Cuts each word of the text into tokens. The bits of a word are the sum over its tokens.
    sums: Whether a line is written for each sentence, and not for each token.
    """

    context: int = 0
    cut: Cut | None = None
    sums: bool = False

    def header(self) -> str:
        """Returns the names of the columns."""
        return "\t".join(SUMS if self.sums else COLUMNS) + "\n"

    def lines(self, index: int, score: Score, line: int, row: int) -> str:
        """
        Returns the lines to write for a sentence. `line` and `row` are the numbers of its line and
        row in the file.
        """
        rows = [_sums(index, score, line, row)] if self.sums else _tokens(index, score)
        return "".join("\t".join(map(str, row)) + "\n" for row in rows)


def scores_of(
    model: LanguageModel,
    sentences: Iterable[list[str]],
    settings: ScoreSettings,
    engine: ScoreEngine = map,
) -> Iterator[Score]:
    """
    Yields the score of each sentence. With `settings.cut`, the tokens of a score are whole words.
    `engine` is as for `LanguageModel.iterate`.
    """
    cut = settings.cut
    if cut is None:
        yield from model.iterate(sentences, settings.context, engine)
        return
    waiting: deque[tuple[list[str], list[int]]] = deque()

    def pieces() -> Iterator[list[str]]:
        for words in sentences:
            parts = [cut(word) or [word] for word in words]
            waiting.append((words, list(map(len, parts))))
            yield [piece for part in parts for piece in part]

    for score in model.iterate(pieces(), settings.context, engine):
        yield score.by_word(*waiting.popleft())


def _tokens(index: int, score: Score) -> Iterator[tuple[object, ...]]:
    are_known = (str(value).lower() for value in score.known)
    rows = zip(score.tokens, are_known, _bits(score.forward), _bits(score.backward))
    for position, row in enumerate(rows):
        yield index, position, *row


def _sums(index: int, score: Score, line: int, row: int) -> list[object]:
    num_unknown = len(score.known) - sum(score.known)
    numbers: list[object] = [index, line, row, len(score.tokens), num_unknown]
    for log_prob in (score.forward_sum, score.backward_sum):
        bits = -log_prob / math.log(2)
        # The boundary at the end is predicted, too.
        mean = bits / (len(score.tokens) + 1)
        numbers += [round(number, 4) for number in (bits, mean, 2**mean)]
    return numbers


def _bits(log_probs) -> list[float]:
    return [round(bits, 4) for bits in (-log_probs / math.log(2)).tolist()]
