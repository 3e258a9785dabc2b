import json
from pathlib import Path

import pytest
import torch
from allennlp.data import Vocabulary

from elmo_tasks.language_model.unknown_tokens import UnknownTokens
from tests.helpers.command_line import allennlp
from tests.helpers.language_model_configs import CORPUS, HELDOUT, shrunk
from tests.helpers.training import train

VOCAB = Vocabulary(tokens_to_add={"tokens": ["</S>", "<S>", "the", "boat"]})
BEGIN, END, BOAT, UNKNOWN = (VOCAB.get_token_index(word) for word in ("<S>", "</S>", "boat", "x"))
ADVICE = "make the vocabulary of the text's own words"


def counted(*directions: list[int], vocab: Vocabulary = VOCAB) -> UnknownTokens:
    metric = UnknownTokens(vocab)
    metric([torch.tensor(ids, dtype=torch.long) for ids in directions])
    return metric


def test_the_share_is_that_of_tokens_without_boundaries() -> None:
    metric = counted(
        [BOAT, UNKNOWN, END, BOAT, BOAT, END], [BEGIN, BOAT, UNKNOWN, BEGIN, BOAT, BOAT]
    )

    assert metric.get_metric() == 2 / 8
    assert metric.get_metric(reset=True) == 2 / 8
    assert metric.get_metric() == 0


def test_a_vocabulary_that_lacks_the_boundaries_counts_them_as_unknown() -> None:
    vocab = Vocabulary(tokens_to_add={"tokens": ["boat"]})

    assert counted([2, 1], [1, 2], vocab=vocab).get_metric() == 1 / 2


def test_more_than_a_fifth_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    fifth, more = [UNKNOWN, *4 * [BOAT]], [UNKNOWN, *3 * [BOAT]]

    counted(fifth, fifth).get_metric(reset=True)
    assert ADVICE not in caplog.text

    metric = counted(more, more)
    metric.get_metric()
    assert ADVICE not in caplog.text
    metric.get_metric(reset=True)
    metric([torch.tensor(more), torch.tensor(more)])
    metric.get_metric(reset=True)
    assert caplog.text.count("25% of the tokens are not in the vocabulary") == 1
    assert caplog.text.count(ADVICE) == 1


def test_a_long_epoch_is_warned_of_before_its_end(caplog: pytest.LogCaptureFixture) -> None:
    counted(10_000 * [UNKNOWN], 10_000 * [BOAT]).get_metric()

    assert ADVICE in caplog.text


def other_words(folder: Path, text: Path) -> str:
    """Writes a text whose words, each with an x behind it, no other text has."""
    lines = [" ".join(f"{word}x" for word in line.split()) for line in text.open(encoding="utf-8")]
    (folder / text.name).write_text("\n".join(lines), encoding="utf-8")
    return str(folder / text.name)


def test_a_continuation_on_words_that_the_archive_lacks_is_warned_of(tmp_path: Path) -> None:
    one_epoch = "{ min_count: 1, num_samples: null, trainer+: { num_epochs: 1 } }"
    train(shrunk("small", one_epoch), tmp_path / "first")
    first = json.loads((tmp_path / "first" / "metrics.json").read_text())
    archive = tmp_path / "first" / "model.tar.gz"
    texts = [other_words(tmp_path, text) for text in (CORPUS, HELDOUT)]
    change = f"""{{
      from_bilm: null, from_archive: '{archive}',
      options: import '{tmp_path}/first/options.json',
      train_data_path: '{texts[0]}', validation_data_path: '{texts[1]}',
      optimizer+: {{ lr: 0.1 }},
    }}"""

    train(shrunk("continue", one_epoch.replace("1 }", "4 }"), change), tmp_path / "second")
    second = json.loads((tmp_path / "second" / "metrics.json").read_text())
    allennlp("evaluate", archive, texts[1], "--output-file", tmp_path / "out.json")
    evaluated = json.loads((tmp_path / "out.json").read_text())

    assert 0 < first["validation_unknown_tokens"] < 0.2
    assert second["training_unknown_tokens"] == second["validation_unknown_tokens"] == 1
    assert second["validation_perplexity"] < first["validation_perplexity"] / 5
    assert evaluated["unknown_tokens"] == 1
    logs = [(tmp_path / name / "out.log").read_text() for name in ("first", "second")]
    # The log of the second training has what `evaluate` says in the same process, too.
    assert [log.count(ADVICE) for log in logs] == [0, 2]
    assert "unknown tokens 100%" in logs[1]
