"""
Measures how many questions per second SQuAD's predictor answers, from text to answer, which stages
take the time, and the peak memory of training on long passages. Prints a table in Markdown.

    python -m benchmarks.squad data/squad/dev-v1.1.json

The models are built from the configs with random weights, on which the time does not depend. The
first `--questions` questions are asked as one file. The memory is the largest resident set of a
separate process that does two training steps on one batch; the last column is the same before the
first step.
"""

import argparse
import json
import multiprocessing
import resource
import statistics
import time
from collections import defaultdict
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import _jsonnet
import torch
from allennlp.common import Params
from allennlp.data import Batch, DatasetReader, Instance, Vocabulary
from allennlp.models import Model
from allennlp.training.optimizers import Optimizer

import elmo_tasks.plugin  # noqa: F401  registers every name
from benchmarks.machine import machine
from elmo_tasks.models.bidaf import Bidaf
from elmo_tasks.predictors.squad import SquadPredictor
from elmo_tasks.readers.squad_file import parse_squad

ROOT = Path(__file__).parents[1]
STAGES = ("tokens", "biLM", "model", "spans", "the rest")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="questions in SQuAD's format")
    parser.add_argument(
        "--variants", nargs="+", default=["baseline", "both"], help="default: baseline both"
    )
    parser.add_argument("--questions", type=int, default=512, help="default: 512")
    parser.add_argument("--turns", type=int, default=3, help="measurements (default: 3)")
    parser.add_argument(
        "--threads", type=int, default=torch.get_num_threads(), help="default: PyTorch's choice"
    )
    parser.add_argument(
        "--batch-size", type=int, default=45, help="passages in the training step (default: 45)"
    )
    parser.add_argument(
        "--passage-tokens",
        type=int,
        default=800,
        help="tokens of a passage in the training step (default: 800)",
    )
    parser.add_argument("--set", default="{}", help="a jsonnet object that is added to each config")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    content = json.loads(arguments.file.read_text(encoding="utf-8"))
    print(heading(arguments))
    columns = ["variant", "questions/s", *STAGES, "peak memory", "of it before"]
    for line in (columns, ["---"] * len(columns)):
        print(f"| {' | '.join(line)} |")
    for variant in arguments.variants:
        config = evaluate(variant, arguments.set)
        speed = measure_speed(config, first_questions(content, arguments.questions), arguments)
        memory = measure_memory(config, arguments)
        print(f"| {variant} | {row(speed, memory)} |", flush=True)


def heading(arguments: argparse.Namespace) -> str:
    return (
        f"{date.today()}, {machine()}, {arguments.threads} thread(s), torch {torch.__version__}; "
        f"the first {arguments.questions} questions of {arguments.file.name}, medians of "
        f"{arguments.turns} turns; memory of a training step with {arguments.batch_size} passages "
        f"of {arguments.passage_tokens} tokens\n"
    )


class Speed(NamedTuple):
    """Questions per second, and the share of the time that each stage takes."""

    questions: float
    parts: dict[str, float]


class Memory(NamedTuple):
    """Megabytes: the peak, and the value before the first step."""

    peak: float
    before: float


def row(speed: Speed, memory: Memory) -> str:
    parts = [f"{speed.parts[stage]:.0%}" for stage in STAGES]
    amounts = [f"{amount:,.0f} MB" for amount in memory]
    return " | ".join([f"{speed.questions:.1f}", *parts, *amounts])


def evaluate(variant: str, change: str) -> dict[str, Any]:
    path = ROOT / "training_configs" / "squad" / f"{variant}.jsonnet"
    return json.loads(_jsonnet.evaluate_snippet(variant, f"(import '{path}') + {change}"))


def first_questions(content: dict[str, Any], num_questions: int) -> dict[str, Any]:
    """Returns the content of a file with only its first questions and their paragraphs."""
    articles = []
    for article in content["data"]:
        paragraphs = []
        for paragraph in article["paragraphs"]:
            qas = paragraph["qas"][:num_questions]
            num_questions -= len(qas)
            paragraphs.append({**paragraph, "qas": qas})
        articles.append({**article, "paragraphs": paragraphs})
    return {**content, "data": articles}


class Stopwatch:
    """
    Measures the seconds that functions take, by a name for each. If a timed function calls another
    one, the time of the inner call is in both.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def time(self, owner: Any, function: str, name: str) -> None:
        """Replaces the function of `owner` by one that measures its time."""
        timed = getattr(owner, function)

        def wrapper(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return timed(*args, **kwargs)
            finally:
                self.seconds[name] += time.perf_counter() - start

        setattr(owner, function, wrapper)


def measure_speed(
    config: dict[str, Any], content: dict[str, Any], arguments: argparse.Namespace
) -> Speed:
    predictor = build_predictor(config, content)
    model, watch = predictor._model, Stopwatch()
    watch.time(predictor._dataset_reader, "text_to_instance", "tokens")
    watch.time(model, "score", "model")
    watch.time(model, "best_spans", "spans")
    if model.text_embedder.bilm is not None:
        watch.time(model.text_embedder.bilm, "forward", "biLM")
    totals, turns = [], []
    # The first turn does not count, because it allocates memory and lays out weights.
    for _ in range(arguments.turns + 1):
        watch.seconds.clear()
        start = time.perf_counter()
        num_questions = len(predictor.predict_json(content))
        totals.append(time.perf_counter() - start)
        seconds = {stage: watch.seconds[stage] for stage in STAGES}
        # The biLM runs inside the model.
        seconds["model"] -= seconds["biLM"]
        seconds["the rest"] = totals[-1] - sum(seconds.values())
        turns.append({stage: seconds[stage] / totals[-1] for stage in STAGES})
    parts = {stage: statistics.median(turn[stage] for turn in turns[1:]) for stage in STAGES}
    return Speed(num_questions / statistics.median(totals[1:]), parts)


def build_predictor(config: dict[str, Any], content: dict[str, Any]) -> SquadPredictor:
    """Returns a predictor with a vocabulary of the questions and a biLM without a token cache."""
    params = Params(config).duplicate()
    if "bilm" in params["model"]["text_embedder"]:
        params["model"]["text_embedder"]["bilm"]["cached_tokens"] = 0
    reader = DatasetReader.from_params(params["validation_dataset_reader"])
    instances = [
        reader.text_to_instance(question.question, question.passage)
        for question in parse_squad(content)
    ]
    model = build_model(params, reader, instances)
    return SquadPredictor(model.eval(), reader)


def build_model(params: Params, reader: DatasetReader, instances: list[Instance]) -> Bidaf:
    for instance in instances:
        reader.apply_token_indexers(instance)
    torch.manual_seed(0)
    vocab = Vocabulary.from_instances(instances)
    return Model.from_params(params["model"], vocab=vocab)


def measure_memory(config: dict[str, Any], arguments: argparse.Namespace) -> Memory:
    """Measures in a separate process, because the peak of a process never falls."""
    sizes = arguments.batch_size, arguments.passage_tokens, arguments.threads
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(training_memory, (config, *sizes))


def training_memory(
    config: dict[str, Any], batch_size: int, passage_tokens: int, threads: int
) -> Memory:
    torch.set_num_threads(threads)
    params = Params(config).duplicate()
    reader = DatasetReader.from_params(params["dataset_reader"])
    instances = [
        reader.text_to_instance(
            " ".join(made_up_words(row, 15)),
            " ".join(made_up_words(row, passage_tokens)),
            span=(1, 2),
        )
        for row in range(batch_size)
    ]
    model = build_model(params, reader, instances).train()
    batch = Batch(instances)
    batch.index_instances(model.vocab)
    tensors = batch.as_tensor_dict()
    trained = [(name, each) for name, each in model.named_parameters() if each.requires_grad]
    optimizer = Optimizer.from_params(params["trainer"]["optimizer"], model_parameters=trained)
    before = peak_megabytes()
    # Two steps, because only the second one has the memory of the optimizer beside it.
    for _ in range(2):
        optimizer.zero_grad()
        model(**tensors)["loss"].backward()
        optimizer.step()
    return Memory(peak_megabytes(), before)


def made_up_words(row: int, num_words: int) -> list[str]:
    return [f"word{(row + 1) * index % 5000}" for index in range(num_words)]


def peak_megabytes() -> float:
    """Returns the largest resident set of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


if __name__ == "__main__":
    main()
