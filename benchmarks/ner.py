"""
Measures how fast a trained tagger finds entities, from raw text to the answers of its predictor,
and which stages take the time. Prints Markdown.

    python benchmarks/ner.py runs/ner/input/model.tar.gz data/conll2003/eng.testa

The input is the text of the file: the words of each sentence joined by blanks, in batches in the
order of the file. The lines below the table compare the best paths with AllenNLP's `viterbi_tags`,
in time and in result, and say how long the F1 of an evaluation takes. Each time is the median of
the turns.
"""

import argparse
import datetime
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import torch
from allennlp.common.util import lazy_groups_of
from allennlp.data import Batch, Instance, TensorDict
from allennlp.predictors import Predictor
from allennlp.training.metrics import SpanBasedF1Measure

import elmo_tasks.plugin  # noqa: F401  mends AllenNLP
from benchmarks.machine import machine
from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.modules.crf_paths import CrfPaths
from elmo_tasks.predictors.ner import NerPredictor

REST = "the rest"


def main() -> None:
    arguments = parse()
    torch.set_num_threads(arguments.threads)
    predictor = Predictor.from_archive(open_archive(arguments.archive))
    instances = list(predictor._dataset_reader.read(arguments.data))[: arguments.sentences]
    num_tokens = sum(len(instance["tokens"]) for instance in instances)
    print(f"{heading(arguments)}; {len(instances):,} sentences, {num_tokens:,} tokens\n")
    turns = [predict(predictor, instances, arguments.batch_size) for _ in range(arguments.turns)]
    print_table(turns, len(instances), num_tokens)
    print_comparison(predictor, instances, arguments)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Measures how many sentences a tagger tags in a second, from raw text."
    )
    add = parser.add_argument
    add("archive", help="the model.tar.gz of an elmo_crf_tagger")
    add("data", type=Path, help="a file that the model's reader reads")
    add("--sentences", type=int, help="how many to read (default: all)")
    add("--batch-size", type=int, default=32, help="sentences in a batch (default: 32)")
    add("--turns", type=int, default=3, help="measurements of each time (default: 3)")
    add("--threads", type=int, default=torch.get_num_threads(), help="default: PyTorch's choice")
    return parser.parse_args()


def heading(arguments: argparse.Namespace) -> str:
    return (
        f"{datetime.date.today()}, {machine()}, "
        f"{arguments.threads} thread(s), torch {torch.__version__}; {arguments.data.name}, batches "
        f"of {arguments.batch_size}, medians of {arguments.turns} turns"
    )


def predict(
    predictor: NerPredictor, instances: list[Instance], batch_size: int
) -> dict[str, float]:
    """Returns the seconds that each stage takes to predict all instances."""
    texts = [" ".join(token.text for token in instance["tokens"]) for instance in instances]
    inputs = [{"sentence": text} for text in texts]
    model, reader = predictor._model, predictor._dataset_reader
    embedder = model.text_embedder
    stages: dict[str, list[tuple[Any, str]]] = {
        "tokenizer": [(reader.tokenizer, "tokenize")],
        "indices and tensors": [(Batch, "index_instances"), (Batch, "as_tensor_dict")],
        "biLM": [] if embedder.bilm is None else [(embedder.bilm, "forward")],
        "word vectors and characters": [(embedder.words, "forward")],
        "biLSTMs": [(encoder, "forward") for encoder in model.encoders],
        "best paths": [(CrfPaths, "best")],
        "confidences": [(CrfPaths, "span_probabilities")],
    }
    seconds: dict[str, float] = dict.fromkeys(stages, 0.0)
    with timed(stages, seconds):
        start = time.perf_counter()
        for batch in lazy_groups_of(inputs, batch_size):
            predictor.predict_batch_json(batch)
        taken = time.perf_counter() - start
    return {**seconds, REST: taken - sum(seconds.values())}


@contextmanager
def timed(stages: dict[str, list[tuple[Any, str]]], seconds: dict[str, float]) -> Iterator[None]:
    """
    Adds the time spent in functions, given as pairs of owner and name, to the seconds of their
    stage. None of the functions may call another one.
    """
    with ExitStack() as stack:
        for stage, functions in stages.items():
            for owner, name in functions:
                function = counted(getattr(owner, name), seconds, stage)
                stack.enter_context(mock.patch.object(owner, name, function))
        yield


def counted(function: Callable, seconds: dict[str, float], stage: str) -> Callable:
    def count(*arguments: Any, **keywords: Any) -> Any:
        start = time.perf_counter()
        try:
            return function(*arguments, **keywords)
        finally:
            seconds[stage] += time.perf_counter() - start

    return count


def print_table(turns: list[dict[str, float]], num_sentences: int, num_tokens: int) -> None:
    total = statistics.median(sum(turn.values()) for turn in turns)
    print("| stage | ms a sentence | share |\n| --- | --- | --- |")
    for stage in turns[0]:
        taken = statistics.median(turn[stage] for turn in turns)
        print(f"| {stage} | {1000 * taken / num_sentences:.2f} | {taken / total:.0%} |")
    print(f"| raw text to entities | {1000 * total / num_sentences:.2f} | |")
    print(f"\n{num_sentences / total:,.0f} sentences/s, {num_tokens / total:,.0f} tokens/s")


def print_comparison(
    predictor: NerPredictor, instances: list[Instance], arguments: argparse.Namespace
) -> None:
    """Prints the times of both decoders on the same logits, and of the F1 within an evaluation."""
    model = predictor._model
    turns: list[dict[str, float]] = []
    num_different = 0
    for _ in range(arguments.turns):
        seconds = dict.fromkeys(["evaluation", "F1", "ours", "theirs"], 0.0)
        evaluate = counted(
            lambda batch: model(**to_tensors(predictor, batch)), seconds, "evaluation"
        )
        ours = counted(lambda *example: CrfPaths(model.crf, *example).best(), seconds, "ours")
        theirs = counted(model.crf.viterbi_tags, seconds, "theirs")
        for batch in lazy_groups_of(instances, arguments.batch_size):
            with torch.no_grad(), timed({"F1": [(SpanBasedF1Measure, "__call__")]}, seconds):
                output = evaluate(batch)
            found, expected = (
                decode(output["logits"], output["mask"]) for decode in (ours, theirs)
            )
            pairs = zip(found.tags[:, 0].tolist(), expected)
            num_different += sum(row[: len(path)] != path for row, (path, _) in pairs)
        turns.append(seconds)
    taken = {name: statistics.median(turn[name] for turn in turns) for name in turns[0]}
    print(
        f"\nBest paths: {taken['ours']:.2f} s, and {taken['theirs']:.2f} s with viterbi_tags, "
        f"{taken['theirs'] / taken['ours']:.1f} times as long; {num_different} differ.\n"
        f"Evaluation: {taken['evaluation']:.2f} s, of which {taken['F1']:.2f} s the F1 "
        f"({taken['F1'] / taken['evaluation']:.0%})."
    )


def to_tensors(predictor: NerPredictor, instances: list[Instance]) -> TensorDict:
    for instance in instances:
        predictor._dataset_reader.apply_token_indexers(instance)
    batch = Batch(instances)
    batch.index_instances(predictor._model.vocab)
    return batch.as_tensor_dict()


if __name__ == "__main__":
    main()
