import gzip
from pathlib import Path

import pytest

from elmo_tasks.analysis.probe.back_off import read_back_off

ROOT = Path(__file__).parents[3]


def test_each_word_has_the_tag_of_its_first_line(tmp_path: Path) -> None:
    text = "bank.n\tbank%1\nplay.v\tplay%2\r\nbank.n\tbank%3\n"
    plain, packed = tmp_path / "senses.tsv", tmp_path / "senses.tsv.gz"
    plain.write_bytes(text.encode())
    packed.write_bytes(gzip.compress(text.encode()))

    found = [read_back_off(path) for path in (plain, packed)]

    assert found == [{"bank.n": "bank%1", "play.v": "play%2"}] * 2


def test_the_fixture_is_of_this_form() -> None:
    assert read_back_off(ROOT / "fixtures" / "first_senses.tsv")["boat"] == "boat%ship"


@pytest.mark.parametrize("line", ["bank", "bank bank%1", "bank\t", "\tbank%1", "bank\tb\tc", ""])
def test_a_line_without_two_columns_is_refused_with_file_and_line(
    tmp_path: Path, line: str
) -> None:
    path = tmp_path / "senses.tsv"
    path.write_text(f"play\tplay%2\n{line}\nrun\trun%1\n")

    with pytest.raises(ValueError) as caught:
        read_back_off(path)

    assert str(caught.value) == f"{path}:2: expected a word, a tab and a tag, but got {line!r}"
