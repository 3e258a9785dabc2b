import argparse
from pathlib import Path

from elmo_tasks.commands.catalog import CATALOG
from elmo_tasks.commands.command import Command
from elmo_tasks.common.errors import require_allennlp
from elmo_tasks.common.files import atomic_write

_LINE = "elmo_tasks"


class Setup(Command):
    """Lets the command `allennlp` find this plugin, from any folder."""

    name = "elmo-tasks setup"
    requires_plugins = False
    help = CATALOG["setup"].help
    description = """
Write the line elmo_tasks to ~/.allennlp/plugins, where AllenNLP looks for the names of plugins, so
that the command allennlp finds this one from any folder. The commands train, evaluate and predict
of elmo-tasks need no such line.
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        pass

    def run(self, args: argparse.Namespace) -> None:
        require_allennlp()
        path = Path.home() / ".allennlp" / "plugins"
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if _LINE in text.split():
            print(f"{path} has the line {_LINE} already; nothing was changed.")
            return
        with atomic_write(path.resolve()) as aside:
            end = "" if not text or text.endswith("\n") else "\n"
            aside.write_text(f"{text}{end}{_LINE}\n", encoding="utf-8")
        print(f"Wrote the line {_LINE} to {path}; allennlp finds this plugin from any folder now.")
