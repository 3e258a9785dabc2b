"""What the commands of `elmo-tasks` write, as facts: numbers, names and columns, not sentences."""

import contextlib
import csv
import io
import json
import signal
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import h5py
import pyarrow.dataset
import pytest

from elmo_tasks.console import main
from elmo_tasks.training.config_names import read_config
from tests.golden.layers import SENTENCES
from tests.golden.losses import losses_of
from tests.golden.numbers import summary
from tests.helpers.configs import FIXTURE_BILM, evaluate, tiny

BILM = Path("fixtures/bilm")
SST = Path("fixtures/archives/sst.tar.gz")
LANGUAGE_MODEL = Path("fixtures/archives/language_model.tar.gz")
HELDOUT = Path("fixtures/corpus/heldout.txt")


def run(*arguments: object, status: int = 0) -> str:
    """Runs `elmo-tasks` in this process, and returns what it prints to the standard output."""
    out, err = io.StringIO(), io.StringIO()
    found: object = 0
    handler = signal.getsignal(signal.SIGTERM)
    with (
        patch.object(sys, "argv", ["elmo-tasks", *map(str, arguments)]),
        patch.object(sys, "excepthook", sys.excepthook),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            found = ended.code or 0
        finally:
            signal.signal(signal.SIGTERM, handler)
    assert found == status, f"{arguments}: {found}\n{err.getvalue()[-3000:]}"
    return out.getvalue()


def text(folder: Path) -> Path:
    path = folder / "text.txt"
    path.write_text("\n".join(SENTENCES) + "\n", encoding="utf-8")
    return path


def embed(how: str, folder: Path, bilm: Path = BILM) -> dict[str, Any]:
    """Returns the datasets of an HDF5 file, and which sentence each of them is of."""
    path = folder / "out.hdf5"
    run("embed", text(folder), path, *how.split(), "--bilm", bilm)
    with h5py.File(path) as file:
        sentences = json.loads(file["sentence_to_index"][0])
        arrays = {name: summary(file[name][...], 20) for name in sentences.values()}
        return {"datasets": sorted(file), "sentences": sentences, **arrays}


def embed_words(folder: Path) -> dict[str, Any]:
    path = folder / "words.txt"
    run("embed", HELDOUT, path, "--words", 30, "--bilm", BILM)
    first, *lines = path.read_text(encoding="utf-8").splitlines()
    words = {word: summary([*map(float, numbers)], 8) for word, *numbers in map(str.split, lines)}
    return {"first": first, **words}


def embed_parquet(folder: Path) -> list[dict[str, Any]]:
    path = folder / "parquet"
    run("embed", text(folder), path, "--shards", "--bilm", BILM)
    table = pyarrow.dataset.dataset([*map(str, path.glob("*.parquet"))]).to_table()
    return [
        {name: summary(value, 20) if name.startswith("layer") else value for name, value in each}
        for each in map(dict.items, table.to_pylist())
    ]


def packed(archive: Path, folder: Path) -> Path:
    run("pack", archive, folder / "packed")
    return folder / "packed"


def score(how: str, folder: Path, model: str | None = None) -> list[dict[str, Any]]:
    """Returns the rows that `score` prints, by default by a language model that `pack` wrote."""
    model = model or str(packed(LANGUAGE_MODEL, folder))
    path = folder / "some.txt"
    path.write_text("".join(HELDOUT.read_text(encoding="utf-8").splitlines(True)[:4]))
    return rows(run("score", path, *how.split(), "--dtype", "float32", "--bilm", model))


def rows(printed: str) -> list[dict[str, Any]]:
    table = csv.DictReader(io.StringIO(printed), delimiter="\t", quoting=csv.QUOTE_NONE)
    return [{name: value_of(text) for name, text in row.items()} for row in table]


def value_of(text: str) -> Any:
    with contextlib.suppress(ValueError):
        return json.loads(text)
    return text


def numbers(*arguments: object) -> dict[str, Any]:
    """Returns what a command prints with `--json -`, without what depends on the place."""
    printed = json.loads(run(*arguments, "--json", "-"))
    elsewhere = ("title", "model", "bilm", "text", "data")
    return {key: value for key, value in printed.items() if key not in elsewhere}


def neighbors(sentence: str, folder: Path) -> dict[str, Any]:
    options = ("--sentence", sentence) if sentence else ()
    return numbers("neighbors", "play", "--corpus", "fixtures/play.txt", *options, "--bilm", BILM)


def check(folder: Path) -> dict[str, bool]:
    """Returns which facts `check` prints, of a sound biLM and of one without a weight."""
    printed = run("check", BILM / "options.json", BILM / "weights.hdf5")
    facts = ("36,448", "0.882", "2.82", "0.529", "1.73", "0.689", "2.42", "snapshot", "float32")
    broken = folder / "weights.hdf5"
    broken.write_bytes((BILM / "weights.hdf5").read_bytes())
    with h5py.File(broken, "a") as file:
        del file["CNN/W_cnn_0"]
    complaint = run("check", BILM / "options.json", broken, status=1)
    return {**{fact: fact in printed for fact in facts}, "W_cnn_0": "W_cnn_0" in complaint}


def export(how: str, folder: Path) -> dict[str, Any]:
    target = folder / "exported"
    run("export", LANGUAGE_MODEL, target, *how.split())
    with h5py.File(target / "weights.hdf5") as file:
        names: list[str] = []
        file.visit(names.append)
        weights = {
            name: {"dtype": str(file[name].dtype), **summary(file[name][...], 10)}
            for name in names
            if isinstance(file[name], h5py.Dataset)
        }
    return {"options": json.loads((target / "options.json").read_text()), **weights}


def pack(folder: Path) -> dict[str, Any]:
    """Returns what the folder of a packed model has, and the answers of that model."""
    path = packed(SST, folder)
    files = sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_file())
    return {"files": files, "answers": predict(path, text(folder), "--jsonl")}


def predict(model: Path, data: str | Path, *options: object) -> list[Any]:
    """Returns the lines that `predict` prints for a file, parsed if they are JSON."""
    return [*map(value_of, run("predict", model, data, *options).splitlines())]


def predict_table(folder: Path) -> list[list[Any]]:
    """Returns the answers to a table: the same columns, and those of the answer."""
    path = folder / "in.csv"
    lines = (f'{index},"{sentence}"' for index, sentence in enumerate(SENTENCES))
    path.write_text("\n".join(["id,sentence", *lines]) + "\n", encoding="utf-8")
    return [[*map(value_of, line.split("\t"))] for line in run("predict", SST, path).splitlines()]


def errors_against(folder: Path) -> dict[str, Any]:
    """Compares a model with itself after one more training, by a paired bootstrap."""
    run("train", tiny_file(folder, "sst", "baseline"), "-s", folder / "other")
    return numbers("errors", SST, "fixtures/sst.txt", "--against", f"other={folder}/other")


def tiny_file(folder: Path, task: str, variant: str, change: str = "{}") -> Path:
    path = folder / f"{variant}.jsonnet"
    path.write_text(json.dumps(tiny(task, variant, change)))
    return path


def store(folder: Path) -> list[float]:
    """Returns the losses of a training that reads the layers which another one has stored."""
    change = f"{{ store: '{folder}/store' }}"
    losses_of(tiny("sst", "both", change), folder / "filling")
    return losses_of(tiny("sst", "both", change), folder / "run")


class TrainedHere:
    """A training as `subprocess.Popen` starts it, but in this process."""

    returncode = 0
    pid = 0

    def __init__(self, command: list[str], **_: Any) -> None:
        run(*command[command.index("train") :])

    def poll(self) -> int:
        return self.returncode


def ablation(folder: Path) -> dict[str, Any]:
    """Returns the numbers of an ablation with two seeds, without its seconds."""
    (folder / "configs").mkdir()
    tiny_file(folder / "configs", "sst", "baseline")
    with patch("subprocess.Popen", TrainedHere):
        run(
            *("ablation", "sst", "--variants", "baseline", "--seeds", 1, 2),
            *("--configs", folder / "configs", "-s", folder / "runs"),
        )
    results = json.loads((folder / "runs" / "results.json").read_text())
    keys = ("variant", "seeds", "mean", "std", "values", "epochs")
    rows = [{key: row[key] for key in keys} for row in results["rows"]]
    return {"task": results["task"], "metric": results["metric"], "rows": rows}


def probe(name: str, data: str, folder: Path) -> dict[str, Any]:
    change = (
        f"{{ train_data_path: '{data}', validation_data_path: '{data}', bilm_dtype: 'float32' }}"
    )
    path = folder / "config.json"
    config = (
        f"(import 'training_configs/probe/{name}.jsonnet') + {{ bilm: {FIXTURE_BILM} }} + {change}"
    )
    path.write_text(json.dumps(evaluate(config)))
    return numbers("probe", path)


def new(folder: Path, *arguments: object) -> dict[str, Any]:
    """Returns the configs that `new` writes, and the number of lines of the other files."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        run("new", *arguments)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): content(path) for path in files}


def content(path: Path) -> Any:
    if path.suffix == ".jsonnet":
        return read_config(path)
    return len(path.read_text(encoding="utf-8").splitlines())


def evaluated(model: Path, data: str, folder: Path) -> dict[str, Any]:
    path = folder / "metrics.json"
    run("evaluate", model, data, "--output-file", path)
    return json.loads(path.read_text())
