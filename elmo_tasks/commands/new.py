import argparse
import json
import re
import shlex
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from elmo_tasks.commands.catalog import CATALOG
from elmo_tasks.commands.command import Command
from elmo_tasks.common.deferred import HEAVY, deferred
from elmo_tasks.common.errors import ConfigurationError, require_allennlp
from elmo_tasks.common.files import write_whole
from elmo_tasks.common.package_data import config_folder, import_jsonnet
from elmo_tasks.common.spelling import nearest_or_all

# The library of each task, and the fields that a first config sets.
_PATHS = ("train_data_path", "validation_data_path")
_TASKS = {
    "bilm": ("language_model", ("train_text", "heldout_text")),
    **{
        name: (name, (*_PATHS, "elmo_at", "bilm"))
        for name in "classify coref ner snli squad srl sst tag".split()
    },
}

# The meanings of fields that have no comment in their library.
_MEANINGS = {
    "train_data_path": "The text to train on; a path is relative to the folder of the command.",
    "validation_data_path": "The text that chooses the best epoch.",
    "attention_dropout": "Dropout on the words, enhanced by what the attention found.",
    "batch_size": "Instances in a batch.",
    "batch_tokens": "Tokens in a batch of sentences.",
    "bilm": "A biLM: a name, or an object with options and pretrained_file.",
    "cell_dim": "The width of an LSTM's memory.",
    "char_dim": "The width of a character.",
    "clip": "The bound of the values of an LSTM's memory and output.",
    "dropout": "Dropout on the inputs of the layers.",
    "elmo_dropout": "Dropout on ELMo.",
    "filters": "The width of each filter of the character CNN, and how many there are.",
    "fold_digits": "Whether a word's vector is looked up with each digit as 0.",
    "from_archive": "The model.tar.gz of another training to start from, with its softmax.",
    "from_bilm": "A biLM to start from: a name, or an object with options and pretrained_file.",
    "from_softmax": "The name or folder of a packed biLM to start the softmax from; null for none.",
    "granularity": "The classes: '5-class', '3-class' or '2-class'.",
    "grad_norm": "The largest norm of a gradient.",
    "heldout_text": "The text that chooses the best epoch.",
    "hidden_dim": "The width of a recurrent layer in one direction.",
    "learning_rate": "The step of the optimizer.",
    "max_answer_tokens": "The most tokens of an answer.",
    "num_epochs": "The most epochs.",
    "num_highway": "Highway layers above the character CNN.",
    "num_layers": "LSTM layers in each direction.",
    "num_samples": "The words that are drawn for each batch; null computes the full softmax.",
    "num_softmax_batches": "How many batches, from the first, train only the softmax.",
    "num_vector_batches": "The batches in which the character CNN learns to give word vectors.",
    "num_vector_words": "The words with vectors that are drawn for each batch.",
    "optimizer": "The optimizer, with its arguments.",
    "patience": "Epochs without an improvement after which the training ends.",
    "projection_dim": "The width of an LSTM's output in one direction.",
    "save_every_num_seconds": "Seconds between two checkpoints in an epoch.",
    "scheduler": "AllenNLP's learning rate scheduler, with its arguments; null for none.",
    "tag_column": "The column to learn.",
    "vector_weight": "The weight of the error of word vectors beside the language model.",
    "window": "Rows of a batch of windows, and tokens in each.",
}

# The tasks that look at the user's data.
OWN_TASKS = ("classify", "tag")


class Field(NamedTuple):
    """
    A field of a jsonnet library that a config may set.

    # Parameters

    comment: The library's comment above the field.
    source: The library's comment after the field, on the source of the default.
    """

    name: str
    comment: str
    source: str


class New(Command):
    """Writes a first config for a task."""

    name = "elmo-tasks new"
    requires_plugins = False
    help = CATALOG["new"].help
    description = """
Write a config for a task, with every field that its library has and a comment for each. Fields that
keep their defaults are commented out. A file that exists is replaced only with --force.

The tasks classify (texts with labels) and tag (tokens with tags, or spans of them) are for data of
your own. Give their file in place of the config: a table (.csv, .tsv, .xlsx, .parquet), JSON on
each line (.jsonl), CoNLL-U (.conllu) or columns. The command finds its columns by their names,
draws a part of it for validation, and writes FILE.jsonnet and the folder FILE with both parts here.
"""
    examples = """
examples:
  elmo-tasks new classify reviews.csv
  elmo-tasks train reviews.jsonnet -s runs/reviews
  elmo-tasks new tag english.conllu --column xpos
  elmo-tasks new sst mine.jsonnet
"""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("task", metavar="TASK", type=_task, help=", ".join(_TASKS))
        add("file", metavar="FILE", type=Path, help="the config to write, or data of your own")
        own = parser.add_argument_group("for data of your own")
        add = own.add_argument
        add("--text", action="append", metavar="NAME", help="a column with texts; twice for two")
        add("--label", metavar="NAME", help="the column with the label")
        add("--separator", metavar="TEXT", help="what separates labels, if a text has several")
        add("--column", metavar="NAME", help="the column or field with the tags, such as xpos")
        add("--language", default="en", metavar="CODE", help="spaCy's code (default: en)")
        add("--dev", metavar="FILE", type=Path, help="data for validation; then no part is drawn")
        add("--seed", type=int, default=1, help="the seed of the draw for validation (default: 1)")
        add(
            "--no-header",
            action="store_true",
            help="the first line of a table is a row; its columns are named 1, 2, ...",
        )
        parser.add_argument("--force", action="store_true", help="replace what is there")

    def run(self, args: argparse.Namespace) -> None:
        # Without AllenNLP the config could be written, but not used.
        require_allennlp()
        if args.task in OWN_TASKS and args.file.suffix not in (".jsonnet", ".libsonnet"):
            # The import is here so that the other tasks do not wait for it.
            with deferred(*HEAVY):
                from elmo_tasks.own_data.first_look import look

            config, found = look(args)
            _refuse_existing(config, args.force)
            found.write()
            for line in (*found.lines, *found.notes):
                print(line)
            text = first_config(args.task, config, found.fields, found.lines)
        else:
            config, found = args.file, None
            _refuse_existing(config, args.force)
            text = first_config(args.task, config)
        write_whole(config, text)
        print(f"Wrote {config}. Train it with: {_command(config)}")
        if found is not None and found.is_small:
            print(
                "Of so few examples, one part for validation says little: --folds 5 behind this "
                "command trains five times more, and says how far the scores differ."
            )


def _task(name: str) -> str:
    if name not in _TASKS:
        raise argparse.ArgumentTypeError(f"there is no task {name!r}{nearest_or_all(name, _TASKS)}")
    return name


def _refuse_existing(config: Path, force: bool) -> None:
    if config.exists() and not force:
        raise ConfigurationError(
            f"{config} exists; choose another name, or replace it with --force"
        )


def first_config(
    task: str, file: Path, values: dict[str, Any] | None = None, found: Sequence[str] = ()
) -> str:
    """
    Returns the text of a config for a task, to be saved as `file`.

    # Parameters

    values: Values that are set in place of the library's.
    found: Lines about the data, for the head of the config.
    """
    library, chosen = _TASKS[task]
    values = values or {}
    chosen = (*chosen, *(name for name in values if name not in chosen))
    libraries = [library] if task == "bilm" else ["base", library]
    fields: dict[str, Field] = {}
    for field in (field for name in libraries for field in _fields(name)):
        # The comment of a task is added to the comment of its base.
        base = fields.get(field.name, field._replace(comment=""))
        comment = f"{base.comment} {field.comment}".strip()
        fields[field.name] = field._replace(comment=comment)
    names = [*chosen, *(name for name in fields if name not in chosen)]
    defaults = _defaults(library, names)
    defaults["elmo_at"] = ["input", "output"]
    defaults |= values
    blocks = []
    for name in names:
        field = fields.get(name, Field(name, "", ""))
        comment = f"{_MEANINGS.get(name, field.comment)} {field.source}".strip()
        lines = textwrap.wrap(comment, 92, initial_indent="  // ", subsequent_indent="  // ")
        mark = "" if name in chosen else "// "
        blocks.append("\n".join([*lines, f"  {mark}{name}: {_written(defaults[name])},"]))
    return (
        "".join(f"// {line}\n" for line in found) + f"// Train this with\n//     {_command(file)}\n"
        f"// The lines that are commented out show the defaults.\n"
        f"(import 'elmo_tasks/{library}.libsonnet') {{\n" + "\n\n".join(blocks) + "\n}\n"
    )


def _command(file: Path) -> str:
    return shlex.join(["elmo-tasks", "train", str(file), "-s", f"runs/{file.stem}"])


def _fields(library: str) -> Iterator[Field]:
    """Yields those fields of a library whose default is on one line, in order."""
    text = (config_folder() / "lib" / f"{library}.libsonnet").read_text(encoding="utf-8")
    # Fields that follow from other fields are left out.
    text = text.partition("// The fields below follow from the choices.")[0]
    pattern = r"((?:^  //.*\n)*)^  (\w+):: .*,(?:  // (.*))?$"
    for match in re.finditer(pattern, text, re.MULTILINE):
        above = [line.strip().removeprefix("//").strip() for line in match[1].splitlines()]
        # A comment for several fields ends with an empty line.
        last = len(above) - above[::-1].index("") if "" in above else 0
        yield Field(match[2], " ".join(above[last:]), match[3] or "")


def _defaults(library: str, names: list[str]) -> dict[str, Any]:
    """Returns the values that fields have in a library."""
    import _jsonnet

    fields = ", ".join(f"{name}: std.get(library, '{name}')" for name in names)
    snippet = f"local library = import 'elmo_tasks/{library}.libsonnet'; {{ {fields} }}"
    return json.loads(_jsonnet.evaluate_snippet("", snippet, import_callback=import_jsonnet))


def _written(value: Any) -> str:
    """Returns a value in jsonnet, as the shipped configs write it."""
    if isinstance(value, dict):
        inside = ", ".join(f"{name}: {_written(child)}" for name, child in value.items())
        return f"{{ {inside} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return f"'{value}'" if isinstance(value, str) else json.dumps(value)
