import argparse
from pathlib import Path

from elmo_tasks.commands.catalog import CATALOG
from elmo_tasks.commands.command import Command
from elmo_tasks.commands.install_allennlp import check_what_works, install_allennlp
from elmo_tasks.common.errors import has_allennlp
from elmo_tasks.common.files import atomic_write

_LINE = "elmo_tasks"


class Setup(Command):
    """Installs AllenNLP if it is missing, and lets the command `allennlp` find this plugin."""

    name = "elmo-tasks setup"
    requires_plugins = False
    help = CATALOG["setup"].help
    description = """
Where AllenNLP is missing, say which commands of pip or uv install it into this environment without
its bounds, and all packages that they install or replace; ask, and run them. Then print what works,
and write the line elmo_tasks to ~/.allennlp/plugins, where AllenNLP looks for the names of plugins.
The command allennlp then finds this plugin from any folder. The commands train, evaluate and
predict of elmo-tasks need no such line.
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--yes", action="store_true", help="install without asking")

    def run(self, args: argparse.Namespace) -> None:
        if not has_allennlp():
            install_allennlp(agreed=args.yes)
        check_what_works()
        path = Path.home() / ".allennlp" / "plugins"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if _LINE in text.split():
            print(f"{path} has the line {_LINE} already; nothing was changed.")
            return
        with atomic_write(path.resolve()) as aside:
            end = "" if not text or text.endswith("\n") else "\n"
            aside.write_text(f"{text}{end}{_LINE}\n", encoding="utf-8")
        print(f"Wrote the line {_LINE} to {path}; allennlp finds this plugin from any folder now.")
