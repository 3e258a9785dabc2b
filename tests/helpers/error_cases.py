"""Cases for error reports, worked by hand."""

from elmo_tasks.analysis.errors.case import Case, Claim
from elmo_tasks.analysis.errors.compare_answers import COMPARISONS, Compared


def class_case(expected: str, predicted: str, confidence: float = 0.5, length: int = 5) -> Case:
    is_right = expected == predicted
    claim = Claim(predicted, expected, confidence, is_right)
    text = f"{expected} as {predicted} *{length}*"
    counts = [(is_right, 1, is_right, 1)]
    return Case(text, counts, [claim], [expected], [predicted], length)


# Seven of the ten cases are right: 4 of the 5 of class a, and 3 of the 5 of class b.
CLASSIFIED = [
    class_case("a", "a", 0.95, 2),
    class_case("a", "a", 0.95, 3),
    class_case("a", "a", 0.85, 4),
    class_case("a", "a", 0.65, 5),
    class_case("a", "b", 0.99, 6),
    class_case("b", "b", 0.75, 7),
    class_case("b", "b", 0.75, 8),
    class_case("b", "b", 1.0, 9),
    class_case("b", "a", 0.55, 10),
    class_case("b", "a", 0.85, 20),
]


def compared_cases(cases: list[Case] = CLASSIFIED, compared: str = "classes") -> Compared:
    return Compared(compared, COMPARISONS[compared][0], cases)


def entities() -> list[Case]:
    """Two sentences: PER is right once of two predictions, LOC is found once of two times."""
    return [
        Case(
            "Ann Lee in Rome",
            [(2, 2, 2, 2)],
            [
                Claim("PER Ann Lee", "PER Ann Lee", 0.9, True),
                Claim("LOC Rome", "LOC Rome", 0.8, True),
            ],
            ["PER", "LOC"],
            ["PER", "LOC"],
            4,
        ),
        Case(
            "Paris sings",
            [(0, 1, 0, 1)],
            [Claim("PER Paris", "LOC Paris", 0.7, False)],
            ["LOC"],
            ["PER"],
            2,
        ),
        Case("Nothing here", [(0, 0, 0, 0)], [], [], [], 2),
    ]


def links() -> list[Case]:
    """Two documents with two predicted links, one of them right, and three expected ones."""
    claims = [
        Claim("her → Ann", "her → Ann", 0.9, True, "Ann sold her shop ."),
        Claim("It → her", "It → her shop", 0.8, False, "It closed ."),
    ]
    expected = ["her → Ann", "It → her shop", "she → her"]
    predicted = ["her → Ann", "It → her"]
    text = "Ann sold her shop . It closed . That was what she wanted ."
    return [
        Case(text, [(1, 2, 1, 3)] * 3, claims, expected, predicted, 14),
        Case("Nothing here", [(0, 0, 0, 0)] * 3, [], [], [], 2),
    ]
