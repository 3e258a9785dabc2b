"""
Measures how often a language model prefers the good sentence of BLiMP's minimal pairs (Warstadt et
al. 2020), by the log probability of the whole sentence: forward, backward, and the sum of both.
Prints a table in Markdown, by phenomenon, beside the published results, and draws a chart.

    python -m benchmarks.blimp blimp.jsonl.gz --bilm base my-language-model --chart blimp.png

The data are lines of JSON as in BLiMP's repository: the 67 files one after another, or a part of
each. Sentences are cut into tokens by spaCy's rules. An accuracy is the mean of its paradigms.
"""

from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from matplotlib.figure import Figure
from tqdm import tqdm

from benchmarks.harness import parser, report
from elmo_tasks.common.records import read_records
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.readers.spacy_pipeline import blank_pipeline

FIELDS = ("sentence_good", "sentence_bad", "UID", "linguistics_term", "field")
DIRECTIONS = ("forward", "backward", "both")

# The accuracies of whole sentences, in percent, in models_summary.jsonl of
# github.com/alexwarstadt/blimp (CC BY 4.0), on all 1,000 pairs of each paradigm. The paper's table
# has 81.5 for GPT-2 overall.
PUBLISHED_MODELS = ("5-gram", "LSTM", "Transformer-XL", "GPT-2")
PUBLISHED = {
    "anaphor_agreement": (47.9, 91.7, 94.1, 99.3),
    "argument_structure": (71.9, 73.2, 72.2, 81.8),
    "binding": (64.4, 73.5, 74.7, 80.9),
    "control_raising": (68.5, 67.0, 71.5, 81.9),
    "determiner_noun_agreement": (70.1, 85.4, 83.0, 95.8),
    "ellipsis": (36.9, 67.6, 77.2, 89.4),
    "filler_gap_dependency": (60.2, 73.9, 66.6, 81.3),
    "irregular_forms": (79.5, 89.1, 78.2, 91.9),
    "island_effects": (57.2, 46.6, 48.3, 72.7),
    "npi_licensing": (45.5, 51.7, 55.2, 76.8),
    "quantifiers": (53.5, 64.5, 69.3, 79.0),
    "subject_verb_agreement": (60.3, 80.1, 76.0, 86.4),
    "overall": (61.2, 69.8, 69.6, 83.0),
}


class Pair(NamedTuple):
    """
    A minimal pair.

    # Parameters

    good, bad: The tokens of the two sentences.
    """

    good: list[str]
    bad: list[str]
    paradigm: str
    phenomenon: str
    field: str


class Result(NamedTuple):
    """
    The accuracy of a model in each direction, from 0 to 1.

    # Parameters

    groups: By field and by phenomenon, and `overall`: means of their paradigms.
    unknown: The share of tokens that the softmax does not know.
    """

    groups: dict[str, dict[str, float]]
    unknown: float


def read_pairs(path: str) -> list[Pair]:
    """Reads the pairs of a file of JSON lines. Raises `ValueError` with file and line."""
    tokenizer = blank_pipeline("en").tokenizer
    pairs = []
    for file, line, fields in read_records(path, "json"):
        if missing := [name for name in FIELDS if name not in fields]:
            raise ValueError(f"{file}:{line}: expected a pair of BLiMP, which has {missing}")
        *texts, paradigm, phenomenon, field = (str(fields[name]) for name in FIELDS)
        good, bad = ([token.text for token in tokenizer(text)] for text in texts)
        # The results and most of the data have other names for these.
        phenomenon = phenomenon.replace("s-selection", "argument_structure")
        pairs.append(Pair(good, bad, paradigm, phenomenon, field.replace("/", "_")))
    if not pairs:
        raise ValueError(f"{path} has no pair")
    return pairs


def measure(model: LanguageModel, pairs: list[Pair]) -> Result:
    """Returns the accuracies of a model."""
    sentences = [sentence for pair in pairs for sentence in (pair.good, pair.bad)]
    num_tokens = num_unknown = 0
    sums: list[tuple[float, float, float]] = []
    for score in tqdm(model.iterate(sentences), total=len(sentences), delay=3, unit=" sentences"):
        forward, backward = score.forward_sum, score.backward_sum
        sums.append((forward, backward, forward + backward))
        num_tokens += len(score.tokens)
        num_unknown += score.known.count(False)
    right: dict[str, list[list[bool]]] = defaultdict(list)
    for pair, good, bad in zip(pairs, sums[::2], sums[1::2]):
        right[pair.paradigm].append([one > other for one, other in zip(good, bad)])
    paradigms = {
        name: dict(zip(DIRECTIONS, map(fmean, zip(*answers)))) for name, answers in right.items()
    }
    members: dict[str, set[str]] = defaultdict(set)
    for pair in pairs:
        for group in (f"field {pair.field}", pair.phenomenon, "overall"):
            members[group].add(pair.paradigm)
    groups = {
        group: {way: fmean(paradigms[name][way] for name in names) for way in DIRECTIONS}
        for group, names in sorted(members.items())
    }
    return Result(groups, num_unknown / num_tokens)


def rows(results: dict[str, Result]) -> list[list[str]]:
    """Returns the accuracies in percent, by field and phenomenon, beside the published ones."""
    lines = []
    groups = next(iter(results.values())).groups
    for group in sorted(groups, key=lambda name: (name == "overall", "field" in name, name)):
        own = [f"{100 * r.groups[group][way]:.1f}" for r in results.values() for way in DIRECTIONS]
        lines.append([group.replace("_", " "), *own, *map(str, PUBLISHED.get(group, [""] * 4))])
    return lines


def draw(results: dict[str, Result], path: Path) -> None:
    """Draws the forward accuracies by phenomenon beside the published LSTM's and GPT-2's."""
    names = [name for name in PUBLISHED if name in next(iter(results.values())).groups]
    figure = Figure((8, 5), layout="tight")
    axes = figure.subplots()
    rows = range(len(names))
    for index, label in ((1, "LSTM (published)"), (3, "GPT-2 (published)")):
        axes.plot([PUBLISHED[name][index] for name in names], rows, "|", ms=12, mew=2, label=label)
    for label, result in results.items():
        shares = [100 * result.groups[name]["forward"] for name in names]
        axes.plot(shares, rows, "o", label=f"{label}, forward")
    axes.axvline(50, color="0.8", zorder=0)
    axes.set(xlabel="accuracy (%)", yticks=rows, yticklabels=[n.replace("_", " ") for n in names])
    axes.invert_yaxis()
    axes.legend(fontsize=8)
    figure.savefig(path, dpi=150)


def main() -> None:
    options = parser("blimp", __doc__)
    add = options.add_argument
    add("data", help="pairs as lines of JSON; plain, .gz or .xz")
    add("--bilm", nargs="+", default=["base"], help="language models (default: base)")
    add("--chart", type=Path, help="draw a chart, as PNG")
    args = options.parse_args()
    pairs = read_pairs(args.data)
    results = {
        Path(name).name: measure(LanguageModel.from_pretrained(name), pairs) for name in args.bilm
    }
    unknown = ", ".join(f"{name} {100 * result.unknown:.1f} %" for name, result in results.items())
    columns = [f"{name}, {way}" for name in results for way in DIRECTIONS]
    about = f"{len(pairs):,} pairs; unknown tokens: {unknown}"
    report(["phenomenon", *columns, *PUBLISHED_MODELS], rows(results), about)
    if args.chart is not None:
        draw(results, args.chart)


if __name__ == "__main__":
    main()
