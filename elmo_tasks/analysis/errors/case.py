from typing import NamedTuple

# The error of a judge that finds nothing to compare with.
NO_ANSWERS = "the data has no right answers to compare with"


class Claim(NamedTuple):
    """
    A statement of a model that is right or wrong: a class, an entity, an answer, a semantic role or
    a link between two mentions.

    # Parameters

    predicted, expected : `str`
        What the model says, and what the data says.
    confidence : `float`
        The probability that the model gives its statement.
    is_right : `bool`
    text : `str`, optional
        The part of the case's text that a person reads with the statement. By default all of it.
    """

    predicted: str
    expected: str
    confidence: float
    is_right: bool
    text: str = ""


class Case(NamedTuple):
    """
    An instance of a data set with a model's answer to it.

    The score of several cases is the sum of their `hits` over the sum of their `total`. This is the
    accuracy if a case counts 1, and F1 if it counts twice the right entities, roles or links over
    the number of predicted and expected ones.

    # Parameters

    text : `str`
        The text that a person reads.
    num_tokens, num_unknown : `int`
        The number of the tokens, and of those that the model has no word vector of its own for.
    hits, total : `float`
    claims : `list[Claim]`
        One claim, or one for each predicted entity, role or link.
    expected : `list[str]`
        The expected class, the types of the expected entities or roles, the right answers, or the
        expected links.
    predicted : `list[str]`
        The predicted class, the types of the predicted entities or roles, the answer, or the kinds
        of the links (see `judge_links`).
    """

    text: str
    num_tokens: int
    num_unknown: int
    hits: float
    total: float
    claims: list[Claim]
    expected: list[str]
    predicted: list[str]

    @property
    def score(self) -> float:
        """The score of this case alone; 1 if nothing is expected and nothing predicted."""
        return self.hits / self.total if self.total else 1.0
