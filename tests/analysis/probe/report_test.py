from collections.abc import Iterator

import torch
from matplotlib.patches import Rectangle

from elmo_tasks.analysis.probe.chart import draw
from elmo_tasks.analysis.probe.most_frequent import MostFrequent
from elmo_tasks.analysis.probe.probe import Probe, ProbeRow
from elmo_tasks.analysis.probe.run_probe import run_probe
from elmo_tasks.analysis.probe.tagged_tokens import TaggedTokens
from tests.helpers.charts import drawn_texts


class GivenRows(Probe):
    def rows(
        self, train: TaggedTokens, validation: TaggedTokens, most_frequent: MostFrequent
    ) -> Iterator[ProbeRow]:
        yield ProbeRow("tokens", 0.5)
        yield ProbeRow("mix", 1.0, [0.25, 0.75])


def tokens(keys: str, tags: str) -> TaggedTokens:
    right = [tuple(tag.split("|")) for tag in tags.split()]
    return TaggedTokens(keys.split(), right, torch.zeros(len(keys.split()), 1, 2))


REPORT = run_probe(
    "pos of dev.txt in a biLM whose name is a path of some length/weights.hdf5",
    GivenRows(),
    tokens("a a b c c", "X X Y Z X"),
    tokens("a b c d d d d e", "X Y X X Y V V X"),
)


def test_the_baselines_stand_before_the_layers_and_all_is_counted() -> None:
    rows = [(row.name, row.accuracy) for row in REPORT.rows]

    assert rows == [
        # Four of eight tags are X.
        ("most frequent tag", 0.5),
        # b is right, too; c has Z as often as X, but Z first; d and e are unknown and get X.
        ("most frequent tag of each word", 0.5),
        ("tokens", 0.5),
        ("mix", 1.0),
    ]
    assert REPORT.counts == {
        "train_tokens": 5,
        "tags": 3,
        "validation_tokens": 8,
        "unseen_words": 5,
        "backed_off_words": 0,
        "unseen_tags": 2,
    }


def test_the_baseline_of_each_word_backs_off_and_any_right_tag_is_right() -> None:
    train, validation = tokens("a a b", "X X Y"), tokens("a c d e", "Z|X Y|W Z Y|X")

    report = run_probe("", GivenRows(), train, validation, {"a": "Z", "c": "W", "d": "Y"})

    # The most frequent tag of all, X, is right for a and e, but a, c and e are right of the words.
    assert [row.accuracy for row in report.rows[:2]] == [0.5, 0.75]
    assert report.counts["unseen_words"] == 3 and report.counts["backed_off_words"] == 2
    # Neither tag of d is in the training data.
    assert report.counts["unseen_tags"] == 1
    assert "The back-off has 2 of these words." in report.text()
    assert "back-off" not in REPORT.text()


def test_the_text_is_a_table_with_the_weights_of_the_mix() -> None:
    text = REPORT.text()

    assert "| mix                            |      100.00 |" in text
    assert "Weights of the layers in the mix: 0.250 tokens, 0.750 LSTM 1." in text
    assert "The validation data has 8; the training data does not have the words of 5" in text
    assert REPORT.as_dict()["rows"][3] == {"name": "mix", "accuracy": 1.0, "weights": [0.25, 0.75]}


def test_the_chart_has_a_bar_for_each_row_and_nothing_is_cut_off() -> None:
    figure = draw(REPORT)

    texts = drawn_texts(figure)
    assert {"most frequent tag of each word", "mix", "100.00", "50.00"} <= set(texts)
    (axes,) = figure.axes
    bars = [bar for bar in axes.patches if isinstance(bar, Rectangle)]
    assert [bar.get_width() for bar in bars] == [50, 50, 50, 100]
    colors = [bar.get_facecolor() for bar in bars]
    assert colors[0] == colors[1] and len(set(colors)) == 3
