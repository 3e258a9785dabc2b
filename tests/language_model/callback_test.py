import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import load_archive
from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids

from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.language_model import callback
from elmo_tasks.language_model.callback import PretrainingCallback, begin_as
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax
from elmo_tasks.language_model.scoring.language_model import has_softmax
from tests.helpers.configs import evaluate
from tests.helpers.language_model_configs import CORPUS, shrunk
from tests.helpers.language_models import WORDS, random_softmax, written_model
from tests.helpers.reference_bilm import assert_equals_upstream
from tests.helpers.stop_callback import STOP_AT, Stopped
from tests.helpers.training import train

CHANGE = """{
  num_samples: null, dropout: 0,
  optimizer: { type: 'adam', lr: 0.01 },
  trainer+: {
    num_epochs: 3,
    callbacks+: ['stop'],
    checkpointer: { type: 'elmo', keep_most_recent_by_count: null },
  },
}"""
# With this metric the epoch of the greatest perplexity, which is the first, is the best.
FIRST_IS_BEST = "{ trainer+: { validation_metric: '+perplexity' } }"
PAIR = ["options.json", "weights.hdf5"]


def exported(folder: Path) -> BiLm:
    return make_bilm(folder / "options.json", folder / "weights.hdf5")


def assert_holds(folder: Path, weights: Path) -> None:
    """Asserts that `folder` has the biLM of `weights`, and that AllenNLP's biLM can read it."""
    state = torch.load(weights)
    bilm = exported(folder)
    for name, tensor in bilm.state_dict().items():
        torch.testing.assert_close(tensor, state[f"bilm.{name}"])
    upstream = _ElmoBiLm(*(folder / name for name in PAIR))
    texts = [line.split() for line in CORPUS.read_text(encoding="utf-8").splitlines()[:5]]
    assert_equals_upstream(bilm, upstream, batch_to_ids(texts))


def test_the_pair_lies_there_after_every_epoch_and_in_the_end_it_is_the_best(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, on_epoch = tmp_path / "run", PretrainingCallback.on_epoch

    def copy_after(callback: PretrainingCallback, trainer: Any, **kwargs: Any) -> None:
        on_epoch(callback, trainer, **kwargs)
        epoch = kwargs["epoch"]
        (tmp_path / str(epoch)).mkdir()
        for name in PAIR:
            shutil.copy(folder / name, tmp_path / str(epoch))

    monkeypatch.setattr(PretrainingCallback, "on_epoch", copy_after)
    train(shrunk("small", CHANGE, FIRST_IS_BEST), folder)

    for epoch in range(3):
        assert_holds(tmp_path / str(epoch), folder / f"model_state_e{epoch + 1}_b0.th")
    assert json.loads((folder / "metrics.json").read_text())["best_epoch"] == 0
    assert_holds(folder, folder / "model_state_e1_b0.th")
    assert json.loads((folder / "options.json").read_text())["state"] == "reset"


def test_a_training_that_fails_leaves_the_pair_of_its_last_epoch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STOP_AT, "1:3")
    with pytest.raises(Stopped):
        train(shrunk("small", CHANGE), tmp_path / "run")

    assert_holds(tmp_path / "run", tmp_path / "run" / "model_state_e1_b0.th")


def test_a_training_that_ends_before_the_bilm_trains_is_refused(tmp_path: Path) -> None:
    # An epoch has 10 batches.
    with pytest.raises(ValueError, match="not train at all: .*in the first 500 batches"):
        train(shrunk("continue", "{ num_softmax_batches: 500 }"), tmp_path / "run")


def test_a_biLM_is_continued_on_the_text_of_a_task_and_a_config_imports_it(tmp_path: Path) -> None:
    config, folder = (
        shrunk("continue", "{ task: 'snli', num_softmax_batches: 1 }"),
        tmp_path / "run",
    )

    train(config, folder)
    imported = evaluate(f"import '{folder}/bilm.libsonnet'")

    metrics = json.loads((folder / "metrics.json").read_text())
    assert config["train_data_path"] == "fixtures/snli.jsonl"
    assert metrics["best_validation_perplexity"] > 1
    assert_holds(folder, folder / "best.th")
    assert imported == {
        "options": json.loads((folder / "options.json").read_text()),
        "pretrained_file": str(folder / "weights.hdf5"),
    }


NEW = "the cat gull oar".split()


def begun(packed: Any) -> tuple[SampledSoftmax, list[str]]:
    """Returns a softmax of the words `NEW` that began as a packed one, and the words' order."""
    vocab = Vocabulary(tokens_to_add={"tokens": NEW})
    softmax = SampledSoftmax(vocab.get_vocab_size("tokens"), 6)
    assert begin_as(softmax, packed, vocab) == 2
    return softmax, list(vocab.get_index_to_token_vocabulary("tokens").values())[1:]


def test_words_that_the_packed_softmax_knows_begin_with_their_rows() -> None:
    packed = random_softmax(6).in_8_bits()
    assert packed.scale is not None

    softmax, words = begun(packed)

    for word in ("the", "cat"):
        row, old = words.index(word), WORDS.index(word)
        expected = packed.scale[old] * packed.weight[old]
        torch.testing.assert_close(softmax.weight[row].detach(), expected)
        torch.testing.assert_close(softmax.bias[row].detach(), packed.bias[old : old + 1])


def test_other_words_share_the_probability_of_the_unknown_word_equally() -> None:
    packed, h = random_softmax(6), torch.randn(5, 6)

    softmax, words = begun(packed)

    known = [words.index("the"), words.index("cat")]
    others = [row for row in range(len(words)) if row not in known]
    logits = (h @ softmax.weight.T + softmax.bias.T).detach()
    torch.testing.assert_close(
        logits[:, others].logsumexp(dim=1), h @ packed.weight[0] + packed.bias[0]
    )
    assert logits[:, others].std(dim=1).max() < 1e-5


def test_words_that_the_packed_softmax_leaves_out_count_as_unknown() -> None:
    whole = random_softmax(6)
    packed = whole.in_8_bits(9)

    softmax, words = begun(packed)

    # With h = 0, what is left of a softmax is its biases.
    others = [row for row, word in enumerate(words) if word not in packed.words[1:]]
    left = [0, *range(10, len(WORDS))]
    expected = whole.bias[left].logsumexp(dim=0)
    torch.testing.assert_close(softmax.bias[others].detach().logsumexp(dim=0)[0], expected)
    shares = whole.bias[left].softmax(dim=0)
    torch.testing.assert_close(
        softmax.weight[others[0]].detach(), shares @ whole.weight[left], atol=0.02, rtol=0
    )


@pytest.fixture
def config(tmp_path: Path) -> dict[str, Any]:
    folder = written_model(tmp_path / "packed")
    return shrunk(
        "continue",
        f"{{ from_bilm: {{ options: import '{folder}/options.json',"
        f" pretrained_file: '{folder}/weights.hdf5' }},"
        f" from_softmax: '{folder}', num_softmax_batches: 0,"
        " trainer+: { callbacks+: ['stop'] } }",
    )


def test_a_training_starts_once_from_the_softmax_and_its_archive_needs_no_file(
    config: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts: list[int] = []

    def begin(*args: Any) -> int:
        starts.append(begin_as(*args))
        return starts[-1]

    monkeypatch.setattr(callback, "begin_as", begin)
    monkeypatch.setenv(STOP_AT, "1:1")
    with pytest.raises(Stopped):
        train_model(Params(config).duplicate(), str(tmp_path / "run"))
    monkeypatch.delenv(STOP_AT)

    train_model(Params(config).duplicate(), str(tmp_path / "run"), recover=True)

    assert len(starts) == 1 and starts[0] > 0
    for file in (tmp_path / "packed").iterdir():
        file.unlink()
    model = load_archive(tmp_path / "run" / "model.tar.gz").model
    assert math.isfinite(model.softmax.weight.sum().item())


def test_base_begins_with_its_softmax_and_a_biLM_without_one_learns_it_first() -> None:
    def of(fields: str) -> tuple[list[str], int]:
        config = shrunk("continue", fields)
        types = [each["type"] for each in config["trainer"]["callbacks"] if "type" in each]
        return types, config["model"]["num_softmax_batches"]

    unset = "num_softmax_batches: if self.from_softmax == null then 500 else 0"
    assert of(f"{{ from_bilm: 'base', {unset} }}") == (["elmo_softmax_start"], 0)
    assert of(f"{{ from_bilm: 'mini', {unset} }}") == ([], 500)
    assert has_softmax("base") and not has_softmax("mini")
