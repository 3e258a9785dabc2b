import json
from collections.abc import Callable
from pathlib import Path

import pytest

from benchmarks.blimp import main, measure, read_pairs
from tests.helpers.language_models import random_model, written_model

PAIRS = [
    ("The dog saw a cat.", "The dog a saw cat.", "word_order", "binding", "syntax"),
    ("A dog is gone.", "A dog gone is.", "word_order", "binding", "syntax"),
    ("The old dog barks.", "The old dog house.", "verbs", "s-selection", "syntax/semantics"),
]
NAMES = ("sentence_good", "sentence_bad", "UID", "linguistics_term", "field")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(json.dumps(dict(zip(NAMES, pair))) for pair in PAIRS))
    return path


def test_a_pair_is_right_if_the_good_sentence_is_more_probable(data: Path) -> None:
    model = random_model()

    pairs = read_pairs(str(data))
    result = measure(model, pairs)

    right = []
    for pair in pairs:
        good, bad = model.score([pair.good, pair.bad])
        forward = good.forward_sum - bad.forward_sum
        backward = good.backward_sum - bad.backward_sum
        right.append([forward > 0, backward > 0, forward + backward > 0])
    expected = [(one + other) / 2 for one, other in zip(*right[:2])]
    assert list(result.groups["binding"].values()) == expected
    assert list(result.groups["argument_structure"].values()) == right[2]
    overall = [(two + float(one)) / 2 for two, one in zip(expected, right[2])]
    assert list(result.groups["overall"].values()) == overall
    assert result.groups.keys() == {
        *("overall", "binding", "argument_structure"),
        *("field syntax", "field syntax_semantics"),
    }


def test_the_table_and_the_chart_are_made(
    data: Path, tmp_path: Path, printed: Callable[..., str]
) -> None:
    written_model(tmp_path / "lm")
    chart = tmp_path / "blimp.png"

    lines = printed(main, data, "--bilm", tmp_path / "lm", "--chart", chart).splitlines()

    assert "3 pairs; unknown tokens: lm " in lines[0]
    cells = lines[-1].replace(" ", "").strip("|").split("|")
    assert cells[0] == "overall" and cells[-4:] == ["61.2", "69.8", "69.6", "83.0"]
    assert chart.read_bytes().startswith(b"\x89PNG")


def test_what_is_no_pair_is_refused_with_its_line(data: Path) -> None:
    data.write_text(
        data.read_text(encoding="utf-8") + '\n{"sentence_good": "A dog."}\n', encoding="utf-8"
    )

    with pytest.raises(ValueError, match="pairs.jsonl:4: expected a pair of BLiMP"):
        read_pairs(str(data))
