"""
Runs the commands of README.md and docs/ one after the other, for a person who wants to see that
they work. It takes about half an hour.

    python scripts/try_docs.py [PAGE ...]

Everything happens in a copy of the repository with the small files of `fixtures/` in place of the
data sets, and with fewer epochs. Commands that install something or use the network are shown and
left out. `tests/docs_test.py` checks the same blocks in a minute, mostly without running them.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
# The files of the repository, and the files of a reader whose place they take.
_STAND_INS = {
    "sst.txt": "data/sst/train.txt data/sst/dev.txt data/sst/test.txt",
    "snli.jsonl": "data/snli/snli_1.0_train.jsonl data/snli/snli_1.0_dev.jsonl "
    "data/snli/snli_1.0_test.jsonl",
    "squad.json": "data/squad/train-v1.1.json data/squad/dev-v1.1.json",
    "ner.txt": "data/conll2003/eng.train data/conll2003/eng.testa data/conll2003/eng.testb",
    "srl.gold_conll": "data/conll2012/train.gold_conll data/conll2012/dev.gold_conll "
    "data/conll2012/test.gold_conll my/train.gold_conll my/dev.gold_conll",
    "coref.gold_conll": "data/conll2012/train.english.v4_gold_conll "
    "data/conll2012/dev.english.v4_gold_conll data/conll2012/test.english.v4_gold_conll "
    "my/ontogum.train.conll my/ontogum.dev.conll",
    "imdb.jsonl": "data/movie-reviews/imdb.train.jsonl data/movie-reviews/imdb.dev.jsonl",
    "play.txt": "my/raw.txt senna/hash/words.lst senna/embeddings/embeddings.txt",
    "corpus/train.txt": "my/text.txt my/train.txt",
    "corpus/heldout.txt": "my/heldout.txt my/test.txt",
}
LEFT_OUT = (
    *("make ", "curl ", "pip ", "uv ", "python scripts/fetch_data.py"),
    # These read data of a reader.
    *("xz ", "gzip ", "python -m benchmarks.blimp "),
    # These run until somebody stops them, or wait for another machine.
    "elmo-tasks serve",
    "elmo-tasks train -f training_configs/bilm/mine_on_two_machines",
)
# Replacements that make a command of hours one of seconds, on the CPU.
SHORTER = [
    (r"num_epochs=\d+", "num_epochs=1"),
    (r"batch_size=\d+", "batch_size=2"),
    (r"max_steps \d+", "max_steps 20"),
    (r"--variants (\w+ \w+)[\w ]*", r"--variants \1 "),
    (r"--seeds [\d ]+", "--seeds 1 "),
    (r"--turns \d+", "--turns 1"),
    (r"--neighbours [\d ]+", "--neighbours 0"),
    (r"neighbors Bank", "neighbors river"),
    (r"(benchmarks/bilm\.py .*)--batches \d+", r"\1--batches 1 --batch-size 8"),
    (r"benchmarks/pretraining\.py", r"\g<0> --sizes mini --batches 1 --words 1000"),
    (r'bilm="small"', 'bilm="mini"'),
    (r"""--set 'word_vectors="glove[^']*' """, ""),
    # Several pages give what they make the same name.
    (r"elmo-tasks (ablation|pack|predict(?=.*--output)) ", r"elmo-tasks \1 --force "),
    (r"(allennlp|elmo-tasks) train (?!.*--recover)", r"\1 train -f "),
]


class Block(NamedTuple):
    """A fenced block of a page: file, line of the first fence from 1, the word after it, text."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Runs the commands of README.md and docs/.")
    parser.add_argument(
        "pages", nargs="*", type=Path, help="pages to run (default: all of them, in their order)"
    )
    pages = parser.parse_args().pages or in_order()
    with tempfile.TemporaryDirectory() as folder:
        make_copy(Path(folder))
        failed = [block for page in pages for block in blocks(page) if not run(block, Path(folder))]
    if failed:
        sys.exit(f"failed: {', '.join(map(str, failed))}")


def in_order() -> list[Path]:
    """
    Returns README.md and the pages that it links: first those in its table of tasks, since other
    pages use the models that these train, then those in its list of pages, then the rest.
    """
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    tasks = re.findall(r"^\| \[.*?\]\((docs/\w+\.md)\)", text, re.MULTILINE)
    before, _, listed = text.partition("## I want to ...")
    pages = [*tasks, *re.findall(r"\]\((docs/\w+\.md)", listed + before)]
    return [ROOT / page for page in dict.fromkeys(["README.md", *pages])]


def blocks(page: Path) -> list[Block]:
    """Returns the fenced blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    matches = re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [
        Block(page, text.count("\n", 0, match.start()) + 1, match[1], match[2]) for match in matches
    ]


def lines(block: Block) -> list[str]:
    """Returns the command lines of a block of bash; a line that goes on after `\\` is one."""
    return [line for line in re.sub(r"\\\n\s*", "", block.text).splitlines() if line.strip()]


def saved_as(block: Block) -> str | None:
    """Returns where a reader saves a config, as its first line says: `// training_configs/...`."""
    match = re.match(r"// (\S+\.jsonnet)\n", block.text)
    return match[1] if match and block.language == "jsonnet" and not shown_from(block) else None


def shown_from(block: Block) -> str | None:
    """Returns the file whose lines a block shows, as its first line says: `# examples/...`."""
    match = re.match(r"(?:#|//) (examples/\S+)\n", block.text)
    return match[1] if match else None


def make_copy(folder: Path) -> None:
    """Fills a folder with what the commands need: links, configs to add to, and small data."""
    for name in (
        "elmo_tasks",
        "benchmarks",
        "examples",
        "scripts",
        "fixtures",
        ".allennlp_plugins",
    ):
        (folder / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "training_configs", folder / "training_configs")
    for library in (folder / "training_configs" / "lib").iterdir():
        text = library.read_text(encoding="utf-8")
        text = re.sub(r"num_epochs:: \d+", "num_epochs:: 2", text)
        library.write_text(re.sub(r"batch_size:: \d+", "batch_size:: 2", text), encoding="utf-8")
    (folder / "runs").mkdir()
    for fixture, paths in _STAND_INS.items():
        for path in map(folder.joinpath, paths.split()):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes((ROOT / "fixtures" / fixture).read_bytes())
    reviews = (ROOT / "fixtures" / "imdb.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [f"{review['label']}\t{review['text']}" for review in map(json.loads, reviews)]
    for part in ("train", "dev"):
        table = folder / "data" / "movie-reviews" / f"imdb_cad_orig_{part}.tsv"
        table.write_text("\n".join(["Sentiment\tText", *rows, ""]), encoding="utf-8")
    entities = (ROOT / "fixtures" / "ner.txt").read_text(encoding="utf-8")
    for file in ("de.tsv", "de.dev.tsv"):
        two_columns = re.sub(r"(?m)^(\S+) .* (\S+)$", r"\1\t\2", entities)
        (folder / "my" / file).write_text(two_columns, encoding="utf-8")


def run(block: Block, folder: Path) -> bool:
    """Runs a block in the folder, shows what was run, and returns whether it succeeded."""
    if re.search("onnx|without_pytorch", block.text) and find_spec("onnxruntime") is None:
        print(f"{block}: left out, since onnxruntime is not installed", flush=True)
        return True
    path = saved_as(block)
    if path is not None:
        (folder / path).write_text(block.text, encoding="utf-8")
        print(f"{block}: saved as {path}", flush=True)
    if shown_from(block):
        # tests/examples_test.py runs it.
        return True
    if block.language == "python":
        return run_command(block, "python", [sys.executable, "-c", block.text], folder)
    if block.language != "bash":
        return True
    return all(
        run_command(block, line, ["bash", "-c", f"set -o pipefail; {line}"], folder)
        for line in map(shorter, lines(block))
    )


def shorter(line: str) -> str:
    for long, short in SHORTER:
        line = re.sub(long, short, line)
    return line


def run_command(block: Block, command: str, arguments: list[str], folder: Path) -> bool:
    if command.startswith(LEFT_OUT):
        print(f"{block}: left out: {command}", flush=True)
        return True
    binaries = Path(sys.executable).parent
    variables = {"PATH": f"{binaries}:{os.environ['PATH']}", "HOME": str(folder)}
    variables |= {"PYTHONPATH": str(ROOT), "ALLENNLP_LOG_LEVEL": "WARNING"}
    start = time.monotonic()
    result = subprocess.run(
        arguments, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True
    )
    verdict = "ok" if result.returncode == 0 else "FAILED"
    print(f"{block}: {verdict} in {time.monotonic() - start:.0f} s: {command}", flush=True)
    if result.returncode != 0:
        print("\n".join((result.stdout + result.stderr).splitlines()[-15:]), flush=True)
    return result.returncode == 0


if __name__ == "__main__":
    main()
