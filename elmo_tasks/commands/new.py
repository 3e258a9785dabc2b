"""
Write a first config for a task, or for data of your own.

Write a config for a task: the fields that people change, with a comment for each. Fields that keep
their defaults are commented out. A file that exists is replaced only with --force.

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
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elmo_tasks.commands.options import add_shared
from elmo_tasks.common.errors import require_allennlp
from elmo_tasks.common.package_data import NO_TASKS, config_names, import_jsonnet
from elmo_tasks.common.progress import working
from elmo_tasks.common.text import printable

TASKS = tuple(name for name in config_names() if name not in NO_TASKS)

# The tasks that look at the user's data.
OWN_TASKS = ("classify", "tag")

# The fields that a config sets even to the default.
_SET = ("train_data_path", "validation_data_path", "train_text", "heldout_text", "bilm")

# The words of jsonnet, which name a field only in quotes.
_KEYWORDS = (
    *("assert", "else", "error", "false", "for", "function", "if", "import", "importbin"),
    *("importstr", "in", "local", "null", "self", "super", "tailstrict", "then", "true"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("task", metavar="TASK", choices=TASKS, help=", ".join(TASKS))
    add("file", metavar="FILE", type=Path, help="the config to write, or data of your own")
    add_shared(parser, "--force")
    add = parser.add_argument_group("for data of your own").add_argument
    add("--text", action="append", metavar="NAME", help="a column with texts; twice for two")
    add("--label", metavar="NAME", help="the column with the label")
    add("--separator", metavar="TEXT", help="the separator of labels, if a text has several")
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
    """Returns the file of data, or no file if the argument is the name of a config to write."""
    is_config = args.file.suffix in (".jsonnet", ".libsonnet")
    return [args.file] if args.task in OWN_TASKS and not is_config else []


def run(args: argparse.Namespace) -> None:
    # Without AllenNLP the config could be written, but not used.
    require_allennlp()
    from elmo_tasks.common.files import write_whole
    from elmo_tasks.common.outputs import check_outputs

    config, data = args.file, None
    if inputs(args):
        with working(f"reading {args.file}"):
            import elmo_tasks.plugin  # noqa: F401  registers every name
            from elmo_tasks.commands.own_data.inspect_data import inspect_data

            config, data = inspect_data(args)
    else:
        check_outputs([config], force=args.force)
    if data is None:
        write_whole(config, first_config(args.task, config))
    else:
        data.write()
        print(*map(printable, data.lines), sep="\n")
        write_whole(config, first_config(args.task, config, data.fields, data.lines))
    print(f"Wrote {config}. Train it with: {_command(config)}")
    for note in [] if data is None else data.notes:
        print(printable(note))


def first_config(
    task: str, file: Path, values: Mapping[str, Any] = {}, data_lines: Sequence[str] = ()
) -> str:
    """
    Returns the text of a config for a task, to be saved as `file`. It has the lines `data_lines`,
    which describe the data, as comments, and the fields that people change, with `values`. Fields
    without a value have the defaults of the task's library, and are commented out.
    """
    library = "language_model" if task == "bilm" else task
    values = {"elmo_at": ["input", "output"], **values}
    path, fields = _fields(library)
    blocks = []
    for name, comment, is_found, default in fields:
        if is_found and name not in values:
            continue
        is_set = name in values or name in _SET
        line = f"{name}: {_jsonnet_of(values.get(name, default))},"
        comments = (f"  // {row}" for row in textwrap.wrap(comment, 94, break_on_hyphens=False))
        blocks.append("\n".join([*comments, _field(line, is_set)]))
    head = [
        *data_lines,
        "Train this with",
        f"    {_command(file)}",
        "The lines that are commented out show the defaults. Further fields are in",
        f"{path} and, for all tasks, in docs/choices.md.",
    ]
    lines = "".join(f"// {printable(line)}\n" for line in head)
    body = "\n\n".join(blocks)
    return f"{lines}(import 'elmo_tasks/{library}.libsonnet') {{\n{body}\n}}\n"


def _field(line: str, is_set: bool) -> str:
    return f"  {line}" if is_set else f"  // {line}"


def _fields(library: str) -> tuple[str, list[tuple[str, str, bool, Any]]]:
    """
    Returns the path of a library, and the fields of new.libsonnet that the library has. For each
    field, returns its name, its comment, whether it is written only if it was found in data, and
    its value in the library.
    """
    import _jsonnet

    snippet = f"""
        local library = import 'elmo_tasks/{library}.libsonnet';
        // The paths of a biLM's texts follow from `train_text` and `heldout_text`.
        local follows(name) =
          std.endsWith(name, '_data_path') && std.objectHasAll(library, 'train_text');
        [field + [library[field[0]]] for field in import 'elmo_tasks/new.libsonnet'
         if std.objectHasAll(library, field[0]) && !follows(field[0])]
    """
    path, _ = import_jsonnet("", f"elmo_tasks/{library}.libsonnet")
    fields = _jsonnet.evaluate_snippet("new", snippet, import_callback=import_jsonnet)
    return path, json.loads(fields)


def _jsonnet_of(value: Any) -> str:
    """
    Returns a value as people write it in jsonnet: names without quotes, and short texts in single
    quotes.
    """
    if isinstance(value, list):
        return f"[{', '.join(map(_jsonnet_of, value))}]"
    if isinstance(value, dict):
        fields = ", ".join(f"{_name_of(name)}: {_jsonnet_of(value[name])}" for name in value)
        return f"{{ {fields} }}"
    text = json.dumps(value, ensure_ascii=False)
    is_plain = isinstance(value, str) and text == f'"{value}"' and "'" not in value
    return f"'{value}'" if is_plain else text


def _name_of(field: str) -> str:
    is_name = re.fullmatch(r"[A-Za-z]+", field) is not None and field not in _KEYWORDS
    return field if is_name else json.dumps(field, ensure_ascii=False)


def _command(file: Path) -> str:
    return shlex.join(["elmo-tasks", "train", str(file), "-s", f"runs/{file.stem}"])
