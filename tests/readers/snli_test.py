import json
import logging
from pathlib import Path
from typing import Any

import pytest
from allennlp.data import Instance
from allennlp.data.tokenizers import WhitespaceTokenizer
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.readers.snli import LABELS, SnliReader

FIXTURES = Path(__file__).parents[2] / "fixtures"
SHORT = FIXTURES / "snli.jsonl"
OFFICIAL = FIXTURES / "snli.official.jsonl"
COLUMNS = FIXTURES / "snli.official.txt"

PAIR = {"gold_label": "neutral", "sentence1": "A man sings.", "sentence2": "A man is old."}
NAMES = "gold_label\tsentence1\tsentence2"


def words(instance: Instance) -> tuple[list[str], list[str]]:
    premise, hypothesis = instance["premise"].tokens, instance["hypothesis"].tokens
    return [token.text for token in premise], [token.text for token in hypothesis]


def read(path: Path, **arguments: Any) -> list[tuple[list[str], list[str], str]]:
    instances = SnliReader(**arguments).read(path)
    return [(*words(instance), instance["label"].label) for instance in instances]


def test_pairs_are_read_with_their_label() -> None:
    instances = list(SnliReader().read(SHORT))

    assert [instance["label"].label for instance in instances] == list(LABELS) * 3

    premise, hypothesis = words(instances[1])

    assert premise == ["A", "girl", "in", "a", "yellow", "raincoat", "feeds", "two", "ducks", "."]
    assert hypothesis == ["The", "ducks", "have", "n't", "eaten", "today", "."]
    assert instances[1]["metadata"].metadata == {
        "premise_tokens": premise,
        "hypothesis_tokens": hypothesis,
    }


def test_all_forms_of_the_same_pairs_are_read_alike() -> None:
    expected = read(SHORT)

    for path in (OFFICIAL, COLUMNS):
        for tokens_from in ("sentence", "binary_parse"):
            assert read(path, tokens_from=tokens_from) == expected


@given(st.recursive(st.text("abé\u00a0-.", min_size=1), lambda each: st.tuples(each, each)))
def test_leaves_are_found_in_any_binary_tree(tree: Any) -> None:
    def in_brackets(node: Any) -> str:
        return node if isinstance(node, str) else f"( {' '.join(map(in_brackets, node))} )"

    def leaves(node: Any) -> list[str]:
        return [node] if isinstance(node, str) else [*leaves(node[0]), *leaves(node[1])]

    parse = {"sentence1_binary_parse": in_brackets(tree)}
    tokens = SnliReader("binary_parse")._tokens(parse, 1)
    assert [token.text for token in tokens] == leaves(tree)


def test_pairs_without_a_gold_label_are_dropped_and_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.INFO, logger="elmo_tasks"):
        for path, dropped in ((OFFICIAL, 1), (COLUMNS, 1), (SHORT, 0)):
            assert len(read(path)) == 9
            assert len(read(path, max_instances=8)) == 8
            assert f"{path}: dropped {dropped} pairs without a gold label" in caplog.text


def test_tokenizer_is_for_raw_text_alone() -> None:
    blanks = WhitespaceTokenizer()

    assert read(OFFICIAL, tokenizer=blanks)[0][0][-1] == "ducks."
    assert read(OFFICIAL, tokenizer=blanks, tokens_from="binary_parse") == read(SHORT)


def test_blank_lines_and_windows_line_ends_are_no_part_of_a_pair(tmp_path: Path) -> None:
    path = tmp_path / "pairs.txt"
    path.write_bytes(b"\r\n" + NAMES.encode() + b"\r\n\r\nneutral\tA man.\tA cat.\r\n")

    assert read(path) == [(["A", "man", "."], ["A", "cat", "."], "neutral")]

    path.write_bytes(b"\n" + json.dumps(PAIR).encode() + b"\r\n \r\n")

    assert len(read(path)) == 1
