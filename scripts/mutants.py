"""
Tries the tests on mutants: copies of the package in which one operator, number, condition, loop or
decorator is changed. A mutant is caught if a test in its own folder of `tests/` fails.

    make mutants
    python scripts/mutants.py --num 30 --rooms elmo models --seed 2

The mutants are a random sample of all those that the operators of cosmic-ray give, without those
that are no Python and those that differ from the code in an annotation alone. Each mutant runs in a
fork of one process that has imported PyTorch and AllenNLP, in a copy of the project. A mutant that
has a line in the file of results does not run again, so a run that was stopped goes on.
"""

import argparse
import ast
import contextlib
import difflib
import hashlib
import importlib
import importlib.util
import itertools
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
# `make mutants` installs cosmic-ray there. It comes last, so that it hides nothing of `.venv`.
sys.path.append(str(ROOT / "build" / "cosmic-ray"))
os.environ["OMP_NUM_THREADS"] = "1"
# The files of each room, by their names without `.py`; the rooms in the order of imports.
ROOMS = {
    "kernels": "frozen_product packing recurrence",
    "readers": "*",
    "bilm": "bidirectional_lstm bilm char_cnn frozen_bilm projected_lstm state",
    "elmo": "*",
    "modules": "*",
    "models": "* metrics/*",
    "training": "*",
}
HEAVY = """torch h5py matplotlib.pyplot spacy hypothesis.strategies pytest xdist pytest_timeout
allennlp.commands allennlp.modules.elmo allennlp.training allennlp.data.dataset_readers
allennlp.modules.seq2seq_encoders allennlp.modules.conditional_random_field""".split()
MEMORY = 12 * 2**30


class Mutant(NamedTuple):
    path: str
    line: int
    operator: str
    # The whole source of the changed file.
    source: str

    @property
    def room(self) -> str:
        return self.path.split("/")[1]

    @property
    def key(self) -> str:
        return hashlib.sha256(f"{self.path}\n{self.source}".encode()).hexdigest()[:16]

    def diff(self) -> list[str]:
        code, mutated = _read(self.path).splitlines(), self.source.splitlines()
        changed = list(difflib.unified_diff(code, mutated, n=0, lineterm=""))[3:]
        return [line[0] + " " + line[1:].strip() for line in changed]


def main() -> None:
    parser = argparse.ArgumentParser(
        description="Changes the code in one place at a time; says which changes no test notices.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--num", type=int, default=300, help="number of mutants to draw")
    add("--seed", type=int, default=1, help="seed of the drawing")
    add("--rooms", nargs="+", choices=ROOMS, default=list(ROOMS), help="folders of the package")
    add("--results", type=Path, default="build/mutants.jsonl", help="JSON lines, one a mutant")
    add("--retry", action="store_true", help="run again those that survived")
    args = parser.parse_args()
    if importlib.util.find_spec("cosmic_ray") is None:
        sys.exit("error: cosmic-ray is missing; make build/cosmic-ray installs it")
    mutants = draw(args.rooms, args.num, args.seed)
    results = read_results(args.results)
    pending = [
        mutant
        for mutant in mutants
        if mutant.key not in results or (args.retry and not results[mutant.key]["caught"])
    ]
    args.results.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(KeyboardInterrupt), open(args.results, "a", encoding="utf-8") as file:
        for result in run(pending):
            file.write(json.dumps(result) + "\n")
            file.flush()
    results = read_results(args.results)
    print(report([(mutant, results[mutant.key]) for mutant in mutants if mutant.key in results]))


def draw(rooms: list[str], num: int, seed: int) -> list[Mutant]:
    """Draws mutants that are other programs than the code; all there are if `num` is too large."""
    mutate = importlib.import_module("cosmic_ray.mutating").mutate_code
    provider = importlib.import_module("cosmic_ray.operators.provider").OperatorProvider()
    operators = {name: provider[name] for name in provider if not provider[name].arguments()}
    every = [position for room in sorted(rooms) for position in places(room, operators)]
    random.Random(seed).shuffle(every)
    mutants: list[Mutant] = []
    for path, line, operator, occurrence in every:
        if len(mutants) == num:
            break
        source = mutate(_read(path), operators[operator](), occurrence)
        if differs(_read(path), source):
            mutants.append(Mutant(path, line, operator, source))
    print(f"{len(mutants)} mutants of {len(every):,}, seed {seed}", flush=True)
    return sorted(mutants, key=lambda mutant: (list(ROOMS).index(mutant.room), mutant))


def places(room: str, operators: dict[str, Any]) -> Iterator[tuple[str, int, str, int]]:
    """Yields the path, the line, the operator and the index in the file of each mutation."""
    trees = importlib.import_module("cosmic_ray.ast")
    paths = [ROOT.glob(f"elmo_tasks/{room}/{name}.py") for name in ROOMS[room].split()]
    for path in (str(path.relative_to(ROOT)) for path in sorted(itertools.chain(*paths))):
        nodes = list(trees.ast_nodes(trees.get_ast(_read(path))))
        for name, operator in operators.items():
            positions = [
                position for node in nodes for position in operator().mutation_positions(node)
            ]
            for i, ((line, _), _) in enumerate(positions):
                yield path, line, name, i


def differs(source: str, mutated: str) -> bool:
    """Returns whether `mutated` is a program, and another one even without annotations."""
    try:
        return _without_annotations(source) != _without_annotations(mutated)
    except SyntaxError:
        return False


def read_results(path: Path) -> dict[str, dict[str, Any]]:
    """Returns the last result of each mutant."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {result["key"]: result for result in map(json.loads, lines)}


def run(mutants: list[Mutant]) -> Iterator[dict[str, Any]]:
    """
    Runs each mutant on the tests of its folder, those that bear the file's name first. Exits if the
    tests fail on the code as it is.
    """
    if not mutants:
        return
    for name in HEAVY:
        importlib.import_module(name)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(ROOT, copy, ignore=_ignored)
        clean: dict[str, float] = {}
        for i, mutant in enumerate(mutants, start=1):
            if mutant.room not in clean:
                caught, clean[mutant.room] = try_tests(copy, mutant, 1800)
                if caught:
                    sys.exit(f"error: without a mutant, tests/{mutant.room} fails: {caught}")
                print(f"tests/{mutant.room} passes in {clean[mutant.room]:.0f} s", flush=True)
            (copy / mutant.path).write_text(mutant.source, encoding="utf-8")
            caught, seconds = try_tests(copy, mutant, 15 + 1.5 * clean[mutant.room])
            shutil.copy2(ROOT / mutant.path, copy / mutant.path)
            says = f"{mutant.path}:{mutant.line} {mutant.operator}: {caught or 'SURVIVES'}"
            print(f"{i}/{len(mutants)} {seconds:.0f} s {says}", flush=True)
            yield {
                "key": mutant.key,
                "place": f"{mutant.path}:{mutant.line}",
                "operator": mutant.operator,
                "diff": mutant.diff(),
                "caught": caught,
                "seconds": round(seconds, 1),
            }


def try_tests(copy: Path, mutant: Mutant, limit: float) -> tuple[str, float]:
    """
    Runs the tests of the mutant's folder, and for `kernels` those of LSTMs
    in a fork. Returns what failed, an empty string if nothing did, and the seconds of computing. A
    fork that computes for longer than `limit`, or lasts for twenty times as long, is killed, which
    counts as a failure.
    """
    stem, folder = Path(mutant.path).stem, copy / "tests"
    tests = [*(folder / mutant.room).rglob("*_test.py")]
    if mutant.room == "kernels":
        users = "bilm/projected_lstm modules/packed_encoder modules/alternating_lstm"
        tests += [folder / f"{name}_test.py" for name in users.split()]
    tests.sort(key=lambda path: (not path.name.startswith(stem), path))
    log = copy.parent / "log"
    pid = os.fork()
    if pid == 0:
        code = 99
        try:
            _enter(copy, log, int(limit))
            options = "-x -q --tb=no -rfE -p no:cacheprovider --color=no".split()
            code = int(importlib.import_module("pytest").main([*options, *map(str, tests)]))
        finally:
            os._exit(code)
    end = time.monotonic() + 20 * limit
    try:
        while not (result := os.wait4(pid, os.WNOHANG))[0]:
            time.sleep(0.02)
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(result[1])
    return "" if code == 0 else _failure(code, log), result[2].ru_utime + result[2].ru_stime


def report(results: list[tuple[Mutant, dict[str, Any]]]) -> str:
    """Returns a Markdown table of the rooms, and each mutant that survived with its diff."""
    lines = ["| room | mutants | caught | share |", "| --- | ---: | ---: | ---: |"]
    rooms = dict.fromkeys(mutant.room for mutant, _ in results)
    for room in [*rooms, "all"]:
        caught = [bool(result["caught"]) for m, result in results if room in (m.room, "all")]
        share = sum(caught) / max(len(caught), 1)
        lines.append(f"| {room} | {len(caught)} | {sum(caught)} | {share:.1%} |")
    for mutant, result in results:
        if not result["caught"]:
            lines += ["", f"{mutant.path}:{mutant.line} ({mutant.operator})", "", "```diff"]
            lines += [*result["diff"], "```"]
    return "\n".join(lines)


def _read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def _without_annotations(source: str) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compile(source, "mutant", "exec")
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for name in ("annotation", "returns"):
            if hasattr(node, name):
                setattr(node, name, None)
    return ast.dump(tree)


def _ignored(folder: str, names: list[str]) -> list[str]:
    outputs = {"build", "dist", "data", "runs"} if Path(folder) == ROOT else set()
    # Tests that start `allennlp` need the file that names its plugin.
    hidden = {name for name in names if name[0] == "."} - {".allennlp_plugins"}
    return [name for name in names if name in hidden | outputs]


def _enter(copy: Path, log: Path, limit: int) -> None:
    os.setsid()
    sys.stdout = sys.stderr = open(log, "w", buffering=1, encoding="utf-8")  # noqa: SIM115
    for descriptor in (1, 2):
        os.dup2(sys.stdout.fileno(), descriptor)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.chdir(copy)
    os.environ["PYTHONPATH"] = sys.path[0] = str(copy)
    # A mutant may have the size and the time of the code.
    sys.dont_write_bytecode = True


def _failure(code: int, log: Path) -> str:
    """Returns the line of pytest's summary that names the first failure."""
    lines = log.read_text("utf-8", errors="replace").splitlines()
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return failed[0][:200] if failed else "timeout" if code in (-9, -24) else f"exit code {code}"


if __name__ == "__main__":
    main()
