"""
Every command, config and link of README.md and docs/ is checked, so that none can go stale. Python
blocks, and commands on files of the repository, are run; other commands are parsed, and their files
and fields looked up. `scripts/try_docs.py` runs them all.
"""

import ast
import importlib
import inspect
import re
import runpy
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands.train import TrainModel, train_model
from allennlp.common import Params
from allennlp.common.registrable import Registrable

from elmo_tasks.language_model.callback import LIBSONNET
from elmo_tasks.training.config_names import read_config
from scripts.try_docs import Block, blocks, in_order, lines, saved_as, shown_from
from tests.helpers.command_line import allennlp
from tests.helpers.configs import ROOT, evaluate
from tests.helpers.page_reader import PageReader

README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
BLOCKS = [block for page in PAGES for block in blocks(page)]
CARD = ROOT / "elmo_tasks" / "pretrained" / "mini" / "MODEL_CARD.md"
TEXTS = [*PAGES, CARD, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]

LANGUAGES = {"bash", "jsonnet", "python", "text"}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of the repository with what the first commands of README.md make: a trained model."""
    folder = tmp_path_factory.mktemp("copy")
    for name in ("elmo_tasks", "benchmarks", "examples", "scripts", "fixtures"):
        (folder / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "training_configs", folder / "training_configs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        tiny = "(import 'training_configs/sst/both.jsonnet') + (import 'fixtures/tiny.libsonnet')"
        train_model(Params(evaluate(f"{tiny} + {{ trainer+: {{ num_epochs: 1 }} }}")), "runs/tiny")
        Path("runs/sst").mkdir()
        Path("runs/tiny").rename("runs/sst/both")
        # Configs import biLMs that readers train.
        for trained in ("mine", "packed", "sst-bilm"):
            Path("runs", trained).mkdir()
            shutil.copy("elmo_tasks/pretrained/mini/options.json", f"runs/{trained}")
            Path("runs", trained, "bilm.libsonnet").write_text(LIBSONNET, encoding="utf-8")
        yield folder


def ids(blocks: list[Block]) -> list[str]:
    return [str(block) for block in blocks]


def of_language(language: str) -> list[Block]:
    return [block for block in BLOCKS if block.language == language]


def test_blocks_of_every_language_were_found_and_no_others() -> None:
    assert {block.language for block in BLOCKS} == LANGUAGES
    assert len(BLOCKS) > 50
    for page in PAGES:
        fences = re.findall("^ *```", page.read_text("utf-8"), re.MULTILINE)
        assert len(fences) == 2 * len(blocks(page)), page


def test_the_script_runs_every_page() -> None:
    assert sorted(in_order()) == sorted(PAGES)


def test_readme_is_short_and_links_every_page() -> None:
    text = README.read_text(encoding="utf-8")

    assert len(text.splitlines()) <= 160
    for page in PAGES[1:]:
        assert f"(docs/{page.name})" in text


def test_every_score_of_the_readme_says_on_which_part_of_the_data_it_is() -> None:
    rows = re.findall(r"^\| \[.*\]\(docs/\w+\.md\).*", README.read_text("utf-8"), re.MULTILINE)
    scores = [cell.strip() for row in rows for cell in row.split("|")[4:6] if cell.strip()]

    assert len(rows) >= 7 and len(scores) >= 13
    for score in scores:
        assert re.search(r"\b(dev|test|train)\b[^:→]*: \d[^:]* → \d", score), score


def test_the_pythons_of_the_pages_are_those_of_the_makefile_and_of_setup() -> None:
    (versions,) = re.findall(r"^SUPPORTED := (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    *first, last = versions.split()
    (lowest,) = re.findall(r'python_requires=">=(.*?)"', (ROOT / "setup.py").read_text())
    install = (ROOT / "docs" / "install.md").read_text("utf-8")

    assert (
        f"[Python {', '.join(first)} or {last}](docs/install.md#which-pythons)"
        in README.read_text(encoding="utf-8")
    )
    assert f"`make` takes {', '.join(first)} and {last}" in install
    tried = re.findall(r"^\| (3\.\d+) \|", install, re.MULTILINE)
    assert f"runs on Python {lowest} to {tried[-1]}" in install and tried[0] == lowest


# tests/archives/onnx_file_test.py runs the block that needs onnxruntime.
PYTHON = [
    block
    for block in of_language("python")
    if "onnxruntime" not in block.text and not shown_from(block)
]


@pytest.mark.parametrize("block", PYTHON, ids=ids(PYTHON))
def test_python_runs(block: Block, copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(copy)
    if "play.hdf5" in block.text:
        embed = next(line for b in blocks(block.page) for line in lines(b) if "play.hdf5" in line)
        Path("play.hdf5").unlink(missing_ok=True)
        _, name, *arguments = shlex.split(embed)
        allennlp(f"elmo-{name}", *arguments)

    exec(compile(block.text, str(block), "exec"), {})


def test_lines_shown_from_an_example_are_in_its_file() -> None:
    shown = {block: name for block in BLOCKS if (name := shown_from(block))}

    assert len(shown) >= 6
    for block, name in shown.items():
        _, _, text = block.text.partition("\n")
        assert f"\n{text}" in (ROOT / name).read_text("utf-8"), block


# tests/moving_test.py trains the configs of its page, and tests/examples_test.py the examples.
CONFIG_BLOCKS = [
    block
    for block in of_language("jsonnet")
    if block.page.stem != "moving_from_allennlp" and not shown_from(block)
]


@pytest.mark.parametrize("block", CONFIG_BLOCKS, ids=ids(CONFIG_BLOCKS))
def test_config_is_evaluated_and_its_fields_exist(
    block: Block, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(copy)
    path = Path(saved_as(block) or "whole.jsonnet")
    # A config may import another one of its page.
    for other in blocks(block.page):
        if name := saved_as(other):
            Path(name).write_text(other.text, encoding="utf-8")
    path.write_text(block.text, encoding="utf-8")

    config = read_config(path)

    # A field that a library does not have is left in the config.
    assert set(config) <= top_fields()
    if saved_as(block) is None:
        train(config)


def test_the_dense_layer_on_movie_reviews_is_trained(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(copy)
    name = "training_configs/imdb/dense.jsonnet"
    (block,) = [block for block in of_language("jsonnet") if saved_as(block) == name]
    change = (
        "{ train_data_path: 'fixtures/imdb.jsonl', validation_data_path: self.train_data_path,"
        " trainer+: { num_epochs: 1 } }"
    )

    train(evaluate(f"{block.text} + {change}"))


def train(config: dict[str, Any]) -> None:
    """Trains a config, and packs no archive, which would take longer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("allennlp.commands.train.archive_model", lambda *_, **__: None)
        assert train_model(Params(config), "runs/whole", force=True) is not None


def top_fields() -> set[str]:
    """Returns the names that a config of `allennlp train` may have at its top."""
    # AllenNLP takes `distributed` out of the config before it makes a `TrainModel`.
    return {*inspect.signature(TrainModel.from_partial_objects).parameters, "distributed"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_can_be_given_and_their_files_are_to_be_had(
    page: Path, copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(copy)
    reader = PageReader(page, monkeypatch)

    for block in blocks(page):
        config = saved_as(block)
        if config is not None:
            Path(config).write_text(block.text, encoding="utf-8")
        if block.language == "bash":
            for line in lines(block):
                reader.give(line)


def test_commands_within_the_text_can_be_given(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = 0
    for page in TEXTS:
        text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        for code in re.findall(r"(?<!`)`([^`]+)`(?!`)", text):
            # `allennlp elmo` is a command of AllenNLP 0.x, and two words alone name a command.
            if re.match(r"((allennlp|elmo-tasks) \S+|make|python) \S", code):
                PageReader(page, monkeypatch, checks_files=False).give(" ".join(code.split()))
                seen += 1
    assert seen > 5


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.stem)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)

    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        linked = (page.parent / name).resolve() if name else page
        assert linked.is_file(), f"{page.name} links {target}"
        assert linked.suffix != ".md" or not anchor or anchor in anchors(linked), target


def test_files_within_the_text_exist() -> None:
    folders = "elmo_tasks|tests|training_configs|fixtures|benchmarks|examples|scripts|docs"
    saved = {saved_as(block) for block in BLOCKS}

    for page in [*PAGES, CARD, ROOT / "CONTRIBUTING.md"]:
        for path in re.findall(rf"`((?:{folders})/[\w/.]*)`", page.read_text(encoding="utf-8")):
            # A name in capitals stands for any name.
            if not re.search("[A-Z]{4}", path) and path not in saved:
                assert (ROOT / path).exists(), f"{page.name}: {path}"


def anchors(page: Path) -> set[str]:
    """Returns the anchors that GitHub gives the headings of a page."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_settings_of_a_page_are_fields_of_the_task() -> None:
    tasks = ("sst", "ner", "snli", "squad", "srl", "coref")
    for page, task in [("choices", "sst"), *zip(tasks, tasks)]:
        path = ROOT / "docs" / f"{page}.md"
        fields = evaluate(
            f"std.objectFieldsAll(import '{ROOT}/training_configs/lib/{task}.libsonnet')"
        )
        _, _, table = path.read_text(encoding="utf-8").rpartition("| field | values | default |")
        rows = re.findall(r"^\| (`.*?) \|", table.split("\n\n")[0], re.MULTILINE)
        named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
        assert named, page
        assert set(named) <= set(fields), page


def test_messages_are_those_of_the_program() -> None:
    text = (ROOT / "docs" / "when_something_goes_wrong.md").read_text(encoding="utf-8")
    tables = re.findall(r"\| message \|.*\n\| --- .*\n((?:\|.*\n)+)", text)
    quoted = [m for table in tables for m in re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)]

    # argparse and jsonnet say these.
    others = {"invalid choice: 'elmo-check'", "couldn't open import \"elmo_tasks/..."}
    assert len(quoted) > 7
    known = list(messages())
    for message in set(quoted) - others:
        pattern = ".*".join(map(re.escape, message.strip(". ").split("...")))
        assert any(re.search(pattern, each) for each in known), f"nothing says {message!r}"


def messages() -> Iterator[str]:
    """Yields every text in the source of this package, of AllenNLP and of the Makefile."""
    allennlp_folder = Path(sys.modules["allennlp"].__file__ or "").parent
    yield (ROOT / "Makefile").read_text(encoding="utf-8")
    files = [*(ROOT / "elmo_tasks").rglob("*.py"), *(allennlp_folder / "common").glob("*.py")]
    for path in [*files, allennlp_folder / "training" / "util.py"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            if isinstance(node, ast.JoinedStr):
                parts = [v.value if isinstance(v, ast.Constant) else "{}" for v in node.values]
                yield "".join(map(str, parts))


def test_the_ten_names_of_the_site_are_there() -> None:
    names = runpy.run_path(str(ROOT / "docs" / "conf.py"))["TEN_NAMES"]

    assert len(names) == 10
    for module, name, _ in names:
        assert getattr(importlib.import_module(module), name).__doc__


def test_the_registered_names_of_a_page_are_those_of_the_package() -> None:
    text = (ROOT / "docs" / "in_your_allennlp_project.md").read_text(encoding="utf-8")
    table = text.partition("## Names that this package registers")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(elmo[\w-]*)`", table))

    ours = {
        name
        for classes in Registrable._registry.values()
        for name, (kind, _) in classes.items()
        if kind.__module__.startswith("elmo_tasks.") and name.startswith("elmo")
    }
    assert named == ours
