import gzip
from collections import Counter
from pathlib import Path

import pytest

from elmo_tasks.analysis.neighbors.occurrences import Occurrence, search

LINES = ["the bank of the river", "a bank and a bank", "", "Bank holidays", "nothing here"]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES) + "\n")
    return path


def test_every_place_of_the_word_is_found_in_its_order(text: Path) -> None:
    corpus = search(text, "bank", max_occurrences=10)

    first, second = LINES[0].split(), LINES[1].split()
    assert corpus.occurrences == [
        Occurrence(first, 1),
        Occurrence(second, 1),
        Occurrence(second, 4),
    ]
    # The empty line is not counted as a sentence.
    assert (corpus.num_occurrences, corpus.num_sentences) == (3, 4)
    assert corpus.counts == Counter(" ".join(LINES).split())


def test_packed_files_and_patterns_are_read(text: Path) -> None:
    text.with_name("text.gz").write_bytes(gzip.compress(b"the bank\n"))

    assert search(text.with_name("text.*"), "bank", 10).num_occurrences == 4


def test_a_line_of_5000_tokens_is_read_in_pieces(text: Path) -> None:
    words = ["w"] * 5000
    words[300] = "bank"
    text.write_text(" ".join(words) + "\n", encoding="utf-8")

    (found,) = search(text, "bank", 10).occurrences

    assert found.words[found.position] == "bank" and len(found.words) <= 256


def test_of_too_many_each_is_as_likely_to_be_drawn(text: Path) -> None:
    text.write_text("".join(f"{number} x\n" for number in range(12)), encoding="utf-8")
    drawn: Counter[str] = Counter()
    for seed in range(600):
        found = search(text, "x", 4, seed=seed)
        numbers = [occurrence.words[0] for occurrence in found.occurrences]
        assert numbers == sorted(set(numbers), key=int) and len(numbers) == 4
        assert found.num_occurrences == 12
        drawn.update(numbers)

    # Each is drawn 200 times on average; four standard deviations are 46.
    assert len(drawn) == 12
    assert all(abs(count - 200) < 46 for count in drawn.values())
    # A seed decides what is drawn.
    assert search(text, "x", 4, seed=599) == found


@pytest.mark.parametrize(
    ("position", "line"),
    [
        (0, "            a  little boa"),
        (2, "  a little  boat  sailed to "),
        (6, "led to the  sea  "),
    ],
)
def test_a_line_has_so_many_characters_on_either_side(position: int, line: str) -> None:
    words = "a little boat sailed to the sea".split()

    assert Occurrence(words, position).line(10) == line
