"""
Counts which everyday inputs the trained models of the package answer as a person expects: mail,
chat, news and reviews, in `everyday.jsonl`, 40 for each task, written by somebody who had not seen
the models. Prints Markdown.

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

INPUTS = Path(__file__).with_suffix(".jsonl")


def main() -> None:
    options = parser("everyday", __doc__)
    options.add_argument("tasks", nargs="*", help="sst, ner, ... (default: all)")
    options.add_argument("--show", action="store_true", help="print also what is not as expected")
    arguments = options.parse_args()
    inputs = [json.loads(line) for line in read_lines(INPUTS)]
    names = arguments.tasks or list(dict.fromkeys(item["task"] for item in inputs))
    rows: list[list[object]] = []
    misses: list[tuple[dict[str, Any], Any]] = []
    for name in tqdm(names, desc="tasks"):
        items = [item for item in inputs if item["task"] == name]
        answers = load(name).predict([item["input"] for item in items])
        failures = [
            (item, part)
            for item, part in zip(items, map(PARTS[name], answers))
            if not is_expected(name, part, item["expected"])
        ]
        rows.append([f"`{name}`", len(items) - len(failures), len(items)])
        misses += failures
    report(["model", "as expected", "inputs"], rows)
    for item, part in misses if arguments.show else ():
        print(json.dumps({**item, "answered": part}, ensure_ascii=False))


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
