from typing import Any

from allennlp.common import Params

from elmo_tasks.analysis.probe.probe import (
    PROBES,
    LinearProbe,
    MostFrequent,
    NearestProbe,
    ProbeRow,
    accuracy,
)
from elmo_tasks.analysis.probe.tagged_tokens import ColumnReader, TaggedTokens, embed
from elmo_tasks.analysis.tables import layer_name, table
from elmo_tasks.common.from_fields import from_fields
from elmo_tasks.elmo.from_config import bilm_from_config, with_options
from elmo_tasks.elmo.sentence_layers import SentenceLayers


def run_config(config: dict[str, Any]) -> dict[str, Any]:
    """
    Runs the probe that a config describes, and returns its report as JSON (see `run_probe`).

    # Parameters

    config: `dataset_reader`, the parameters of a `ColumnReader`; `train_data_path` and
        `validation_data_path`; and `model`, with a `bilm`, the `type` of the probe (see `PROBES`)
        and its parameters.
    """
    params = Params(with_options(config))
    reader = from_fields(ColumnReader, params.pop("dataset_reader").as_dict(quiet=True))
    paths = [params.pop(f"{name}_data_path") for name in ("train", "validation")]
    model = params.pop("model")
    bilm = model.pop("bilm").as_dict(quiet=True)
    kind = model.pop_choice("type", [*PROBES], default_to_first_choice=True)
    probe = from_fields(PROBES[kind], model.as_dict(quiet=True))
    params.assert_empty("elmo-probe")
    sentence_layers = SentenceLayers(bilm_from_config(bilm).eval())
    title = f"{reader.tag_column} of {paths[1]} in {bilm.get('pretrained_file')}"
    # All files are read before any layers are computed, so that their errors are found early.
    sentences = [list(reader.read(path)) for path in paths]
    train, validation = (embed(sentence_layers, part) for part in sentences)
    return run_probe(title, probe, train, validation)


def run_probe(
    title: str, probe: LinearProbe | NearestProbe, train: TaggedTokens, validation: TaggedTokens
) -> dict[str, Any]:
    """
    Trains and evaluates a probe and two baselines: the most frequent tag of all tokens, and that of
    each word. Returns the `title` and the `rows` of the baselines and of the probe.
    """
    most_frequent = MostFrequent(train.keys, train.tags)
    of_all = [most_frequent.of_all] * len(validation.tags)
    of_words = [most_frequent.of(key) for key in validation.keys]
    rows = [
        ProbeRow("most frequent tag", accuracy(of_all, validation.tags)),
        ProbeRow("most frequent tag of each word", accuracy(of_words, validation.tags)),
        *probe.rows(train, validation),
    ]
    return {"title": title, "rows": [row._asdict() for row in rows]}


def text_of(report: dict[str, Any]) -> str:
    rows = report["rows"]
    cells = [[row["name"], f"{100 * row['accuracy']:.2f}"] for row in rows]
    lines = [report["title"], "", table(["", "accuracy, %"], cells)]
    for weights in filter(None, (row["weights"] for row in rows)):
        parts = [f"{weight:.3f} {layer_name(j)}" for j, weight in enumerate(weights)]
        lines += ["", f"Weights of the layers in the mix: {', '.join(parts)}."]
    return "\n".join(lines)
