"""
Counts which everyday inputs the trained models of the package answer as a person expects: mail,
chat, news and reviews, written by people who had not seen the models. `everyday.jsonl` has 40 for
each task, and `everyday_second.jsonl` 30. Counts also both lists written in capitals, read as the
models do and, without `lower_capitals`, as they are. Prints Markdown.

    python -m benchmarks.everyday [ner coref] [--show]

An answer is right if it is as expected in each part: the class (for `sst` one of those that a fair
judge accepts), the answer without its article, all entities with their types, all predicates with
their numbered roles, all clusters with all mentions. Case, punctuation and articles do not count.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

import elmo_tasks.plugin  # noqa: F401  mends AllenNLP
from benchmarks.harness import parser, report
from elmo_tasks.common.text_files import read_lines
from elmo_tasks.predictors.load import load

LISTS = [Path(__file__).with_name(name) for name in ("everyday.jsonl", "everyday_second.jsonl")]

# An input with its task and the expected answer.
Item = dict[str, Any]


def main() -> None:
    options = parser("everyday", __doc__)
    options.add_argument("tasks", nargs="*", help="sst, ner, ... (default: all)")
    options.add_argument("--show", action="store_true", help="print also what is not as expected")
    arguments = options.parse_args()
    lists = [[json.loads(line) for line in read_lines(path)] for path in LISTS]
    names = arguments.tasks or list(dict.fromkeys(item["task"] for item in lists[0]))
    rows: list[list[object]] = []
    misses: list[Item] = []
    for name in tqdm(names, desc="tasks"):
        of_task = [[item for item in items if item["task"] == name] for items in lists]
        loud = [in_capitals(item) for items in of_task for item in items]
        model, questions = load(name), [*of_task, loud, loud]
        failures = [failures_of(name, model, items) for items in questions[:-1]]
        model.predictor._dataset_reader.lower_capitals = False
        failures.append(failures_of(name, model, loud))
        counts = zip(map(len, questions), map(len, failures))
        rows.append([f"`{name}`", *(f"{number - failed} of {number}" for number, failed in counts)])
        misses += failures[0] + failures[1]
    report(["model", "first list", "second list", "both in capitals", "as they are"], rows)
    for item in misses if arguments.show else ():
        print(json.dumps(item, ensure_ascii=False))


def in_capitals(item: Item) -> Item:
    return {**item, "input": {name: text.upper() for name, text in item["input"].items()}}


def failures_of(name: str, model: Any, items: list[Item]) -> list[Item]:
    """Returns the inputs that a model does not answer as expected, with the part that counts."""
    answers = model.predict([item["input"] for item in items])
    parts = map(PARTS[name], answers)
    return [
        {**item, "answered": part}
        for item, part in zip(items, parts, strict=True)
        if not is_expected(name, part, item["expected"])
    ]


def is_expected(task: str, part: Any, expected: Any) -> bool:
    """Returns whether the part of an answer that counts is as expected."""
    if task in ("sst", "snli"):
        return part in expected
    if task == "squad":
        return plain(part) in map(plain, expected)
    if task == "srl":
        return sorted(map(_numbered_roles, part)) == sorted(map(_numbered_roles, expected))
    return sorted(map(_texts, part)) == sorted(map(_texts, expected))


def plain(text: str) -> str:
    """Returns a text in lower case, without punctuation and an article in front."""
    return re.sub(r"^(the|a|an) ", "", re.sub(r"[^\w\s']", "", text.lower())).strip()


def _texts(texts: list[str]) -> list[str]:
    return sorted(map(plain, texts))


def _numbered_roles(roles: dict[str, str]) -> list[tuple[str, str]]:
    """Returns the predicate and its numbered roles, in an order that can be compared."""
    return sorted(
        (role, plain(words)) for role, words in roles.items() if re.match(r"V$|ARG\d", role)
    )


def _predicates(answer: Any) -> Iterator[dict[str, str]]:
    for predicate in answer.predicates:
        roles = {role.role: role.text for role in predicate.roles}
        yield {**roles, "V": predicate.text}


# The part of an answer that counts, by task.
PARTS: dict[str, Callable[[Any], Any]] = {
    "sst": lambda answer: answer.label,
    "snli": lambda answer: answer.label,
    "squad": lambda answer: answer.answer,
    "ner": lambda answer: [[entity.text, entity.type] for entity in answer.entities],
    "srl": lambda answer: list(_predicates(answer)),
    "coref": lambda answer: [[mention.text for mention in cluster] for cluster in answer.clusters],
}


if __name__ == "__main__":
    main()
