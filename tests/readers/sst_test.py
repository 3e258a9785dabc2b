from collections import Counter
from pathlib import Path

import nltk
import pytest

from elmo_tasks.readers.sst import SstReader
from elmo_tasks.readers.treebank import parse_tree
from tests.helpers.reading import words

FIXTURE = Path(__file__).parents[2] / "fixtures" / "sst.txt"
FIVE = ["very negative", "negative", "neutral", "positive", "very positive"]


def test_whole_sentences_are_read_with_the_label_of_their_root() -> None:
    instances = list(SstReader().read(FIXTURE))
    expected = [class_name for class_name in reversed(FIVE) for _ in range(2)]

    assert [instance["label"].label for instance in instances] == expected

    sentence = "The old lighthouse glows with breathtaking warmth ."

    assert words(instances[0]) == sentence.split(" ")
    assert instances[0]["metadata"].metadata == {"tokens": words(instances[0])}
    assert words(instances[5]) == ["She", "said", '"', "perhaps", '"']
    assert words(instances[4]) == ["The", "train", "leaves", "at", "7\u00a03/4", "."]


@pytest.mark.parametrize("least", [1, 4, 8, 100])
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


def test_coarser_classes_join_labels_and_two_drop_the_neutral() -> None:
    three = [instance["label"].label for instance in SstReader("3-class").read(FIXTURE)]
    two = [instance["label"].label for instance in SstReader("2-class").read(FIXTURE)]

    assert three == ["positive"] * 4 + ["neutral"] * 2 + ["negative"] * 4
    assert two == ["positive"] * 4 + ["negative"] * 4
