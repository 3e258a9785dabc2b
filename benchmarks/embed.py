"""
Compares the speed of `elmo-tasks embed` with AllenNLP's own ELMo: same biLM, same lines, one
process. Prints a table in Markdown.

    python benchmarks/embed.py my/text.txt --lines 10000 --threads 1

Five ways take turns, some lines at a time, so that other work on the machine slows down all of
them:

- `elmo-embed` reads a file and writes HDF5.
- `ElmoEncoder` leaves the layers in memory.
- The component `elmo` of spaCy leaves the mean of the layers in docs.
- AllenNLP's `_ElmoBiLm`, the part of its `Elmo` below the mix, leaves them in memory too. It runs
  on batches of 64 lines in the order of the text, as the old command `elmo` did.
- The same `_ElmoBiLm` runs on batches of lines of similar length.
"""

import argparse
import contextlib
import io
import tempfile
import time
from collections.abc import Callable
from datetime import date
from itertools import islice
from pathlib import Path

import h5py
import numpy
import spacy
import torch
from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids
from spacy.tokens import Doc
from tqdm import tqdm

import elmo_tasks.plugin  # noqa: F401  mends AllenNLP
from benchmarks.machine import machine
from elmo_tasks.bilm import FrozenBiLm, make_bilm
from elmo_tasks.bilm.files.known_bilms import KNOWN_BILMS
from elmo_tasks.bilm.files.read_options import read_options
from elmo_tasks.common.text_files import read_lines
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.embed.embed import embed
from elmo_tasks.spacy import ElmoComponent

Sentences = list[list[str]]
# The layers of each sentence: shape (num_layers, length, dim).
Layers = list[numpy.ndarray]

MINI = Path(KNOWN_BILMS["mini"])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("text", help="one tokenized sentence a line; plain, .gz or .xz")
    add("--options-file", type=Path, default=MINI.with_name("options.json"), help="default: mini")
    add("--weight-file", type=Path, default=MINI, help="default: mini")
    add("--lines", type=int, default=10_000, help="lines of the text to read (default: 10000)")
    add("--turn", type=int, default=1000, help="lines in a turn (default: 1000)")
    add("--batch-size", type=int, default=64, help="lines in a batch of AllenNLP's (default: 64)")
    add("--threads", type=int, default=torch.get_num_threads(), help="default: PyTorch's choice")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    sentences = [line.split() for line in islice(read_lines(arguments.text), arguments.lines)]
    sentences = [words for words in sentences if words]
    seconds, error = measure(sentences, arguments)
    print(heading(sentences, arguments))
    print("| what | tokens/s | against AllenNLP's |\n| --- | --- | --- |")
    theirs, num_tokens = seconds["AllenNLP's, lines as they come"], sum(map(len, sentences))
    for name, taken in seconds.items():
        print(f"| {name} | {num_tokens / taken:,.0f} | {theirs / taken:.1f} |")
    print(f"\nLargest difference from AllenNLP's layers: {error:.0e}")


def measure(sentences: Sentences, arguments: argparse.Namespace) -> tuple[dict[str, float], float]:
    """Returns the seconds of each way, and the largest difference between the vectors."""
    options = read_options(arguments.options_file)
    # AllenNLP's biLM starts from zeros after its state was reset.
    bilm = make_bilm(options, str(arguments.weight_file), state="reset").eval()
    # Two encoders, so that neither finds tokens in its cache that the other has computed.
    encoder, another = ElmoEncoder(bilm), ElmoEncoder(FrozenBiLm.of(bilm))
    with tempfile.TemporaryDirectory() as folder:
        # In float32, because AllenNLP's loader rounds some weights of a float16 file once more.
        bilm.to_files(folder)
        theirs = _ElmoBiLm(f"{folder}/options.json", f"{folder}/weights.hdf5").eval()
        text, hdf5 = Path(folder) / "text.txt", Path(folder) / "text.hdf5"
        nlp = spacy.blank("en")
        component = ElmoComponent(nlp, "elmo", bilm=folder)

        def write(_: Sentences) -> Layers:
            hdf5.unlink(missing_ok=True)
            with (
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                embed(Corpus([text]), hdf5, encoder.layers)
            return []

        def annotate(turn: Sentences) -> Layers:
            docs = component.pipe((Doc(nlp.vocab, words) for words in turn), batch_size=len(turn))
            return [doc._.elmo for doc in docs]

        def sorted_first(turn: Sentences) -> Layers:
            return upstream(theirs, sorted(turn, key=len), arguments.batch_size)

        runs: dict[str, Callable[[Sentences], Layers]] = {
            "elmo-embed, text to HDF5": write,
            "`ElmoEncoder`, in memory": lambda turn: [
                part.numpy() for part in another.layers(turn)
            ],
            "spaCy's component `elmo`": annotate,
            "AllenNLP's, lines as they come": lambda turn: upstream(
                theirs, turn, arguments.batch_size
            ),
            "AllenNLP's, lines of like length": sorted_first,
        }
        seconds, error = dict.fromkeys(runs, 0.0), 0.0
        for start in tqdm(range(0, len(sentences), arguments.turn)):
            turn = sentences[start : start + arguments.turn]
            text.write_text("".join(" ".join(words) + "\n" for words in turn), encoding="utf-8")
            found = {}
            for name, run in runs.items():
                begun = time.perf_counter()
                found[name] = run(turn)
                seconds[name] += time.perf_counter() - begun
            expected = found["AllenNLP's, lines as they come"]
            means = [layers.mean(axis=0) for layers in expected]
            error = max(
                error,
                largest_difference(hdf5, expected),
                *map(_difference, found["spaCy's component `elmo`"], means),
            )
    return seconds, error


def upstream(bilm: _ElmoBiLm, sentences: Sentences, batch_size: int) -> Layers:
    layers = []
    for start in range(0, len(sentences), batch_size):
        batch = sentences[start : start + batch_size]
        bilm._elmo_lstm.reset_states()
        with torch.no_grad():
            # Shape: (batch, num_layers, length + 2, dim)
            bounded = torch.stack(bilm(batch_to_ids(batch))["activations"], dim=1).numpy()
        layers += [row[:, 1 : len(words) + 1] for row, words in zip(bounded, batch)]
    return layers


def largest_difference(hdf5: Path, layers: Layers) -> float:
    with h5py.File(hdf5, "r") as file:
        return max(
            _difference(file[str(index)][...], expected) for index, expected in enumerate(layers)
        )


def _difference(one: numpy.ndarray, other: numpy.ndarray) -> float:
    return float(numpy.abs(one - other).max())


def heading(sentences: Sentences, arguments: argparse.Namespace) -> str:
    return (
        f"{date.today()}, {machine()}, {arguments.threads} thread(s), torch {torch.__version__}, "
        f"{len(sentences):,} lines and {sum(map(len, sentences)):,} tokens of "
        f"{Path(arguments.text).name}, {arguments.turn:,} lines a turn\n"
    )


if __name__ == "__main__":
    main()
