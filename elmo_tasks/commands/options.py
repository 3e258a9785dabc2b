"""The options that several commands have, and the functions that read them."""

import argparse
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from elmo_tasks.common.errors import ConfigurationError, require_package
from elmo_tasks.common.file_names import OPTIONS_FILE, WEIGHTS_FILES
from elmo_tasks.common.package_data import BILMS, TRAINED, pretrained_files
from elmo_tasks.common.progress import working
from elmo_tasks.common.text import printable

# PyTorch is imported only when a command runs, and matplotlib only for a chart.
if TYPE_CHECKING:
    import torch
    from matplotlib.figure import Figure

    from elmo_tasks.elmo.opening import Opened
    from elmo_tasks.embed.corpus import Corpus


def _one_of(names: Iterable[str]) -> str:
    return " or ".join(", ".join(names).rsplit(", ", 1))


# Names for the help, which must not import PyTorch. The first biLM of the table is the default.
NAMED_BILMS = _one_of(BILMS).replace(",", " (the default),", 1)
MODELS = _one_of(TRAINED)


def whole_number(least: int, text: str) -> int:
    """Returns the number in an option's text. `partial(whole_number, 1)` is the option's type."""
    if text.isascii() and text.isdigit() and int(text) >= least:
        return int(text)
    raise argparse.ArgumentTypeError(f"expected a whole number of at least {least}, not {text!r}")


COUNT = partial(whole_number, 1)

# The options that several commands have, with their arguments of `add_argument`.
_SHARED: dict[str, dict[str, Any]] = {
    "archive_file": {
        "metavar": "MODEL",
        "help": f"the name of a model of this package ({MODELS}); the folder or the model.tar.gz "
        "of a training run; a folder of elmo-tasks pack; or a repository on the Hugging Face hub",
    },
    "--column": {
        "metavar": "NAME",
        "help": "the column or JSON field that has the texts (default: sentence or text)",
    },
    "--cuda-device": {
        "type": int,
        "default": -1,
        "metavar": "I",
        "help": "the GPU's index (default: the CPU)",
    },
    "--dtype": {
        "choices": ("auto", "float32", "bfloat16"),
        "help": "the dtype of the biLM's matrix products: float32; bfloat16, which is faster on a "
        "CPU or GPU that has units for it, with relative errors of 0.5 %%; or auto, the faster of "
        "the two (default: that of the archive's config, otherwise float32)",
    },
    "--language": {
        "metavar": "CODE",
        "default": "en",
        "help": "spaCy's code of the language of raw text, such as de or zh (default: en)",
    },
    "--force": {"action": "store_true", "help": "replace an output that exists"},
    "--output": {"metavar": "OUT"},
    "--overrides": {
        "metavar": "JSON",
        "default": "",
        "help": "an object with changes to the config, such as '{\"trainer.num_epochs\": 3}'",
    },
    "--split": {
        "action": "store_true",
        "help": "the text is raw: cut each line into sentences and tokens by spaCy's rules",
    },
    # The number of threads is set before a command runs.
    "--threads": {
        "type": COUNT,
        "metavar": "N",
        "help": "threads of each PyTorch operator (default: OMP_NUM_THREADS, otherwise a quarter "
        "of the cores, and a biLM that is not trained computes two parts of a batch at once)",
    },
}
_OTHER_NAMES = {"--force": "-f", "--output": "--output-file", "--overrides": "-o"}


def add_shared(parser: Any, *names: str, **changes: Any) -> None:
    """Adds options that several commands have. `changes` are other arguments of `add_argument`."""
    for name in names:
        short_names = [_OTHER_NAMES[name]] if name in _OTHER_NAMES else []
        parser.add_argument(name, *short_names, **{**_SHARED[name], **changes})


def add_count(parser: Any, names: str, default: int | None, text: str, metavar: str = "N") -> None:
    """Adds an option for a number of at least 1. The help of the option ends with the default."""
    default_text = "" if default is None else f" (default: {default})"
    settings: dict[str, Any] = {
        "default": default,
        "metavar": metavar,
        "help": f"{text}{default_text}",
    }
    parser.add_argument(*names.split(), type=COUNT, **settings)


def add_bilm(parser: argparse.ArgumentParser) -> None:
    """Adds the options that `open_from_args` reads."""
    add = parser.add_argument
    add(
        "--bilm",
        metavar="NAME|FOLDER|ARCHIVE",
        help=f"a known biLM ({NAMED_BILMS}), a folder with options.json and weights.hdf5, a zip "
        "file of them as in the NLPL repository, a repository of these files on the Hugging Face "
        "hub (owner/name@revision), or a model that contains a biLM: its name, model.tar.gz or "
        "folder",
    )
    add("--options", metavar="FILE", help="the options.json of a biLM")
    add("--weights", metavar="FILE", help="the weights.hdf5 of a biLM")
    add_shared(parser, "--dtype", "--cuda-device", "--threads")


def device_of(args: argparse.Namespace) -> "torch.device":
    """Returns the device that `--cuda-device` names, if this machine has it."""
    import torch

    count, index = torch.cuda.device_count(), args.cuda_device
    if index >= count:
        gpus = f"the GPUs 0 to {count - 1}" if count else "no GPU"
        raise ConfigurationError(f"--cuda-device {index}: PyTorch finds {gpus} here")
    return torch.device("cpu" if index < 0 else f"cuda:{index}")


def open_from_args(args: argparse.Namespace) -> "Opened":
    """Opens the biLM that the options name."""
    with working("opening the biLM"):
        from elmo_tasks.elmo.locate import DEFAULT_BILM
        from elmo_tasks.elmo.opening import open_elmo

        name: Any = args.bilm or DEFAULT_BILM
        files = args.options, args.weights
        if any(files):
            if not all(files) or args.bilm is not None:
                raise ConfigurationError(
                    "give --options together with --weights and without --bilm"
                )
            name = files
        return open_elmo(name, device=device_of(args), dtype=args.dtype)


def check_written(args: argparse.Namespace, *inputs: str | os.PathLike) -> None:
    """
    Raises `ConfigurationError` if a file of `--output`, `--json` or `--chart` is an input, or if it
    exists and `--force` is not given (see `check_outputs`). A command calls this before it reads
    anything. `inputs` are the inputs of the command, without the biLM that the options name.
    """
    from elmo_tasks.common.outputs import check_outputs

    json_file = getattr(args, "json", None)
    files = [getattr(args, name, None) for name in ("output", "chart")]
    files.append(None if json_file == "-" else json_file)
    if any(file is not None for file in files):
        check_outputs(files, [*map(package_folder, inputs), *bilm_inputs(args)], args.force)


def bilm_inputs(args: argparse.Namespace) -> list[str]:
    """Returns the paths of the biLM that the options `--bilm`, `--options`, `--weights` name."""
    names = [getattr(args, name, None) for name in ("bilm", "options", "weights")]
    files = [package_folder(name) for name in names if name is not None]
    # The options of a biLM are beside its weights, and their names begin alike.
    options = [
        file.removesuffix(weights) + OPTIONS_FILE
        for file in files
        for weights in WEIGHTS_FILES
        if file.endswith(weights)
    ]
    return files + options


def package_folder(name: str | os.PathLike) -> str:
    """Returns the folder of a biLM or model of this package. Returns any other name as it is."""
    if os.path.exists(name):
        return os.fspath(name)
    pretrained = {**pretrained_files("*/weights.hdf5"), **pretrained_files("models/*/config.json")}
    return os.path.dirname(pretrained[str(name)]) if name in pretrained else os.fspath(name)


def add_texts(parser: argparse.ArgumentParser) -> None:
    """Adds the options for texts of any format, which `texts_from_args` reads."""
    add = parser.add_argument
    add(
        "input_file",
        metavar="FILE",
        nargs="+",
        help="the path, glob pattern or address (s3://... and others, by fsspec) of a text, or - "
        "for the standard input: plain, a table (.csv, .tsv) whose first line names the columns, "
        "or JSON lines (.jsonl), each also as .gz or .xz; or Parquet (.parquet)",
    )
    add_shared(parser, "--column")


@contextmanager
def texts_from_args(args: argparse.Namespace) -> "Iterator[Corpus]":
    """Opens the texts that `add_texts` names."""
    from elmo_tasks.common.text_files import copy_of_stdin
    from elmo_tasks.embed.corpus import Corpus

    with copy_of_stdin() if args.input_file == ["-"] else nullcontext() as copy:
        files = args.input_file if copy is None else [copy]
        yield Corpus(files, args.column, splitter_of(args))


def add_report(parser: argparse.ArgumentParser, has_chart: bool = True) -> None:
    """Adds the options that `deliver` reads."""
    parser.add_argument(
        "--json",
        metavar="FILE",
        help="write the numbers as JSON, too; with -, print them instead of the text",
    )
    if has_chart:
        parser.add_argument("--chart", metavar="FILE", help="draw a chart, too, as PNG")
    add_shared(parser, "--force")


def deliver(
    args: argparse.Namespace,
    text: str,
    numbers: Mapping[str, Any],
    draw: "Callable[[], Figure] | None" = None,
) -> None:
    """
    Prints the text of a report, or with `--json -` its numbers, and writes the files of `--json`
    and `--chart`.
    """
    from elmo_tasks.common.files import atomic_write, write_whole

    content = json.dumps(numbers, indent=2, ensure_ascii=False)
    # A label or name from an archive may contain control characters.
    print(content if args.json == "-" else "\n".join(map(printable, text.split("\n"))))
    if args.json not in (None, "-"):
        write_whole(args.json, content + "\n")
    if draw is not None and args.chart is not None:
        with atomic_write(args.chart) as aside:
            draw().savefig(aside, format="png", dpi=150)


def splitter_of(args: argparse.Namespace) -> Callable[[str], list[str]] | None:
    """Returns the function that cuts a text for `--split`, or `None` without the option."""
    if not args.split:
        return None
    require_package("spacy")
    from elmo_tasks.readers.spacy_pipeline import blank_pipeline, tokenized_sentences

    # The pipeline is made here, so that a wrong language code is noticed before the text is read.
    blank_pipeline(args.language)
    return partial(tokenized_sentences, language=args.language)
