"""
Measures commands on a quiet machine and beside busy processes: with the threads that they choose,
with one, and with one for each core, which is PyTorch's default. Prints wall seconds, start
included: the median of turns in alternation. Prints a table in Markdown.

    python -m benchmarks.busy --neighbours 0 1 2 --turns 3 --only score predict
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import urlopen

from benchmarks.harness import ROOT, parser, report
from benchmarks.made_up import SIZES, made_up_text, make_options
from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.threads import num_cores

# A name in a table -> the command. The folder of a run has `text.txt`, `few.txt`, `classify.csv`,
# and a biLM with random weights for each size. A server is asked for each line
# of `few.txt`, and then stops.
COMMANDS = {
    "embed": "embed text.txt vectors.hdf5 --average",
    "embed, small": "embed text.txt vectors.hdf5 --average --bilm ./small",
    "embed, original": "embed few.txt vectors.hdf5 --average --bilm ./original",
    "score": "score text.txt --sums",
    "predict": "predict ner text.txt --output-file answers.txt --force",
    "evaluate": "evaluate classify/model.tar.gz classify.csv",
    "train": "train classify.jsonnet -s again",
    "serve": "serve ner --port 0",
}
NUM_LINES = 300
LABELS = ("good", "bad")
# A name in a table -> the value of `OMP_NUM_THREADS`.
THREADS = {"chosen": None, "1": "1", "a core": str(num_cores())}


def main() -> None:
    options = parser("busy", __doc__, turns=3)
    add = options.add_argument
    add("--only", nargs="+", choices=list(COMMANDS), default=list(COMMANDS), help="default: all")
    add("--neighbours", nargs="+", type=int, default=[0, 1, 2], help="busy processes beside")
    arguments = options.parse_args()
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder), arguments.only)
        for number in arguments.neighbours:
            with busy(number):
                seconds[number] = measure(Path(folder), arguments.only, arguments.turns)
    columns = [(number, threads) for number in seconds for threads in THREADS]
    report(
        ["command", *(f"{threads}, {number} beside" for number, threads in columns)],
        [
            [name, *(f"{seconds[number][name, threads]:.1f}" for number, threads in columns)]
            for name in arguments.only
        ],
        "wall seconds",
    )


def prepare(folder: Path, names: list[str]) -> None:
    """Writes the files that the commands read, and trains the model that `evaluate` takes."""
    lines = [" ".join(words) for words in made_up_text(NUM_LINES)]
    (folder / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "few.txt").write_text("\n".join(lines[: NUM_LINES // 6]) + "\n", encoding="utf-8")
    for size in SIZES:
        if f"embed, {size}" in names:
            (folder / size).mkdir()
            make_bilm(make_options(size), state="reset").to_files(folder / size)
    if {"evaluate", "train"} & set(names):
        rows = [f"{line} {LABELS[n % 2]},{LABELS[n % 2]}" for n, line in enumerate(lines)]
        table = "\n".join(["text,label", *rows]) + "\n"
        (folder / "classify.csv").write_text(table, encoding="utf-8")
        run(folder, "new classify classify.csv --dev classify.csv")
        config = folder / "classify.jsonnet"
        config.write_text(f"({config.read_text(encoding='utf-8')}) + {{ num_epochs:: 2 }}")
        run(folder, "train classify.jsonnet -s classify")


def measure(folder: Path, names: list[str], turns: int) -> dict[tuple[str, str], float]:
    """Returns the median of the wall seconds of each command with each number of threads."""
    seconds = defaultdict(list)
    for _ in range(turns):
        for name in names:
            for threads in THREADS:
                shutil.rmtree(folder / "again", ignore_errors=True)
                (folder / "vectors.hdf5").unlink(missing_ok=True)
                start = time.perf_counter()
                (serve if name == "serve" else run)(folder, COMMANDS[name], threads)
                seconds[name, threads].append(time.perf_counter() - start)
                print(f"{name}, {threads}: {seconds[name, threads][-1]:.1f}", file=sys.stderr)
    return {key: statistics.median(values) for key, values in seconds.items()}


def run(folder: Path, command: str, threads: str = "chosen") -> None:
    process = subprocess.run(
        [sys.executable, "-m", "elmo_tasks", *command.split()],
        cwd=folder,
        env=environment(threads),
        capture_output=True,
        text=True,
    )
    if process.returncode:
        sys.exit(f"{command}: {process.stderr[-500:]}")


def serve(folder: Path, command: str, threads: str) -> None:
    lines = (folder / "few.txt").read_text(encoding="utf-8").splitlines()
    with subprocess.Popen(
        [sys.executable, "-m", "elmo_tasks", *command.split()],
        cwd=folder,
        env=environment(threads),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        address = server.stdout.readline().split()[0]
        for line in lines:
            body = json.dumps({"sentence": line}).encode()
            with urlopen(f"{address}predict/ner", body) as answer:
                answer.read()
        server.terminate()


def environment(threads: str) -> dict[str, str]:
    """Returns the variables of a command, which runs the code of this tree."""
    variables = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    number = THREADS[threads]
    return {**variables, "PYTHONPATH": str(ROOT)} | ({"OMP_NUM_THREADS": number} if number else {})


@contextmanager
def busy(number: int) -> Iterator[None]:
    """Runs processes that never wait while the block runs."""
    processes = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(number)
    ]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


if __name__ == "__main__":
    main()
