import json
import random

from scripts.everyday_data import negate, recase

SENTENCE = "Ada\tNNP\tO\nleft\tVBD\tO\n\n"


def test_a_tenth_of_the_sentences_is_in_capitals_or_lower_case_and_tags_stay() -> None:
    text = "#begin document (a); part 000\n" + 1000 * SENTENCE

    changed = recase(text, random.Random(1), word=0)

    head, *sentences = changed.split("\n", 1)[1].split("\n\n")
    upper, lower = (
        sentences.count(each[:-2])
        for each in (
            SENTENCE.replace("Ada\t", "ADA\t").replace("left", "LEFT"),
            SENTENCE.replace("Ada", "ada"),
        )
    )
    assert changed.startswith("#begin document (a); part 000\n") and head == SENTENCE[:-2]
    assert 30 < upper < 70 and 30 < lower < 70
    assert sentences.count(SENTENCE[:-2]) + upper + lower == 999


def test_the_negation_of_a_contradiction_is_entailed() -> None:
    rows = [
        {"sentence1": f"{label} 1", "sentence2": "A man is awake.", "gold_label": label}
        for label in ("contradiction", "entailment", "neutral")
    ]

    changed = negate("".join(f"{json.dumps(row)}\n" for row in rows), random.Random(1))

    pairs = {tuple(json.loads(line).values()) for line in changed.splitlines()}
    assert {tuple(row.values()) for row in rows} <= pairs
    assert {
        ("contradiction 1", "A man is not awake.", "entailment"),
        ("entailment 1", "A man is not awake.", "contradiction"),
        ("neutral 1", "A man is not awake.", "neutral"),
        ("A man is awake.", "A man is sleeping.", "contradiction"),
        ("A man is awake.", "A man is not sleeping.", "entailment"),
    } <= pairs
