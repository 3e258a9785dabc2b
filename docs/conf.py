"""
Configures Sphinx for `make docs`. The source folder is that of the repository, so that the links of
README.md and of the pages work on the site as they do on GitHub.
"""

import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from scripts.docstrings import to_rst  # noqa: E402

project = "elmo-tasks"
author = "The authors of elmo-tasks"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
root_doc = "README"
include_patterns = ["*.md", "docs/**", "elmo_tasks/pretrained/**.md", "tests/*.md"]
exclude_patterns = ["docs/conf.py", "docs/requirements.txt"]

myst_heading_anchors = 3
# The parts of a docstring within single backticks are code.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_inherit_docstrings = False
autodoc_default_options = {"members": True, "undoc-members": False, "show-inheritance": True}

html_theme = "furo"
html_title = "elmo-tasks"
# Without summaries, the search works from a file:// address too.
html_show_search_summary = False
html_copy_source = False

API = ROOT / "docs" / "api"

# Where each is imported from, what it is called there, and when one needs it.
TEN_NAMES = [
    ("elmo_tasks", "ElmoEncoder", "vectors of any text, without a training"),
    ("elmo_tasks.elmo", "Elmo", "ELMo in a network of PyTorch"),
    ("elmo_tasks", "LanguageModel", "how likely words are"),
    ("elmo_tasks", "load", "the answers of a trained model"),
    ("elmo_tasks.sklearn", "ElmoFeatures", "vectors of texts in scikit-learn"),
    ("elmo_tasks.elmo.store", "LayerStore", "layers of sentences, computed once"),
    ("elmo_tasks.modules.text_embedder", "ElmoBiLmEmbedder", "ELMo in any model of AllenNLP"),
    ("elmo_tasks.modules.text_embedder", "ElmoTextEmbedder", "the two places of a task model"),
    ("elmo_tasks.archives.open_archive", "open_archive", "a trained model, opened as data"),
    ("elmo_tasks.embed.shards", "embed_shards", "files of vectors of a text of any size"),
]
# What a config calls a class.
REGISTERED = {"ElmoBiLmEmbedder": "elmo_bilm"}


def write_api_pages() -> list[str]:
    """
    Writes a page of the names that most need, and one for each room of the package; returns the
    names of the pages, in this order.
    """
    shutil.rmtree(API, ignore_errors=True)
    API.mkdir()
    (API / "the_ten_names.rst").write_text("\n".join(ten_names()), encoding="utf-8")
    rooms = sorted(path.parent for path in ROOT.glob("elmo_tasks/*/__init__.py"))
    for room in rooms:
        title = f"elmo_tasks.{room.name}"
        lines = [title, "=" * len(title), ""]
        for path in sorted(room.rglob("*.py")):
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            if path.name != "__init__.py":
                lines += [module, "-" * len(module), "", f".. automodule:: {module}", ""]
        (API / f"{room.name}.rst").write_text("\n".join(lines), encoding="utf-8")
    return ["docs/api/the_ten_names", *(f"docs/api/{room.name}" for room in rooms)]


def ten_names() -> list[str]:
    """Returns the lines of the page of the names that most need."""
    lines = ["The ten names", "=============", ""]
    lines += ["What code of yours calls, beside the commands; the modules follow.", ""]
    for module, name, purpose in TEN_NAMES:
        title = REGISTERED.get(name, name)
        lines += [title, "-" * len(title), "", f"For {purpose}::", ""]
        if name in REGISTERED:
            lines += [f"    {{ type: '{title}', bilm: 'base' }}", ""]
        else:
            lines += [f"    from {module} import {name}", ""]
        kind = "class" if name[0].isupper() else "function"
        lines += [f".. auto{kind}:: {module}.{name}"]
        # The pages of the rooms, which leave out `__init__.py`, have the others in the index.
        lines += [] if name == "ElmoFeatures" else ["   :no-index:"]
        lines.append("")
    return lines


def add_contents(app, page: str, source: list[str]) -> None:
    """Adds the contents of the site to README.md, in the order of its list of pages."""
    if page != root_doc:
        return
    listed = source[0].partition("## I want to ...")[2]
    pages = list(dict.fromkeys(re.findall(r"\]\((docs/\w+)\.md\)", listed)))
    modules = app.config.api_pages
    others = sorted(app.env.found_docs - {root_doc, *pages, *modules})
    parts = {"Pages": pages, "Names and modules": modules, "More": others}
    for caption, names in parts.items():
        entries = "\n".join(f"/{name}" for name in names)
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n"


def copy_front_page(app, error: Exception | None) -> None:
    """Makes README.html the page that a browser opens in the folder."""
    if error is None:
        shutil.copy(Path(app.outdir, "README.html"), Path(app.outdir, "index.html"))


def convert(app, what, name, obj, options, lines: list[str]) -> None:
    """Replaces a docstring in Markdown by reStructuredText."""
    lines[:] = to_rst(lines)


def skip_fields(app, what, name, obj, skip: bool, options) -> bool | None:
    """Leaves out the fields of a NamedTuple, which the docstring of its class describes."""
    return True if str(obj.__doc__).startswith("Alias for field number") else None


def setup(app) -> None:
    app.add_config_value("api_pages", write_api_pages(), "env")
    app.connect("source-read", add_contents)
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("autodoc-process-docstring", convert)
    app.connect("build-finished", copy_front_page)
