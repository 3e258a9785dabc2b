"""
Measures answers to questions about long passages: each article of a SQuAD file is one passage. EM
and F1 with the right paragraph as the passage, with the whole article in windows, and with the
whole article at once, and the CPU seconds that a question takes. Prints Markdown.

    python -m benchmarks.long_passages squad data/squad/dev-v1.1.json --kept long.json

Of each article the first questions of a fixed random order are asked, the same for all rows; of
some articles (`--at-once`) the first one is asked with the article at once, which is slow. A
made-up text with made-up questions has only seconds. With `--kept` the same command goes on where
it ended.
"""

import random
import time
from collections.abc import Callable
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import mean
from typing import Any

import torch
from allennlp.common.util import JsonDict

import elmo_tasks.plugin  # noqa: F401  mends AllenNLP
from benchmarks.harness import Kept, parser, report
from elmo_tasks.common.text import parse_json
from elmo_tasks.common.text_files import read_lines
from elmo_tasks.models.metrics.squad import exact_match, f1
from elmo_tasks.predictors.load import load
from elmo_tasks.predictors.squad import SquadPredictor
from elmo_tasks.readers.passage import Question
from elmo_tasks.readers.squad_file import parse_squad
from elmo_tasks.readers.windows import Window

# Answers a question about an article.
Answer = Callable[[str, Question], JsonDict]

# EM, F1 and CPU seconds of a question.
Result = list[float]

RIGHT, WINDOWS, AT_ONCE = "right paragraph", "article in windows", "article at once"
NAMES = ("Anna Brandt", "The baker", "Marta Lind", "The mayor", "Tomas Berg", "The ferry")
VERBS = ("repaired", "bought", "painted", "described", "measured", "closed")
THINGS = ("the pump", "the old boiler", "the valve", "the west gate", "a ladder", "the kiln")


def main() -> None:
    options = parser("long_passages", __doc__)
    add = options.add_argument
    add("model", help="a model of squad")
    add("data", type=Path, help="a file of SQuAD")
    add("--questions", type=int, default=5, help="questions of each article (default: 5)")
    add("--at-once", type=int, default=4, help="articles read at once, too (default: 4)")
    add("--words", type=int, default=11_000, help="words of the made-up text (default: 11,000)")
    add("--kept", type=Path, help="a file for the results")
    add("--threads", type=int, default=1, help="threads of PyTorch (default: 1)")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    predictor: Any = load(arguments.model).predictor
    kept_runs = Kept(arguments.kept)
    ways: dict[str, Answer] = {
        RIGHT: lambda article, question: predictor.predict_json(
            {"passage": question.passage, "question": question.question}
        ),
        WINDOWS: lambda article, question: predictor.predict_json(
            {"passage": article, "question": question.question}
        ),
        AT_ONCE: lambda article, question: at_once(predictor, article, question),
    }
    results_by_way: dict[str, list[list[Result]]] = {name: [] for name in ways}
    for number, (article, questions) in enumerate(articles_of(arguments.data, arguments.questions)):
        for name, answer in ways.items():
            questions_of_way = (
                questions if name != AT_ONCE else questions[: number < arguments.at_once]
            )
            measure = partial(results_of, article, questions_of_way, answer)
            results_by_way[name].append(kept_runs.get(f"article {number}", name, measure=measure))
    text, questions = made_up(arguments.words)
    made_up_results = {
        name: kept_runs.get(
            "made up", name, measure=partial(results_of, text, questions[:most], ways[name])
        )
        for name, most in ((WINDOWS, None), (AT_ONCE, 1))
    }
    all_rows = [
        row(name, list(chain.from_iterable(parts))) for name, parts in results_by_way.items()
    ]
    parts_below = [parts[:1] for parts in results_by_way[WINDOWS][: arguments.at_once]]
    all_rows.insert(
        2, row(f"{WINDOWS}, the questions below", list(chain.from_iterable(parts_below)))
    )
    for name, results in made_up_results.items():
        all_rows.append([name.replace("article", "made-up text"), *row("", results, False)[1:]])
    report(["passage", "questions", "EM", "F1", "CPU seconds a question"], all_rows)


def articles_of(data: Path, num_questions: int) -> list[tuple[str, list[Question]]]:
    """Returns each article as one passage, and some of its questions in a random order."""
    articles = []
    for article in parse_json("\n".join(read_lines(data)))["data"]:
        passages = [paragraph["context"] for paragraph in article["paragraphs"]]
        questions = [question for question in parse_squad(article) if question.answers]
        random.Random(0).shuffle(questions)
        articles.append(("\n\n".join(passages), questions[:num_questions]))
    return articles


def at_once(predictor: SquadPredictor, article: str, question: Question) -> JsonDict:
    """Returns the answer of a model that reads an article as it reads a paragraph."""
    instance = predictor._json_to_instance({"passage": article, "question": question.question})
    length = len(instance["passage"])  # type: ignore[arg-type]
    instance["metadata"].metadata["read"] = [Window(0, length)]  # type: ignore[attr-defined]
    return predictor.predict_instance(instance)


def results_of(article: str, questions: list[Question], answer: Answer) -> list[Result]:
    """Returns EM, F1 and CPU seconds of each question."""
    results = []
    for question in questions:
        start = time.process_time()
        text = answer(article, question)["answer"]
        seconds = time.process_time() - start
        golds = [gold_answer.text for gold_answer in question.answers]
        em = max((float(exact_match(text, gold)) for gold in golds), default=0.0)
        results.append([em, max((f1(text, gold) for gold in golds), default=0.0), seconds])
    return results


def row(name: str, results: list[Result], is_scored: bool = True) -> list[str]:
    em, score, seconds = (mean(column) for column in zip(*results))
    scores = [f"{100 * number:.1f}" if is_scored else "" for number in (em, score)]
    return [name, str(len(results)), *scores, f"{seconds:.2f}"]


def made_up(num_words: int) -> tuple[str, list[Question]]:
    """Returns paragraphs of made-up sentences, and 22 questions about them."""
    draw = random.Random(0)
    sentences = [
        f"{draw.choice(NAMES)} {draw.choice(VERBS)} {draw.choice(THINGS)} number {number}, before "
        f"the inspection in {draw.randint(1900, 1999)}."
        for number in range(num_words // 11)
    ]
    groups = [" ".join(sentences[start : start + 12]) for start in range(0, len(sentences), 12)]
    questions = [f"When was the inspection of {draw.choice(THINGS)}?" for _ in range(22)]
    return "\n\n".join(groups), [
        Question("", question, "", [], False, "") for question in questions
    ]


if __name__ == "__main__":
    main()
