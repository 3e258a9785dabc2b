from collections import Counter
from pathlib import Path

import pytest

from elmo_tasks.own_data.split import Example, read_examples, split
from elmo_tasks.readers.classify import ClassifyReader
from elmo_tasks.readers.tag import TagReader

FIXTURES = Path(__file__).parents[2] / "fixtures"
EXAMPLES = [Example(f"{n}\n", "ab"[n % 3 == 0], str(n % 20)) for n in range(31)]


def test_parts_have_every_example_once_and_as_many_of_each_label() -> None:
    parts = split(EXAMPLES, 4, seed=1)

    assert sorted(example for part in parts for example in part) == sorted(EXAMPLES)
    assert all(part == sorted(part, key=EXAMPLES.index) for part in parts)
    for label in "ab":
        texts = [
            len({example.text for example in part if example.label == label}) for part in parts
        ]
        assert max(texts) - min(texts) <= 2


def test_equal_texts_are_in_the_same_part() -> None:
    parts = split(EXAMPLES, 4, seed=1)

    owners = Counter(text for part in parts for text in {example.text for example in part})
    assert set(owners.values()) == {1}


def test_the_seed_alone_decides() -> None:
    assert split(EXAMPLES, 3, seed=1) == split(EXAMPLES, 3, seed=1) != split(EXAMPLES, 3, seed=2)


def test_rows_of_a_table_become_json_that_the_reader_reads(tmp_path: Path) -> None:
    reader = ClassifyReader()
    examples = list(read_examples(reader, FIXTURES / "classify.csv"))
    lines = "".join(example.lines for example in examples)
    (tmp_path / "all.jsonl").write_text(lines, encoding="utf-8")

    words = [
        [[token.text for token in each["tokens"]], each["label"].label]
        for path in (FIXTURES / "classify.csv", tmp_path / "all.jsonl")
        for each in reader.read(path)
    ]

    assert words[:10] == words[10:]
    assert [example.label for example in examples] == [label for _, label in words[:10]]


@pytest.mark.parametrize("name", ["tag.conllu", "ner.txt"])
def test_sentences_stay_as_they_are(name: str, tmp_path: Path) -> None:
    reader = TagReader(
        column="upos" if name == "tag.conllu" else "tag", columns=["word", "a", "b", "tag"]
    )
    lines = "".join(example.lines for example in read_examples(reader, FIXTURES / name))
    (tmp_path / name).write_text(lines, encoding="utf-8")

    before, after = (
        [(each.words, each.tags) for each in reader.sentences(path)]
        for path in (FIXTURES / name, tmp_path / name)
    )

    assert before == after
