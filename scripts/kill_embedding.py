"""
Kills `elmo-embed` at random moments, and prints what came of it as a Markdown table.

    python scripts/kill_embedding.py --kills 20 --processes 2 4 --on processes ray

A text is embedded in one process first. Then it is embedded in several, on this machine or on a Ray
of this machine, and `kill -9` ends one of the processes again and again; then the command itself is
killed and given once more, until it ends by itself. Each result is compared with that of one
process: the same rows, each once, and the same vectors, to the bit.
"""

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import date
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from elmo_tasks.embed.shards import read_vectors

ROOT = Path(__file__).resolve().parents[1]

# How the command line of a process that embeds begins, on Ray.
_ACTOR = "ray::_Worker"


class Outcome(NamedTuple):
    """
    What came of some kills.

    # Parameters

    what: What was killed.
    num_runs: How often the command was given.
    num_lost, num_twice, num_other: The rows that are missing, that are there more than once, and
        that differ.
    """

    what: str
    num_kills: int
    num_runs: int
    num_lost: int
    num_twice: int
    num_other: int

    @property
    def is_whole(self) -> bool:
        return not (self.num_lost or self.num_twice or self.num_other)


def main() -> None:
    args = _arguments()
    chance = random.Random(args.seed)
    since, all_whole = time.monotonic(), True
    print("| on | processes | killed | kills | runs | lost | twice | other vectors |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder:
        text, whole = Path(folder, "text.txt"), Path(folder, "whole")
        _write_text(text, args.lines)
        begun = time.monotonic()
        _finish(_start(text, whole, ["--processes", "1"], args), whole)
        seconds = time.monotonic() - begun
        for on in args.on:
            for number in args.processes:
                options = ["--processes", str(number), *(["--on", "ray"] if on == "ray" else [])]
                for kill in (kill_processes, kill_command):
                    out = Path(folder, f"{on}-{number}-{kill.__name__}")
                    num_kills, num_runs = kill(text, out, options, args, seconds, chance)
                    what = kill.__name__.partition("_")[2]
                    outcome = Outcome(what, num_kills, num_runs, *compare(whole, out))
                    all_whole = all_whole and outcome.is_whole
                    print(f"| {on} | {number} | {' | '.join(map(str, outcome))} |", flush=True)
    minutes = (time.monotonic() - since) / 60
    print(f"\n{date.today()}; {args.lines} lines; seed {args.seed}; {minutes:.0f} minutes.")
    sys.exit(0 if all_whole else 1)


def kill_processes(
    text: Path,
    out: Path,
    options: list[str],
    args: argparse.Namespace,
    seconds: float,
    chance: random.Random,
) -> tuple[int, int]:
    """
    Kills a process that embeds, again and again while the command runs, and gives the command again
    when that ended it. Returns how many were killed, and how many commands ran.
    """
    num_kills = num_runs = 0
    while num_kills < args.kills:
        if (out / "_manifest.json").exists():
            _clear(out)
        command, num_runs = _start(text, out, options, args), num_runs + 1
        while command.poll() is None and num_kills < args.kills:
            time.sleep(chance.uniform(0, seconds / 4))
            if at_work := workers(command.pid):
                os.kill(chance.choice(at_work), signal.SIGKILL)
                num_kills += 1
        command.wait()
    _finish(_start(text, out, options, args), out)
    return num_kills, num_runs + 1


def kill_command(
    text: Path,
    out: Path,
    options: list[str],
    args: argparse.Namespace,
    seconds: float,
    chance: random.Random,
) -> tuple[int, int]:
    """Kills the command, and gives it again until it was killed often enough."""
    num_kills = num_runs = 0
    while num_kills < args.kills:
        if (out / "_manifest.json").exists():
            _clear(out)
        command, num_runs = _start(text, out, options, args), num_runs + 1
        while command.poll() is None and not workers(command.pid):
            time.sleep(0.2)
        try:
            command.wait(chance.uniform(0, seconds / 4))
        except subprocess.TimeoutExpired:
            command.kill()
            num_kills += 1
        command.wait()
    _finish(_start(text, out, options, args), out)
    return num_kills, num_runs + 1


def compare(expected: Path, found: Path) -> tuple[int, int, int]:
    """Returns how many rows are lost, how many there are twice, and how many differ."""
    seen = dict[int, int]()
    num_expected = num_other = 0
    for row, other in zip_longest(read_vectors(expected), read_vectors(found)):
        num_expected += row is not None
        if other is not None:
            seen[other[0]] = seen.get(other[0], 0) + 1
        both = row is not None and other is not None
        num_other += both and (row[:2] != other[:2] or not (row[2] == other[2]).all())
    num_twice = sum(count - 1 for count in seen.values())
    return num_expected - len(seen), num_twice, num_other


def _start(text: Path, out: Path, options: list[str], args: argparse.Namespace) -> subprocess.Popen:
    command = [sys.executable, "-m", "elmo_tasks", "embed", str(text), str(out)]
    command += ["--shards", "parquet", "--part-tokens", str(args.part_tokens), *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with open(out.with_suffix(".log"), "w") as log:
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)


def _finish(command: subprocess.Popen, out: Path) -> None:
    if command.wait() != 0:
        said = out.with_suffix(".log").read_text().splitlines()[-1:]
        sys.exit(f"elmo-embed ended with exit status {command.returncode}: {said}")


def _clear(folder: Path) -> None:
    for path in folder.glob("*"):
        path.unlink()


def workers(pid: int) -> list[int]:
    """Returns the processes that embed for a command."""
    names = {child: _command_line(child) for child in descendants(pid)}
    if any("raylet" in name for name in names.values()):
        return [child for child, name in names.items() if name.startswith(_ACTOR)]
    # A fork has the command line of its parent.
    return [child for child, name in names.items() if name == _command_line(pid)]


def descendants(pid: int) -> list[int]:
    """Returns the processes that a process has started, and those that they have started."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
    return [child for child in parents if pid in _ancestors(child, parents)]


def _ancestors(pid: int, parents: dict[int, int]) -> Iterator[int]:
    while pid in parents:
        pid = parents[pid]
        yield pid


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def _write_text(path: Path, num_lines: int) -> None:
    """Writes lines of words, drawn at random from those of the fixtures."""
    words = (ROOT / "fixtures/corpus/train.txt").read_text(encoding="utf-8").split()
    drawn = random.Random(0)
    lines = (" ".join(drawn.choices(words, k=drawn.randrange(40))) for _ in range(num_lines))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--kills", type=int, default=20, help="kills of each kind (default: 20)")
    add("--processes", type=int, nargs="+", default=[2, 4], help="default: 2 4")
    add("--on", nargs="+", choices=["processes", "ray"], default=["processes", "ray"])
    add("--lines", type=int, default=4000, help="lines of the text (default: 4000)")
    add("--part-tokens", type=int, default=1000, help="tokens of a part (default: 1000)")
    add("--seed", type=int, default=0, help="of the moments of the kills (default: 0)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
