import re
from collections.abc import Callable
from pathlib import Path

import numpy
from allennlp.modules.elmo import _ElmoBiLm

from benchmarks.embed import main, upstream
from tests.helpers.reference_bilm import FIXTURE_FILES, ReferenceBiLm

TEXT = Path(__file__).parents[2] / "fixtures" / "corpus" / "train.txt"


def test_a_row_for_each_way_is_printed_and_what_they_say_is_alike(
    printed: Callable[..., str],
) -> None:
    files = ["--options-file", FIXTURE_FILES[0], "--weight-file", FIXTURE_FILES[1]]
    settings = ["--lines", "25", "--turn", "10", "--batch-size", "4", "--threads", "1"]

    out = printed(main, TEXT, *files, *settings)

    num_tokens = sum(
        len(line.split()) for line in TEXT.read_text(encoding="utf-8").splitlines()[:25]
    )
    assert f"25 lines and {num_tokens} tokens of train.txt" in out
    rows = re.findall(r"^\| (.*) \| [\d,]+ \| ([\d.]+) \|$", out, re.MULTILINE)
    assert [name for name, _ in rows] == [
        "elmo-embed, text to HDF5",
        "`ElmoEncoder`, in memory",
        "spaCy's component `elmo`",
        "AllenNLP's, lines as they come",
        "AllenNLP's, lines of like length",
    ]
    assert rows[3][1] == "1.0"
    difference = re.search(r"AllenNLP's layers: (\S+)$", out.strip())
    assert difference is not None and 0 < float(difference[1]) < 1e-5


def test_allennlps_layers_are_those_of_each_sentence_from_zeros() -> None:
    sentences = [["A", "boat"], ["It"], ["The", "bank", "."]]

    layers = upstream(_ElmoBiLm(*map(str, FIXTURE_FILES)).eval(), sentences, batch_size=2)

    for words, found in zip(sentences, layers, strict=True):
        expected, _ = ReferenceBiLm(*FIXTURE_FILES).layers(words)
        numpy.testing.assert_allclose(found, expected, atol=1e-5)
