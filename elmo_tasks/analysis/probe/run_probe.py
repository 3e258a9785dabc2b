import copy
from collections.abc import Mapping
from typing import Any

from allennlp.common import Params

from elmo_tasks.analysis.probe.back_off import read_back_off
from elmo_tasks.analysis.probe.column_reader import ColumnReader
from elmo_tasks.analysis.probe.linear_probe import LinearProbe  # noqa: F401  registers its name
from elmo_tasks.analysis.probe.most_frequent import MostFrequent
from elmo_tasks.analysis.probe.nearest_probe import NearestProbe  # noqa: F401  registers its name
from elmo_tasks.analysis.probe.probe import Probe, ProbeRow, accuracy
from elmo_tasks.analysis.probe.report import ProbeReport
from elmo_tasks.analysis.probe.tagged_tokens import TaggedTokens, embed
from elmo_tasks.elmo.from_config import bilm_from_config, with_options
from elmo_tasks.elmo.sentence_layers import SentenceLayers


def run_config(config: dict[str, Any]) -> ProbeReport:
    """
    Runs the probe that a config describes, and returns its report.

    # Parameters

    config: `dataset_reader`, the parameters of a `ColumnReader`; `train_data_path` and
        `validation_data_path`; `model`, with a `bilm` and the parameters of a `Probe`; optionally
        `back_off_path`, a file of words and tags for words that the training data lacks.
    """
    params = Params(with_options(copy.deepcopy(config)))
    reader = ColumnReader.from_params(params.pop("dataset_reader"))
    train_path, validation_path = (
        params.pop(f"{name}_data_path") for name in ("train", "validation")
    )
    back_off_path = params.pop("back_off_path", None)
    model = params.pop("model")
    bilm = model.pop("bilm")
    title = f"{reader.tag_column} of {validation_path} in {bilm.get('pretrained_file')}"
    sentence_layers = SentenceLayers(bilm_from_config(bilm.as_dict(quiet=True)).eval())
    probe = Probe.from_params(model)
    params.assert_empty("elmo-probe")
    # All files are read before any layers are computed, so that their errors are found early.
    back_off = None if back_off_path is None else read_back_off(back_off_path)
    sentences = [list(reader.read(path)) for path in (train_path, validation_path)]
    train, validation = (embed(sentence_layers, part) for part in sentences)
    return run_probe(title, probe, train, validation, back_off)


def run_probe(
    title: str,
    probe: Probe,
    train: TaggedTokens,
    validation: TaggedTokens,
    back_off: Mapping[str, str] | None = None,
) -> ProbeReport:
    """
    Trains and evaluates a probe and two baselines: the most frequent tag of all tokens, and the
    most frequent tag of each word. The probe and the second baseline take the tag of `back_off` for
    a word that the training data lacks.
    """
    most_frequent = MostFrequent(train.keys, train.tags, back_off)
    of_all = [most_frequent.of_all] * len(validation.tags)
    of_words = [most_frequent.of(key) for key in validation.keys]
    rows = [
        ProbeRow("most frequent tag", accuracy(of_all, validation.tags)),
        ProbeRow("most frequent tag of each word", accuracy(of_words, validation.tags)),
        *probe.rows(train, validation, most_frequent),
    ]
    known = {tag for gold in train.tags for tag in gold}
    unseen_words = [key for key in validation.keys if key not in most_frequent]
    counts = {
        "train_tokens": len(train.tags),
        "tags": len(known),
        "validation_tokens": len(validation.tags),
        "unseen_words": len(unseen_words),
        "backed_off_words": sum(key in most_frequent.back_off for key in unseen_words),
        "unseen_tags": sum(known.isdisjoint(gold) for gold in validation.tags),
    }
    return ProbeReport(title, rows, counts)
