"""Tests of what a process of several has of a batch and of a text."""

import pytest

from elmo_tasks.bilm import make_bilm
from elmo_tasks.language_model.model import ElmoLanguageModel
from elmo_tasks.readers.sentences import SentencesReader
from elmo_tasks.readers.snli import SnliReader
from tests.helpers.configs import ROOT
from tests.helpers.corpus_loaders import make_loader
from tests.helpers.reference_bilm import make_options


@pytest.mark.parametrize("num_samples", [None, 4])
@pytest.mark.parametrize("train", [True, False])
def test_an_empty_share_has_a_loss_of_0_and_counts_nothing(
    train: bool, num_samples: int | None
) -> None:
    loader = make_loader("elmo_sentences")
    bilm = make_bilm(make_options(), requires_grad=True)
    model = ElmoLanguageModel(loader._vocab, bilm, num_samples).train(train)

    outputs = model(**loader._tensors([]))
    outputs["loss"].backward()

    assert outputs["loss"] == 0 and outputs["num_tokens"] == 0
    assert model.get_metrics()["perplexity"] == 1
    assert not any(
        weight.grad.to_dense().any() for weight in model.parameters() if weight.grad is not None
    )


def test_every_process_reads_the_whole_text_of_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(ROOT / "fixtures" / "snli.jsonl")
    expected = list(SentencesReader(reader=SnliReader()).sentences(path))
    monkeypatch.setattr("allennlp.common.util.is_distributed", lambda: True)
    monkeypatch.setattr("torch.distributed.get_rank", lambda: 1)
    monkeypatch.setattr("torch.distributed.get_world_size", lambda: 2)
    reader = SentencesReader(reader=SnliReader())

    every, share = (list(reader.sentences(path, (), shard)) for shard in (False, True))

    assert every == expected and len(expected) > 10
    assert share == expected[1::2]
