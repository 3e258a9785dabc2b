"""Tests that the core computes ELMo in an environment without AllenNLP and spaCy."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from elmo_tasks.common.errors import INSTALL_ALLENNLP

ROOT = Path(__file__).parents[1]
CORE = ("common", "kernels", "bilm", "elmo", "language_model/scoring")
ALLENNLP = ("allennlp", "cached_path", "transformers")

# Makes imports of these packages fail, as if they were not installed.
BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

BLOCKED = sys.argv.pop(1).split(",")
sys.meta_path.insert(0, Blocked())
"""


def run(
    script: str,
    *arguments: str,
    blocked: tuple[str, ...] = (*ALLENNLP, "spacy", "sklearn"),
    block: str = BLOCKED,
) -> subprocess.CompletedProcess:
    """Runs a script in another process, in which some packages cannot be imported."""
    return subprocess.run(
        [sys.executable, "-c", block + script, ",".join(blocked), *arguments],
        stdin=subprocess.DEVNULL,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def modules_of(room: str) -> list[str]:
    paths = sorted((ROOT / "elmo_tasks" / room).rglob("*.py"))
    return [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in paths]


# What one process finds: how long the core takes to be imported and what it imports, what it
# computes, and what it says of what needs AllenNLP.
SCRIPT = """
import json, os, time
import numpy, torch
before = set(sys.modules)
start = time.process_time()
from elmo_tasks import ElmoEncoder
found = {"seconds": time.process_time() - start, "names": sorted(set(sys.modules) - before)}
store, files = sys.argv[1:]
if store:
    from elmo_tasks.bilm import make_bilm
    from elmo_tasks.elmo.store import LayerStore
    encoder = ElmoEncoder.from_pretrained("mini", store=LayerStore(store))
    first = encoder(["The boat left the bank .", "Banks lend money ."])["elmo"]
    again = encoder(["The boat left the bank .", "Banks lend money ."])["elmo"]
    encoder.bilm.to_files(files)
    read = make_bilm(files + "/options.json", files + "/weights.hdf5")
    found["encoded"] = [list(first.shape), bool((first == again).all()), read.num_layers]
    try:
        import elmo_tasks.plugin
    except ImportError as error:
        found["refused"] = str(error)
print(json.dumps(found))
if store:
    ElmoEncoder.from_pretrained("model.tar.gz")
"""


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess:
    folder = tmp_path_factory.mktemp("core")
    return run(SCRIPT, str(folder / "store"), str(folder / "files"))


def test_the_core_and_the_rooms_of_other_libraries_are_imported_without_allennlp() -> None:
    core = [modules_of(room) for room in CORE]
    assert min(map(len, core)) > 2
    script = """
import importlib, json, os
core, *rooms = json.loads(sys.argv[1])
for name in sum(core, []): importlib.import_module(name)
for library, names in rooms:
    if not os.fork():
        # A room may import the library of its name.
        BLOCKED.remove(library)
        for name in names: importlib.import_module(name)
        break
    assert os.wait()[1] == 0
"""

    rooms = [(room, modules_of(room)) for room in ("sklearn", "spacy")]
    result = run(script, json.dumps([core, *rooms]))

    assert result.returncode == 0, result.stderr


def test_sentences_are_encoded_without_allennlp(core: subprocess.CompletedProcess) -> None:
    assert json.loads(core.stdout)["encoded"] == [[2, 6, 256], True, 3], core.stderr


def test_what_needs_allennlp_says_what_to_run(core: subprocess.CompletedProcess) -> None:
    assert json.loads(core.stdout)["refused"] == INSTALL_ALLENNLP
    assert core.stderr.splitlines()[-1] == f"ImportError: {INSTALL_ALLENNLP}"


def test_the_core_imports_few_packages_and_modules_in_half_a_second_more_than_torch(
    core: subprocess.CompletedProcess,
) -> None:
    # The fastest of three runs counts, since a busy machine only makes a process slower.
    found = json.loads(core.stdout)
    for _ in range(2):
        if found["seconds"] >= 0.5:
            found = json.loads(run(SCRIPT, "", "").stdout)

    assert found["seconds"] < 0.5
    packages = [name.partition(".")[0] for name in found["names"]]
    own = {name for name in set(packages) - set(sys.stdlib_module_names) if name[0] != "_"}
    assert own <= {"elmo_tasks", "h5py", "torch", "numpy", "tqdm"}
    assert packages.count("elmo_tasks") <= 50
