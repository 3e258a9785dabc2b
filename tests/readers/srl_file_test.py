from pathlib import Path

import pytest

from elmo_tasks.readers.entities import Entity
from elmo_tasks.readers.srl_file import Predicate, SrlSentence, read_srl

FIXTURE = Path(__file__).parents[2] / "fixtures" / "srl.gold_conll"
CONLL_2005 = ["word", "predicate", "roles"]


def written(folder: Path, content: str) -> Path:
    path = folder / "srl.txt"
    path.write_text(content, encoding="utf-8")
    return path


def predicates(*columns: str) -> str:
    """Returns a sentence of CoNLL-2005's columns, with the predicates at its first tokens."""
    rows = zip(*(column.split() for column in columns))
    lines = []
    for index, row in enumerate(rows):
        predicate = "be" if index < len(columns) else "-"
        lines.append(" ".join(["word", predicate, *row]))
    return "\n".join(lines) + "\n\n"


def test_sentence_of_conll_2012_has_its_words_predicates_and_line() -> None:
    sentences = list(read_srl(FIXTURE))

    assert len(sentences) == 12
    assert sentences[1] == SrlSentence(
        9,
        "The storm broke two windows and frightened the dog .".split(),
        [
            Predicate(2, [Entity("ARG0", 0, 2), Entity("V", 2, 3), Entity("ARG1", 3, 5)]),
            Predicate(6, [Entity("ARG0", 0, 2), Entity("V", 6, 7), Entity("ARG1", 7, 9)]),
        ],
    )
    assert sentences[2].predicates == []
    # A sentence after the beginning of a second document.
    assert sentences[6].predicates == [
        Predicate(
            3,
            [
                Entity("ARG0", 0, 1),
                Entity("ARGM-NEG", 2, 3),
                Entity("V", 3, 4),
                Entity("ARG1", 4, 6),
                Entity("C-V", 6, 7),
            ],
        )
    ]


def test_columns_of_conll_2005_are_read_by_naming_them(tmp_path: Path) -> None:
    text = "#\t-\t(A0*)\nsold\tsell\t(V*)\n\nboats\t-\n\nrain\t-\t*\nfell\tfall\t(V*V)\n"
    reordered = "(A0* - a\n*A0) - -\n(V*) be -\n"

    assert list(read_srl(written(tmp_path, text), CONLL_2005)) == [
        SrlSentence(1, ["#", "sold"], [Predicate(1, [Entity("A0", 0, 1), Entity("V", 1, 2)])]),
        SrlSentence(4, ["boats"], []),
        SrlSentence(6, ["rain", "fell"], [Predicate(1, [Entity("V", 1, 2)])]),
    ]
    # Columns may also stand behind those of the roles.
    assert list(read_srl(written(tmp_path, reordered), ["roles", "predicate", "word"])) == [
        SrlSentence(1, ["a", "-", "-"], [Predicate(2, [Entity("A0", 0, 2), Entity("V", 2, 3)])])
    ]


def test_predicates_may_have_no_argument_or_not_even_their_own_span(tmp_path: Path) -> None:
    path = written(tmp_path, predicates("(V*) * *", "* * *"))

    ((_, _, found),) = read_srl(path, CONLL_2005)

    assert found == [Predicate(0, [Entity("V", 0, 1)]), Predicate(1, [])]


def test_sentence_without_a_predicate_may_have_a_column_of_roles(tmp_path: Path) -> None:
    path = written(tmp_path, "rain - *\nfell - *\n\n" + predicates("(V*)"))

    assert [len(sentence.predicates) for sentence in read_srl(path, CONLL_2005)] == [0, 1]


def test_file_is_a_stream(tmp_path: Path) -> None:
    # The second sentence is wrong, and only whoever reads it is told.
    sentences = read_srl(written(tmp_path, predicates("(V*)") + predicates("(V*")), CONLL_2005)

    assert next(sentences).predicates == [Predicate(0, [Entity("V", 0, 1)])]
    with pytest.raises(ValueError, match="srl.txt:3"):
        next(sentences)
