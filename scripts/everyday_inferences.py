"""
Writes pairs of everyday sentences in the format of SNLI, from the patterns of
`everyday_inferences.txt`: "Ada sold her bike to Bo." entails "Bo bought the bike from Ada.". The
model `snli` of the package was in the end trained on such pairs, too.

    python -m scripts.everyday_inferences my/pairs.jsonl --number 3000
"""

import json
import random
from pathlib import Path
from typing import NamedTuple

from scripts.everyday_stories import Story, arguments, read_blocks, read_words

PATTERNS = Path(__file__).with_suffix(".txt")
LABELS = {"E": "entailment", "C": "contradiction", "N": "neutral"}


class Scenario(NamedTuple):
    """Premises, and the hypotheses that are true, false or open after each of them, by label."""

    forms: dict[str, list[str]]
    premises: list[str]
    hypotheses: dict[str, list[str]]


def read_scenarios(text: str) -> list[Scenario]:
    """Returns the scenarios of a file of patterns."""
    return [
        Scenario(forms, lines[">"], {label: lines[kind] for kind, label in LABELS.items()})
        for forms, lines in read_blocks(text, ">ECN")
    ]


def pairs(
    scenario: Scenario, words: dict[str, list[str]], chance: random.Random
) -> list[dict[str, str]]:
    """Draws a premise, and for each label a hypothesis."""
    story = Story(words, scenario.forms, chance)
    story.add(chance.choice(scenario.premises))
    premise = story.text.strip()
    drawn = []
    for label, hypotheses in scenario.hypotheses.items():
        start = len(story.text)
        story.add(chance.choice(hypotheses))
        hypothesis = story.text[start:].strip()
        drawn.append({"sentence1": premise, "sentence2": hypothesis, "gold_label": label})
    return drawn


def main() -> None:
    args = arguments(__doc__, "pairs", 3000)
    chance, words = random.Random(args.seed), read_words()
    scenarios = read_scenarios(PATTERNS.read_text(encoding="utf-8"))
    drawn: list[dict[str, str]] = []
    while len(drawn) < args.number:
        drawn += pairs(chance.choice(scenarios), words, chance)
    lines = [json.dumps(pair, ensure_ascii=False) for pair in drawn[: args.number]]
    args.output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
