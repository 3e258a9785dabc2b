"""Each JSON file of this folder, with its cases and the tolerances of its numbers."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tests.golden import commands
from tests.golden.layers import layers, words_bilm
from tests.golden.losses import first_losses
from tests.golden.models import INPUTS, answers, in_float32
from tests.helpers import many_langs
from tests.helpers.configs import shipped, tiny

FOLDER = Path(__file__).parent


class Golden(NamedTuple):
    """
    A JSON file.

    # Parameters

    cases: By its name, what computes a case from an empty folder.
    rel, abs: The tolerances of numbers, which CPUs with and without AVX-512 keep.
    """

    cases: dict[str, Callable[[Path], Any]]
    rel: float
    abs: float


def of_model(name: str, folder: Path) -> dict[str, Any]:
    """Returns what `evaluate` and `errors` say of a trained model."""
    model = in_float32(name, folder / name)
    data = tiny(name, "both")["validation_data_path"]
    return {
        "evaluate": commands.evaluated(model, data, folder),
        "errors": commands.numbers("errors", model, data),
    }


FILES = {
    "layers": Golden(
        {
            "characters": lambda folder: layers("fixtures/bilm"),
            "words": lambda folder: layers(words_bilm(folder / "words")),
            "many_langs": lambda folder: layers(many_langs.write(folder / "many_langs")),
            "mini": lambda folder: layers("mini"),
        },
        rel=1e-4,
        abs=1e-5,
    ),
    # What depends on the biLM `base`. A new one makes this file anew.
    "base": Golden(
        {
            "layers": lambda folder: layers("base"),
            **{name: partial(answers, name) for name in INPUTS},
            **{f"commands/{name}": partial(of_model, name) for name in INPUTS},
            "score": partial(commands.score, "--sums", model="base"),
        },
        rel=1e-3,
        abs=1e-3,
    ),
    "losses": Golden(
        {
            f"{task}/{variant}": partial(first_losses, task, variant)
            for task, variant in shipped()
            if task != "probe"
        },
        rel=5e-4,
        abs=0,
    ),
    "commands": Golden(
        {
            "embed": partial(commands.embed, ""),
            "embed --top": partial(commands.embed, "--top"),
            "embed --average": partial(commands.embed, "--average"),
            "embed --mix": partial(commands.embed, "--mix --place output", bilm=commands.SST),
            "embed --words": commands.embed_words,
            "embed to Parquet": commands.embed_parquet,
            "score": partial(commands.score, ""),
            "score --sums": partial(commands.score, "--sums"),
            "score --context": partial(commands.score, "--sums --context 1"),
            "neighbors": partial(commands.neighbors, ""),
            "neighbors --sentence": partial(
                commands.neighbors, "They saw a play in the old house ."
            ),
            "check": commands.check,
            "mix": lambda folder: commands.numbers("mix", commands.SST),
            "export": partial(commands.export, ""),
            "export --dtype float16": partial(commands.export, "--dtype float16"),
            "pack": commands.pack,
            "store": commands.store,
            "probe pos": partial(commands.probe, "pos", "fixtures/ner.txt"),
            "probe senses": partial(commands.probe, "senses", "fixtures/senses.txt"),
            "ablation": commands.ablation,
            "errors --against": commands.errors_against,
            "new sst": lambda folder: commands.new(folder, "sst", "mine.jsonnet"),
            "new classify": lambda folder: commands.new(
                folder, "classify", Path("fixtures/classify.csv").resolve()
            ),
            "new tag": lambda folder: commands.new(
                folder, "tag", Path("fixtures/tag.conllu").resolve()
            ),
            "predict a table": commands.predict_table,
        },
        rel=1e-3,
        abs=1e-3,
    ),
}
