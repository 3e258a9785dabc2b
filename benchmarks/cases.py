"""
Measures `ElmoEncoder` beside AllenNLP's `_ElmoBiLm` in cases that other benchmarks lack: with
another program on one core, one sentence at a time, and with short and long lines. Same biLM, same
lines, one process, turns in alternation. Prints a table in Markdown.

    python benchmarks/cases.py my/text.txt --tokens 4000

Every line has the same number of tokens, which are taken from the text in their order. Speeds are
medians of tokens per second. AllenNLP's batches have at most 2,048 tokens and 64 lines. In the busy
cases, a process without pause runs beside the measured one, on the core that the operating system
chooses.
"""

import argparse
import contextlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import date
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import torch
from allennlp.modules.elmo import _ElmoBiLm
from tqdm import tqdm

import elmo_tasks.plugin  # noqa: F401  mends AllenNLP
from benchmarks.embed import MINI, Sentences, upstream
from benchmarks.machine import machine
from elmo_tasks.bilm import make_bilm
from elmo_tasks.bilm.files.read_options import read_options
from elmo_tasks.common.text_files import read_lines
from elmo_tasks.elmo.sentence_layers import SentenceLayers


class Case(NamedTuple):
    """
    # Parameters

    length: Tokens per line.
    threads: The setting of `torch.set_num_threads`.
    busy: Whether another process runs.
    single: Whether each line is a call of its own.
    """

    name: str
    length: int = 20
    threads: int = 1
    busy: bool = False
    single: bool = False


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("text", help="one tokenized sentence a line; plain, .gz or .xz")
    add("--options-file", type=Path, default=MINI.with_name("options.json"), help="default: mini")
    add("--weight-file", type=Path, default=MINI, help="default: mini")
    add("--tokens", type=int, default=4000, help="tokens in a turn (default: 4000)")
    add("--long-tokens", type=int, default=16000, help="with lines of 1000 (default: 16000)")
    add("--single", type=int, default=10, help="lines in a turn of single calls (default: 10)")
    add("--turns", type=int, default=5, help="turns of each case (default: 5)")
    add("--threads", type=int, default=torch.get_num_threads(), help="default: PyTorch's choice")
    arguments = parser.parse_args()
    words = (word for line in read_lines(arguments.text) for word in line.split())
    tokens = list(islice(words, max(arguments.tokens, arguments.long_tokens)))
    many = f"{arguments.threads} threads"
    cases = [
        Case("one thread"),
        Case(many, threads=arguments.threads),
        Case("one thread, one core busy", busy=True),
        Case(f"{many}, one core busy", threads=arguments.threads, busy=True),
        Case("one line at a time, one thread", single=True),
        Case(f"one line at a time, {many}", threads=arguments.threads, single=True),
        Case("lines of 10 tokens, one thread", length=10),
        Case("lines of 1,000 tokens, one thread", length=1000),
    ]
    speeds = measure(cases, tokens, arguments)
    print(
        f"{date.today()}, {machine()}, torch {torch.__version__}, {arguments.tokens:,} tokens of "
        f"{Path(arguments.text).name} in a turn, {arguments.long_tokens:,} in long lines, "
        f"medians of {arguments.turns} turns\n"
    )
    print("| case | tokens/s | AllenNLP's | ratio | ms a line | AllenNLP's |")
    print("| --- | --- | --- | --- | --- | --- |")
    for case, (ours, theirs) in zip(cases, speeds):
        times = [f"{1000 * case.length / speed:,.1f}" for speed in (ours, theirs)]
        if not case.single:
            times = ["", ""]
        cells = [case.name, f"{ours:,.0f}", f"{theirs:,.0f}", f"{ours / theirs:.1f}", *times]
        print(f"| {' | '.join(cells)} |")


def measure(
    cases: list[Case], tokens: list[str], arguments: argparse.Namespace
) -> list[tuple[float, float]]:
    """Returns our tokens per second and AllenNLP's in each case."""
    options = read_options(arguments.options_file)
    # Tokens must not be in a cache that AllenNLP lacks.
    bilm = make_bilm(options, str(arguments.weight_file), state="reset", cached_tokens=0).eval()
    ours = SentenceLayers(bilm)
    with tempfile.TemporaryDirectory() as folder:
        bilm.to_files(folder)
        theirs = _ElmoBiLm(f"{folder}/options.json", f"{folder}/weights.hdf5").eval()
    taken: dict[tuple[Case, bool], list[float]] = {}
    for turn in tqdm(range(arguments.turns + 1), leave=False):
        for case in cases:
            lines = lines_of(case, tokens, arguments)
            with threads(case.threads), busy_core() if case.busy else contextlib.nullcontext():
                for whose in (False, True):
                    begun = time.perf_counter()
                    if whose:
                        upstream(theirs, lines, 1 if case.single else batch_size(case))
                    else:
                        for call in [[line] for line in lines] if case.single else [lines]:
                            list(ours(call))
                    # The first turn warms up.
                    if turn:
                        speed = case.length * len(lines) / (time.perf_counter() - begun)
                        taken.setdefault((case, whose), []).append(speed)
    return [
        (statistics.median(taken[case, False]), statistics.median(taken[case, True]))
        for case in cases
    ]


def lines_of(case: Case, tokens: list[str], arguments: argparse.Namespace) -> Sentences:
    most = arguments.long_tokens if case.length == 1000 else arguments.tokens
    starts = range(0, min(most, len(tokens)) - case.length + 1, case.length)
    lines = [tokens[start : start + case.length] for start in starts]
    return lines[: arguments.single] if case.single else lines


def batch_size(case: Case) -> int:
    return max(1, min(64, 2048 // case.length))


@contextlib.contextmanager
def threads(number: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextlib.contextmanager
def busy_core() -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        # The interpreter needs some time to start.
        time.sleep(0.2)
        try:
            yield
        finally:
            process.kill()


if __name__ == "__main__":
    main()
