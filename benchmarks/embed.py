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
from pathlib import Path

import h5py
import numpy
import spacy
import torch
from allennlp.common.util import lazy_groups_of
from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids
from spacy.tokens import Doc
from tqdm import tqdm

import elmo_tasks.plugin  # noqa: F401  mends AllenNLP
from benchmarks.harness import parser, report, sentences_of
from elmo_tasks.bilm import FrozenBiLm, make_bilm
from elmo_tasks.elmo.encoder import ElmoEncoder
from elmo_tasks.elmo.locate import locate_bilm
from elmo_tasks.embed.corpus import Corpus
from elmo_tasks.embed.embed import embed
from elmo_tasks.spacy import ElmoComponent

Sentences = list[list[str]]
# The layers of each sentence: shape (num_layers, length, dim).
Layers = list[numpy.ndarray]

SPACY, UPSTREAM = "spaCy's component `elmo`", "AllenNLP's, lines as they come"


def main() -> None:
    options = parser("embed", __doc__, threads=True)
    add = options.add_argument
    add("text", help="one tokenized sentence a line; plain, .gz or .xz")
    add("--bilm", default="mini", help="a name or a folder (default: mini)")
    add("--lines", type=int, default=10_000, help="lines of the text to read (default: 10000)")
    add("--turn", type=int, default=1000, help="lines in a turn (default: 1000)")
    add("--batch-size", type=int, default=64, help="lines in a batch of AllenNLP's (default: 64)")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)
    sentences = sentences_of(arguments.text, arguments.lines)
    seconds, error = measure(sentences, arguments)
    num_tokens = sum(map(len, sentences))
    report(
        ["what", "tokens/s", "against AllenNLP's"],
        [
            [name, f"{num_tokens / duration:,.0f}", f"{seconds[UPSTREAM] / duration:.1f}"]
            for name, duration in seconds.items()
        ],
        f"{len(sentences):,} lines and {num_tokens:,} tokens of {Path(arguments.text).name}",
        f"{arguments.turn:,} lines a turn",
    )
    print(f"\nLargest difference from AllenNLP's layers: {error:.0e}")


def measure(sentences: Sentences, arguments: argparse.Namespace) -> tuple[dict[str, float], float]:
    """Returns the seconds of each way, and the largest difference between the vectors."""
    # AllenNLP's biLM starts from zeros after its state was reset.
    bilm = make_bilm(*locate_bilm(arguments.bilm).files, state="reset").eval()
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
            quiet = io.StringIO()
            with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
                embed(Corpus([text]), hdf5, encoder)
            return []

        def annotate(turn: Sentences) -> Layers:
            docs = component.pipe((Doc(nlp.vocab, words) for words in turn), batch_size=len(turn))
            return [doc._.elmo for doc in docs]

        size = arguments.batch_size
        runs: dict[str, Callable[[Sentences], Layers]] = {
            "elmo-embed, text to HDF5": write,
            "`ElmoEncoder`, in memory": lambda turn: [
                part.numpy() for part in another.layers(turn)
            ],
            SPACY: annotate,
            UPSTREAM: lambda turn: upstream(theirs, turn, size),
            "AllenNLP's, lines of like length": lambda turn: upstream(
                theirs, sorted(turn, key=len), size
            ),
        }
        seconds, error = dict.fromkeys(runs, 0.0), 0.0
        for turn in tqdm(list(lazy_groups_of(sentences, arguments.turn)), leave=False):
            text.write_text("".join(" ".join(words) + "\n" for words in turn), encoding="utf-8")
            outputs = {}
            for name, run in runs.items():
                start = time.perf_counter()
                outputs[name] = run(turn)
                seconds[name] += time.perf_counter() - start
            with h5py.File(hdf5, "r") as file:
                layers_of_turn = [file[str(index)][...] for index in range(len(turn))]
            pairs = [*zip(layers_of_turn, outputs[UPSTREAM])]
            pairs += zip(outputs[SPACY], (layers.mean(axis=0) for layers in outputs[UPSTREAM]))
            error = max(error, *(float(numpy.abs(one - other).max()) for one, other in pairs))
    return seconds, error


def upstream(bilm: _ElmoBiLm, sentences: Sentences, batch_size: int) -> Layers:
    layers = []
    for batch in lazy_groups_of(sentences, batch_size):
        bilm._elmo_lstm.reset_states()
        with torch.no_grad():
            # Shape: (batch, num_layers, length + 2, dim)
            bounded = torch.stack(bilm(batch_to_ids(batch))["activations"], dim=1).numpy()
        layers += [row[:, 1 : len(words) + 1] for row, words in zip(bounded, batch)]
    return layers


if __name__ == "__main__":
    main()
