import gzip
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


words = st.lists(st.text("abc", min_size=1, max_size=6), min_size=1, max_size=12)


@given(words, st.data(), st.integers(1, 20))
def test_a_line_has_whole_words_on_either_side_as_many_as_fit(
    sentence: list[str], data: st.DataObject, width: int
) -> None:
    position = data.draw(st.integers(0, len(sentence) - 1))

    line = Occurrence(sentence, position).line(width)

    before, word = line[:width].strip(), f"  {sentence[position]}  "
    assert line[width:].startswith(word)
    after = line[width + len(word) :]
    assert len(after) <= width
    left, right = before.split(), after.split()
    start, stop = position - len(left), position + 1 + len(right)
    assert sentence[start:position] == left and sentence[position + 1 : stop] == right
    # One more word would not fit.
    assert start == 0 or len(before) + bool(before) + len(sentence[start - 1]) > width
    assert stop == len(sentence) or len(after) + bool(after) + len(sentence[stop]) > width
