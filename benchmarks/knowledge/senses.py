"""Word senses by the nearest mean vector (Peters et al. 2018, section 5.3)."""

from pathlib import Path

from benchmarks.knowledge.layers import Rows
from elmo_tasks.analysis.probe.probe import MostFrequent, NearestProbe, accuracy
from elmo_tasks.analysis.probe.tagged_tokens import ColumnReader, GoldSentence, embed
from elmo_tasks.elmo import ElmoEncoder

_READER = ColumnReader(["word", "lemma", "sense"], "sense", "lemma", "-", "|")
_PREFIX = "senses: "


def measure(encoder: ElmoEncoder, data: Path) -> Rows:
    train, dev, _ = _read(data)
    rows = NearestProbe().rows(embed(encoder.layers, train), embed(encoder.layers, dev))
    return {_PREFIX + row.name: [100 * row.accuracy] for row in rows}


def baselines(data: Path) -> Rows:
    train, dev, first = _read(data)
    lemmas, senses = _tagged_lemmas(dev)
    most_frequent = MostFrequent(*_tagged_lemmas(train))
    predicted = {
        "first in WordNet": [first.get(lemma, "") for lemma in lemmas],
        "most frequent of each lemma": [most_frequent.of(lemma) for lemma in lemmas],
    }
    return {
        _PREFIX + name: [100 * accuracy(predictions, senses)]
        for name, predictions in predicted.items()
    }


def _read(data: Path) -> tuple[list[GoldSentence], list[GoldSentence], dict[str, str]]:
    """
    Returns training data, dev data and the first sense of each lemma. The training data has the
    tags of the lemmas of the dev data alone, since no others are asked for. A lemma that it lacks
    is added as a sentence of its own, with its first sense.
    """
    dev = list(_READER.read(data / "senses/semeval2007.txt"))
    lemmas_of_dev = set(_tagged_lemmas(dev)[0])
    train = []
    for words, lemmas, tags in _READER.read(data / "senses/semcor.train.txt"):
        tags = [tag if lemma in lemmas_of_dev else () for lemma, tag in zip(lemmas, tags)]
        if any(tags):
            train.append(GoldSentence(words, lemmas, tags))
    lines = (data / "senses/wordnet30.first_sense.tsv").read_text(encoding="utf-8").splitlines()
    # A lemma may have several lines; its first one counts.
    first = dict(line.split("\t") for line in reversed(lines))
    missing = sorted(lemmas_of_dev & first.keys() - set(_tagged_lemmas(train)[0]))
    train += [GoldSentence([lemma], [lemma], [(first[lemma],)]) for lemma in missing]
    return train, dev, first


def _tagged_lemmas(sentences: list[GoldSentence]) -> tuple[list[str], list[tuple[str, ...]]]:
    """Returns the lemmas and the tags of all tokens that have a tag."""
    pairs = [
        (lemma, tags)
        for _, lemmas, of_tokens in sentences
        for lemma, tags in zip(lemmas, of_tokens)
        if tags
    ]
    return [lemma for lemma, _ in pairs], [tags for _, tags in pairs]
