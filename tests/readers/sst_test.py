import logging
from collections import Counter
from pathlib import Path

import nltk
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.readers.sst import Node, SstReader, parse_tree
from tests.helpers.reading import words

FIXTURE = Path(__file__).parents[2] / "fixtures" / "sst.txt"
FIVE = ["very negative", "negative", "neutral", "positive", "very positive"]


def test_whole_sentences_are_read_with_the_label_of_their_root() -> None:
    instances = list(SstReader().read(FIXTURE))
    expected = [class_name for class_name in reversed(FIVE) for _ in range(2)]

    assert [instance["label"].label for instance in instances] == expected

    sentence = "The old lighthouse glows with breathtaking warmth ."

    assert words(instances[0]) == sentence.split(" ")
    assert instances[0]["metadata"].metadata == {"tokens": words(instances[0]), "line": 1}
    assert words(instances[5]) == ["She", "said", '"', "perhaps", '"']
    assert words(instances[4]) == ["The", "train", "leaves", "at", "7\u00a03/4", "."]


@pytest.mark.parametrize("least", [1, 4, 8])
def test_phrases_are_the_subtrees_of_nltk_with_their_own_labels(least: int) -> None:
    reader = SstReader(min_phrase_tokens=least)
    phrases = Counter((tuple(words(i)), i["label"].label) for i in reader.read(FIXTURE))
    expected: Counter = Counter()

    for line in FIXTURE.read_text(encoding="utf-8").splitlines():
        tree = nltk.Tree.fromstring(line, leaf_pattern="[^() ]+", node_pattern="[^() ]+")
        for subtree in tree.subtrees():
            leaves = tuple(parse_tree(f"(2 {leaf})").words[0] for leaf in subtree.leaves())
            if len(leaves) >= least:
                expected[leaves, FIVE[int(subtree.label())]] += 1

    assert phrases == expected


def test_coarser_classes_join_labels_and_two_drop_and_count_the_neutral(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    three = [instance["label"].label for instance in SstReader("3-class").read(FIXTURE)]
    assert "neutral phrases" not in caplog.text
    two = [instance["label"].label for instance in SstReader("2-class").read(FIXTURE)]

    assert three == ["positive"] * 4 + ["neutral"] * 2 + ["negative"] * 4
    assert two == ["positive"] * 4 + ["negative"] * 4
    assert f"{FIXTURE}: dropped 2 neutral phrases" in caplog.text


trees = st.recursive(
    st.tuples(st.sampled_from("01234"), st.text("ab\u00a0é", min_size=1)),
    lambda nodes: st.tuples(st.sampled_from("01234"), st.lists(nodes, min_size=1, max_size=3)),
)


def test_loud_words_are_read_in_their_plain_form() -> None:
    reader = SstReader()

    instance = reader.text_to_instance(reader.tokenizer.tokenize("It is SOOO GREAT, USA!"))

    assert words(instance) == ["It", "is", "so", "great", ",", "USA", "!"]
    asked = ["It", "is", "SOOO", "GREAT", ",", "USA", "!"]
    assert instance["metadata"].metadata == {"tokens": asked}


def in_brackets(tree: tuple) -> str:
    label, inside = tree
    return f"({label} {inside if isinstance(inside, str) else ' '.join(map(in_brackets, inside))})"


def in_order(tree: tuple, start: int = 0) -> tuple[list[str], list[Node]]:
    label, inside = tree
    if isinstance(inside, str):
        return [inside], [Node(int(label), start, start + 1)]
    leaves: list[str] = []
    nodes: list[Node] = []
    for child in inside:
        more_leaves, more_nodes = in_order(child, start + len(leaves))
        leaves, nodes = leaves + more_leaves, nodes + more_nodes
    return leaves, [*nodes, Node(int(label), start, start + len(leaves))]


@given(trees)
def test_any_tree_is_parsed_as_by_recursion(tree: tuple) -> None:
    assert parse_tree(in_brackets(tree)) == in_order(tree)


def test_escapes_of_the_treebank_are_undone() -> None:
    assert parse_tree("(2 (2 -LCB-) (2 (2 a\\*b) (2 `)))").words == ["{", "a*b", "'"]


def test_tree_of_ten_thousand_levels_is_parsed() -> None:
    tree = parse_tree("(2 " * 10_000 + "(3 deep)" + ")" * 10_000)

    assert tree.words == ["deep"]
    assert len(tree.nodes) == 10_001


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("(3 (2 So) (4 good)))", "column 20: the tree has ended before this bracket"),
        ("(3 (2 So)) (4 good)", "column 11: the tree has ended before this bracket"),
        (") (3 good)", "column 1: this bracket closes nothing"),
        ("(3 (2 So) good)", "column 10: .*, not ' good\\)'"),
        ("(3 (2 So good))", "column 4: "),
        ("(3 (2 ) (4 good))", "column 4: "),
        ("()", "column 1: "),
        ("So good", "column 1: .*, not 'So good'; for a table of .* new classify"),
    ],
)
def test_unreadable_tree_is_refused_with_its_column(line: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_tree(line)
