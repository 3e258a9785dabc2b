"""Tests that the shares of several processes are together the batches of one."""

from collections import Counter
from typing import Any

import pytest
import torch

from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.processes import Rank
from elmo_tasks.language_model import sentence_loader, window_loader
from elmo_tasks.language_model.corpus_loader import CorpusLoader
from elmo_tasks.language_model.model import ElmoLanguageModel
from elmo_tasks.readers.sentences import SentencesReader
from elmo_tasks.readers.snli import SnliReader
from tests.helpers.configs import ROOT
from tests.helpers.corpus_loaders import SENTENCES, ids, make_loader, texts, windows
from tests.helpers.reference_bilm import make_options


def of_rank(index: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sentence_loader, window_loader):
        monkeypatch.setattr(module, "rank", lambda: Rank(index, count))


@pytest.mark.parametrize("shuffle", [True, False])
def test_each_batch_of_sentences_is_divided_and_none_is_lost_or_read_twice(
    shuffle: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = make_loader("elmo_sentences", batch_tokens=96, shuffle=shuffle)
    whole = [Counter(texts(one, ids(batch))) for batch in one]
    length = len(one) if shuffle else None

    shares = []
    for index in range(3):
        of_rank(index, 3, monkeypatch)
        loader = make_loader("elmo_sentences", batch_tokens=32, shuffle=shuffle)
        shares.append([Counter(texts(loader, ids(batch))) for batch in loader])
        assert length is None or len(loader) == length

    assert [sum(parts, Counter()) for parts in zip(*shares, strict=True)] == whole
    assert sum(whole, Counter()) == Counter(SENTENCES)
    # The last batch of the text has fewer sentences than there are processes.
    assert any(not part for share in shares for part in share)


@pytest.mark.parametrize("field", ["tokens", "backward_tokens"])
@pytest.mark.parametrize("shuffle", [True, False])
def test_each_process_has_its_own_rows_of_the_windows(
    shuffle: bool, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = make_loader("elmo_windows", rows=6, length=7, shuffle=shuffle)
    whole = [windows(one, batch, field) for batch in one]
    length = len(one) if shuffle else None

    shares = []
    for index in range(3):
        of_rank(index, 3, monkeypatch)
        loader = make_loader("elmo_windows", rows=2, length=7, shuffle=shuffle)
        shares.append([windows(loader, batch, field) for batch in loader])
        assert length is None or len(loader) == length

    assert [sum(parts, []) for parts in zip(*shares, strict=True)] == whole


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


def test_the_first_process_draws_the_words_of_the_softmax_for_all(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loader: CorpusLoader = make_loader("elmo_sentences")
    softmax = ElmoLanguageModel(
        loader._vocab, make_bilm(make_options(), requires_grad=True), 9
    ).softmax
    sent: list[torch.Tensor] = []
    name = "elmo_tasks.language_model.sampled_softmax"

    def exchange(tensors: list[Any]) -> None:
        sent.append(tensors[0].clone())
        tensors[0].copy_(sent[0])

    monkeypatch.setattr(f"{name}.broadcast", exchange)
    drawn = []
    for index in range(2):
        monkeypatch.setattr(f"{name}.rank", lambda index=index: Rank(index, 2))
        drawn.append(softmax._draw_for_all(9))

    (classes, num_draws), (others, num_others) = drawn
    assert classes.tolist() == others.tolist() and len(set(classes.tolist())) == 9
    assert num_draws == num_others >= 9
    assert not sent[1].any()
