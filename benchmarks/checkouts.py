"""
Compares the speed of this checkout with that of another one, say of the commit before a change.
Prints a table in Markdown.

    python -m benchmarks.checkouts ../before my/text.txt --threads 1 2 --turns 9

These benchmarks run with the package of each checkout, in two processes that prepare all works. The
two take turns with each work, and the median of their ratios counts, so that other programs on the
machine slow down both. With one thread, CPU time is measured instead of the time of day. The share
is the time of the bare products divided by that of the layers that need them (see `bilm.py`). A
step of a task has the layers from a store; one of pre-training has a softmax of 50,000 words.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from itertools import chain, islice, repeat
from pathlib import Path

import torch

from benchmarks import bilm, pretraining
from benchmarks.harness import ROOT, parser, report
from benchmarks.made_up import make_options
from benchmarks.task_steps import config_of, loader_of, model_of, training
from elmo_tasks.bilm import make_bilm

Work = tuple[str, Callable[[], object]]


def main() -> None:
    options = parser("checkouts", __doc__, turns=9)
    add = options.add_argument
    add("before", type=Path, help="the folder of the other checkout")
    add("text", type=Path, help="one tokenized sentence a line")
    add("--sizes", nargs="*", default=["small", "original"], help="default: small original")
    add("--tasks", nargs="*", default=["ner", "snli", "squad"], help="default: ner snli squad")
    add("--trainings", nargs="*", default=["mini", "base"], help="of biLMs (default: mini base)")
    add("--instances", type=int, default=200, help="of a task (default: 200)")
    add("--words", type=int, default=50_000, help="words of the softmax (default: 50000)")
    add("--set", default="{}", help="a jsonnet object that is added to each config of a task")
    add("--threads", type=int, nargs="+", default=[1, 2], help="default: 1 2")
    add("--answers", action="store_true", help="be one of the two processes")
    arguments = options.parse_args()
    if arguments.answers:
        answer(arguments)
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        roots = {"before": arguments.before.resolve(), "now": ROOT}
        processes = [start(root, Path(folder, name)) for name, root in roots.items()]
        names = [json.loads(read_line(process)) for process in processes][0]
        for num_threads in arguments.threads:
            bare: list[float] = []
            for name in names:
                both = alternate(processes, name, num_threads, arguments.turns)
                medians = [1000 * statistics.median(seconds) for seconds in both]
                ratio = statistics.median(new / old for old, new in zip(*both, strict=True))
                bare = medians if name.startswith("bare products") else bare
                shares = ["", ""]
                if name.startswith("layers"):
                    shares = [f"{one / whole:.2f}" for one, whole in zip(bare, medians)]
                cells = [*(f"{median:.0f}" for median in medians), f"{ratio:.3f}", *shares]
                rows.append([num_threads, name, *cells])
        for process in processes:
            process.communicate()
    columns = ["threads", "work", "ms before", "ms now", "now / before", "share before"]
    report([*columns, "share now"], rows, f"medians of {arguments.turns} turns")


def start(root: Path, folder: Path) -> subprocess.Popen[str]:
    """Starts these benchmarks with the package and the configs of a checkout."""
    link(root, folder)
    return subprocess.Popen(
        [sys.executable, "-P", __file__, *sys.argv[1:], "--answers"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (folder, ROOT)))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def link(root: Path, folder: Path) -> None:
    """Makes a folder that has only the package and the configs of a checkout, as links."""
    folder.mkdir()
    for name in ("elmo_tasks", "training_configs"):
        (folder / name).symlink_to(root / name)


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        sys.exit(f"a process ended with {process.wait()}")
    return line


def alternate(
    processes: list[subprocess.Popen[str]], name: str, num_threads: int, turns: int
) -> list[list[float]]:
    """Returns the seconds of each turn of each process. The first turn, a warm-up, is left out."""
    times: list[list[float]] = [[] for _ in processes]
    for turn in range(turns + 1):
        for index in (0, 1) if turn % 2 else (1, 0):
            process = processes[index]
            assert process.stdin is not None
            print(json.dumps([name, num_threads]), file=process.stdin, flush=True)
            times[index].append(float(read_line(process)))
    return [seconds[1:] for seconds in times]


def answer(arguments: Namespace) -> None:
    """Prints the names of the works, then the seconds of each that standard input asks for."""
    answers, sys.stdout = sys.stdout, sys.stderr
    with tempfile.TemporaryDirectory() as folder:
        works = dict(all_works(arguments, folder))
        print(json.dumps(list(works)), file=answers, flush=True)
        for line in sys.stdin:
            name, num_threads = json.loads(line)
            torch.set_num_threads(num_threads)
            clock = time.process_time if num_threads == 1 else time.perf_counter
            begin = clock()
            works[name]()
            print(clock() - begin, file=answers, flush=True)


def all_works(arguments: Namespace, folder: str) -> Iterator[Work]:
    batches = bilm.read_batches(arguments.text, 1, 32)
    for size in arguments.sizes:
        torch.manual_seed(0)
        options = make_options(size)
        make_bilm(options, requires_grad=True).to_files(folder)
        frozen = make_bilm(options, f"{folder}/weights.hdf5", cached_tokens=0)
        yield f"bare products of {size}", torch.no_grad()(bilm.bare_products(options, batches))
        yield f"layers of {size}", layers(frozen, batches)
    for task in arguments.tasks:
        torch.manual_seed(0)
        config = config_of(task, "both", f"{{ store: '{folder}/{task}' }}", arguments.set)
        loader, vocab = loader_of(config, arguments.instances)
        model = model_of(config, vocab)
        with torch.no_grad():
            filling = [batch for batch in loader if model(**batch)]  # Fills the store.
        yield f"{task}, steps", training(model, config["trainer"], filling[:8])
    for size in arguments.trainings:
        torch.manual_seed(0)
        config = config_of("bilm", size)
        tokens = config["data_loader"]["batch_tokens"]
        loader, vocab = pretraining.indexed_loader(arguments.text, arguments.words, tokens)
        two = list(islice(chain.from_iterable(repeat(loader)), 2))
        language_model = pretraining.build(config["model"], vocab, "float32")
        yield f"pre-training of {size}, steps", training(language_model, config["trainer"], two)


def layers(frozen: torch.nn.Module, batches: list[torch.Tensor]) -> Callable[[], object]:
    return torch.no_grad()(lambda: [frozen(char_ids) for char_ids in batches])


if __name__ == "__main__":
    main()
