import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.readers.treebank import Node, parse_tree

trees = st.recursive(
    st.tuples(st.sampled_from("01234"), st.text("ab\u00a0é", min_size=1)),
    lambda nodes: st.tuples(st.sampled_from("01234"), st.lists(nodes, min_size=1, max_size=3)),
)


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
        ("(3 (2 So) (4 good)", "ends before 1 of its brackets are closed"),
        ("(3 (2 So) (4 good)))", "column 20: the tree has ended before this bracket"),
        ("(3 (2 So)) (4 good)", "column 11: the tree has ended before this bracket"),
        (") (3 good)", "column 1: this bracket closes nothing"),
        ("(5 (2 So) (4 good))", "column 1: expected a node such as .*label from 0 to 4.*'\\(5 "),
        ("(3 (2 So) good)", "column 10: expected a node .*, not ' good\\)'"),
        ("(3 (2 So good))", "column 4: expected a node"),
        ("(3 (2 ) (4 good))", "column 4: expected a node"),
        ("()", "column 1: expected a node"),
        ("So good", "column 1: expected a node .*, not 'So good'"),
        ("", "the tree ends before"),
    ],
)
def test_unreadable_tree_is_refused_with_its_column(line: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_tree(line)
