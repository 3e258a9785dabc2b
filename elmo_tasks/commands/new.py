"""
Write a first config for a task, or for data of your own.

Write a config for a task, with every field that its library has and a comment for each. Fields that
keep their defaults are commented out. A file that exists is replaced only with --force.

The tasks classify (texts with labels) and tag (tokens with tags, or spans of them) are for data of
your own. Give a data file in place of the config: a table (.csv, .tsv, .xlsx, .parquet), JSON on
each line (.jsonl), CoNLL-U (.conllu) or columns. The command finds its columns by their names,
draws a part of it for validation, and writes FILE.jsonnet and the folder FILE with both parts here.

examples:
  elmo-tasks new classify reviews.csv
  elmo-tasks train reviews.jsonnet -s runs/reviews
  elmo-tasks new tag english.conllu --column xpos
  elmo-tasks new sst mine.jsonnet
"""

import argparse
import json
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elmo_tasks.commands.options import add_shared
from elmo_tasks.common.errors import require_allennlp
from elmo_tasks.common.package_data import config_folder
from elmo_tasks.common.progress import working
from elmo_tasks.common.text import printable

TASKS = ("bilm", "classify", "coref", "ner", "snli", "squad", "srl", "sst", "tag")

# The tasks that look at the user's data.
OWN_TASKS = ("classify", "tag")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("task", metavar="TASK", choices=TASKS, help=", ".join(TASKS))
    add("file", metavar="FILE", type=Path, help="the config to write, or data of your own")
    add_shared(parser, "--force")
    add = parser.add_argument_group("for data of your own").add_argument
    add("--text", action="append", metavar="NAME", help="a column with texts; twice for two")
    add("--label", metavar="NAME", help="the column with the label")
    add("--separator", metavar="TEXT", help="what separates labels, if a text has several")
    add("--column", metavar="NAME", help="the column or field with the tags, such as xpos")
    add("--no-spans", action="store_true", help="learn a tag for each word, not spans of words")
    add("--language", default="en", metavar="CODE", help="spaCy's code (default: en)")
    add("--dev", metavar="FILE", type=Path, help="data for validation; then no part is drawn")
    add(
        "--no-header",
        action="store_true",
        help="the first line of a table is a row; its columns are named 1, 2, ...",
    )


def inputs(args: argparse.Namespace) -> list[Any]:
    """Returns the file of data, if none of a config is named."""
    is_config = args.file.suffix in (".jsonnet", ".libsonnet")
    return [args.file] if args.task in OWN_TASKS and not is_config else []


def run(args: argparse.Namespace) -> None:
    # Without AllenNLP the config could be written, but not used.
    require_allennlp()
    from elmo_tasks.common.files import write_whole
    from elmo_tasks.common.outputs import check_outputs

    config, found = args.file, None
    if inputs(args):
        import elmo_tasks.plugin  # noqa: F401  registers every name
        from elmo_tasks.own_data.inspect_data import inspect_data

        with working(f"reading {args.file}"):
            config, found = inspect_data(args)
    else:
        check_outputs([config], force=args.force)
    if found is None:
        write_whole(config, first_config(args.task, config))
    else:
        found.write()
        print(*map(printable, found.lines), sep="\n")
        write_whole(config, first_config(args.task, config, found.fields, found.lines))
    print(f"Wrote {config}. Train it with: {_command(config)}")
    for note in [] if found is None else found.notes:
        print(printable(note))


def first_config(
    task: str, file: Path, values: dict[str, Any] | None = None, found: Sequence[str] = ()
) -> str:
    """
    Returns the text of a config for a task, to be saved as `file`: the lines `found` about the
    data, the choices that all tasks share, and the template of the task, with `values` in place of
    the defaults.
    """
    begin, fields = _template(task)
    # The shared choices are those of task models with ELMo.
    fields = fields if task == "bilm" else _template("shared")[1] | fields
    for name, value in (values or {}).items():
        if name in fields:
            comment = fields[name].rpartition("\n")[0]
            fields[name] = f"{comment}\n  {name}: {json.dumps(value, ensure_ascii=False)},"
    head = [*found, "Train this with", f"    {_command(file)}"]
    lines = "".join(f"// {printable(line)}\n" for line in head)
    return f"{lines}{begin}{{\n" + "\n\n".join(fields.values()) + "\n}\n"


def _template(name: str) -> tuple[str, dict[str, str]]:
    """Returns the beginning of a template, and its fields by name, each with its comment."""
    text = (config_folder() / "new" / f"{name}.jsonnet").read_text(encoding="utf-8")
    begin, _, fields = text.removesuffix("\n}\n").partition("{\n")
    return begin, {
        re.findall(r"\w+", each.splitlines()[-1])[0]: each for each in fields.split("\n\n")
    }


def _command(file: Path) -> str:
    return shlex.join(["elmo-tasks", "train", str(file), "-s", f"runs/{file.stem}"])
