import random
import sys
from pathlib import Path

import pytest

from elmo_tasks.readers.snli import SnliReader
from scripts import everyday_inferences
from scripts.everyday_inferences import LABELS, pairs, read_scenarios
from scripts.everyday_stories import read_words

TEXT = """# Two lines.

p person
q other person
t a <thing>
> {p} sold {t} to {q}.
E {q} bought {t.the} from {p}.
C {p} still has {t.the}.
N {t.the} was new."""


def test_a_hypothesis_speaks_of_who_and_what_is_in_the_premise() -> None:
    (scenario,) = read_scenarios(TEXT)
    words = {**read_words(), "thing": ["apron"]}

    entailed, contradicted, neutral = pairs(scenario, words, random.Random(1))

    seller, buyer = entailed["sentence1"].removesuffix(".").split(" sold an apron to ")
    assert entailed["sentence2"].lower().startswith(f"{buyer.lower()} bought the apron from ")
    assert contradicted["sentence2"].endswith(" still has the apron.")
    assert neutral == {**entailed, "sentence2": "The apron was new.", "gold_label": "neutral"}


def test_every_pattern_becomes_a_pair_that_the_reader_reads() -> None:
    scenarios = read_scenarios(everyday_inferences.PATTERNS.read_text(encoding="utf-8"))
    words, chance = read_words(), random.Random(1)
    assert len(scenarios) > 40 and all(all(each.hypotheses.values()) for each in scenarios)

    for scenario in scenarios:
        for _ in range(30):
            drawn = pairs(scenario, words, chance)
            assert [pair["gold_label"] for pair in drawn] == list(LABELS.values())
            assert not any(set("{}<>=") & set(" ".join(pair.values())) for pair in drawn)


def test_the_reader_reads_the_file_and_nothing_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "pairs.jsonl"
    monkeypatch.setattr(sys, "argv", ["", str(path), "--number", "20"])

    everyday_inferences.main()

    labels = [instance["label"].label for instance in SnliReader().read(str(path))]
    assert len(labels) == 20 and set(labels) == set(LABELS.values())
    with pytest.raises(Exception, match="exists"):
        everyday_inferences.main()
