import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest

from scripts.everyday_pairs import NUM_EXAMPLES, TOO_FEW, add_pairs, main

HYPOTHESES = [
    "A man is washing a dog.",
    "A man is walking.",
    "The man is carrying a box",
    "The dog is walking outside.",
    "A dog is chasing a man.",
    "The dog is riding a bike.",
    "A dog washed, walked and chased the man, who carried a box.",
    "They wash, walk, chase and carry.",
    "Three men are outside.",
]
NAMES = ("sentence1", "sentence2", "gold_label")
PAIRS = [("It rains.", each, "neutral") for each in HYPOTHESES]


def add(seed: int) -> list[tuple[str, str, str]]:
    text = "".join(json.dumps(dict(zip(NAMES, pair))) + "\n" for pair in PAIRS)
    return [
        tuple(json.loads(line).values())
        for line in add_pairs(text, random.Random(seed)).splitlines()
    ]


def test_all_pairs_of_the_file_stay() -> None:
    found = Counter(add(1))

    assert not Counter(PAIRS) - found
    assert len(found) > len(PAIRS) + NUM_EXAMPLES


@pytest.mark.parametrize(
    ("pattern", "label"),
    [
        (r"(.+) is (\w+) than (.+)\.\t\3 is \2 than \1\.", "contradiction"),
        (r"(\w+) is older than (\w+)\.\t\2 is younger than \1\.", "entailment"),
        (r"(\w+) is washing (\w+)\.\t\2 is being washed by \1\.", "entailment"),
        (r"(\w+) washed (\w+)\.\t\1 was washed by \2\.", "contradiction"),
        (r"(\w+) loves (\w+)\.\t\2 loves \1\.", "neutral"),
        (r"(.+) before (.+)\.\t\1 after \2\.", "contradiction"),
        (r"(.+) before (.+)\.\t\2 after \1\.", "entailment"),
        (r"(.+) didn't (.+)\.\t\1 did not \2\.", "entailment"),
        (r"(.+) walked\.\t\1 didn't walk\.", "contradiction"),
        (r"Nobody (.+)\.\tNo one \1\.", "entailment"),
        (r"Nobody (.+)\.\tSomeone \1\.", "contradiction"),
        (r"Someone (.+)\.\tEveryone \1\.", "neutral"),
        (r"Three (.+)\.\tSome \1\.", "entailment"),
        (r"Three (.+)\.\t(?!Some|Three)\w+ \1\.", "contradiction"),
    ],
)
def test_a_label_follows_from_order_number_and_negation(pattern: str, label: str) -> None:
    swaps = re.compile(pattern, re.IGNORECASE)
    pairs = [pair for seed in range(3) for pair in add(seed)]

    labels = {
        pair[2] for pair in pairs if pair[0] != pair[1] and swaps.fullmatch("\t".join(pair[:2]))
    }

    assert labels == {label}


def test_only_verbs_whose_past_is_known_are_put_into_the_past() -> None:
    texts = {text for pair in add(1) for text in pair[:2]}

    assert any(" washed " in text for text in texts)
    assert not any("ridden" in text or "rided" in text for text in texts)


@pytest.mark.parametrize("hypotheses", [HYPOTHESES[:1], HYPOTHESES[:6], HYPOTHESES[1:2] * 3])
def test_a_file_of_few_pairs_is_refused(
    hypotheses: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [dict(zip(NAMES, ("It rains.", text, "neutral"))) for text in hypotheses]
    file, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    monkeypatch.setattr("sys.argv", ["everyday_pairs", str(file), str(output)])

    with pytest.raises(SystemExit) as refused:
        main()

    assert str(refused.value) == f"error: {file}: {TOO_FEW}"
    assert not output.exists()
