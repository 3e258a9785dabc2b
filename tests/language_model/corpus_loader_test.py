import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Batch, DataLoader, DatasetReader, Instance, Token, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.token_indexers import ELMoTokenCharactersIndexer
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.language_model.corpus_loader import SentenceTensors
from elmo_tasks.readers.indexers import WordIdIndexer
from elmo_tasks.readers.sentences import SentencesReader
from tests.helpers.corpus_loaders import LOADERS, ids, make_loader, sentences


def same(one: list, other: list) -> bool:
    return len(one) == len(other) and all(
        torch.equal(ids(first, field), ids(second, field))
        for first, second in zip(one, other)
        for field in first
    )


@pytest.mark.parametrize("kind", LOADERS)
def test_the_order_follows_from_seed_and_epoch_alone(kind: str) -> None:
    first = make_loader(kind)
    epochs = [list(first) for _ in range(3)]
    again = make_loader(kind)
    # The order depends neither on other random draws nor on an epoch that was left early.
    random.random(), torch.rand(3)

    assert same(list(again), epochs[0])
    assert len(list(islice(again, 2))) == 2
    assert same(list(again), epochs[2])
    assert not same(epochs[0], epochs[1])
    assert not same(list(make_loader(kind, seed=1)), epochs[0])


@pytest.mark.parametrize("kind", LOADERS)
@pytest.mark.parametrize(("num_epochs", "num_batches"), [(0, 0), (0, 3), (1, 0), (2, 5)])
def test_after_a_skip_exactly_the_remaining_batches_come(
    kind: str, num_epochs: int, num_batches: int
) -> None:
    first = make_loader(kind)
    epochs = [list(first) for _ in range(4)]
    loader = make_loader(kind)
    loader.skip(num_epochs, num_batches)

    for _ in range(num_epochs):
        assert list(loader) == []
    skipped, *later = [list(loader) for _ in range(4 - num_epochs)]

    assert skipped[:num_batches] == num_batches * [{}]
    assert same(skipped[num_batches:], epochs[num_epochs][num_batches:])
    assert all(same(batches, epoch) for batches, epoch in zip(later, epochs[num_epochs + 1 :]))


@pytest.mark.parametrize("kind", LOADERS)
def test_an_epoch_that_is_skipped_is_not_read(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    loader = make_loader(kind)
    loader.skip(2, 0)
    monkeypatch.setattr(SentencesReader, "sentences", lambda *_: pytest.fail("read"))

    assert list(loader) == list(loader) == []


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("elmo_sentences", {"batch_tokens": 2048}),
        ("elmo_sentences", {"batch_tokens": 300}),
        ("elmo_sentences", {"batch_tokens": 1}),
        ("elmo_windows", {"rows": 16, "length": 20}),
    ],
)
def test_the_length_of_an_epoch_comes_from_the_counts(
    kind: str, arguments: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "text"
    generator = random.Random(0)
    path.write_text("".join(f"{'w ' * generator.randint(1, 40)}\n" for _ in range(3000)))
    loader = make_loader(kind, path, **arguments)

    assert len(loader) == pytest.approx(len(list(loader)), rel=0.02)


@pytest.mark.parametrize("kind", LOADERS)
def test_without_counts_there_is_no_length(kind: str) -> None:
    loader = make_loader(kind)
    loader.index_with(Vocabulary(tokens_to_add={"tokens": ["a"]}))

    with pytest.raises(TypeError, match="does not say how much text there is"):
        len(loader)
    # The counts are those of the training text, and only that text is shuffled.
    with pytest.raises(TypeError):
        len(make_loader(kind, shuffle=False))
    assert len(list(loader)) > 5


@pytest.mark.parametrize("kind", LOADERS)
def test_a_text_without_a_sentence_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("\n\n")

    with pytest.raises(
        ValueError, match="text has too little text for one batch: expected a sentence"
    ):
        list(make_loader(kind, path))


def test_a_text_of_one_sentence_is_one_batch_or_too_little(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("Yes .\n")

    assert sentences(make_loader("elmo_sentences", path)) == [("<S>", "Yes", ".", "</S>")]
    with pytest.raises(ValueError, match="text has too little text for one batch"):
        list(make_loader("elmo_windows", path))


@pytest.mark.parametrize(
    ("kind", "name", "number"),
    [
        ("elmo_sentences", "batch_tokens", 0),
        ("elmo_windows", "rows", 0),
        ("elmo_windows", "length", -1),
    ],
)
def test_a_batch_of_nothing_is_refused(kind: str, name: str, number: Any) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} must be 1 or more, not {number}"):
        make_loader(kind, **{name: number})


def test_batches_go_to_the_device_that_is_asked_for() -> None:
    loader = make_loader("elmo_sentences")
    loader.set_target_device(torch.device("meta"))
    batch = next(iter(loader))

    tensors: Iterator[torch.Tensor] = (
        tensor for part in batch["tokens"].values() for tensor in part.values()
    )
    assert {tensor.device.type for tensor in tensors} == {"meta"}


@pytest.mark.parametrize("kind", LOADERS)
@pytest.mark.parametrize("task", [None, "elmo_sst", "elmo_snli"], ids=str)
def test_a_missing_text_is_noticed_before_any_is_read(task: str | None, kind: str) -> None:
    params = Params({"type": kind, **LOADERS[kind]})
    reader = None if task is None else DatasetReader.from_params(Params({"type": task}))

    with pytest.raises(FileNotFoundError, match="nowhere.txt"):
        DataLoader.from_params(
            params, reader=SentencesReader(reader=reader), data_path="nowhere.txt"
        )


WORDS = ["a", "b", "<S>", "</S>", "naïve", "x" * 60, "@@PADDING@@", "@@UNKNOWN@@", "new"]
VOCAB = Vocabulary(tokens_to_add={"tokens": WORDS[:-1]})

words = st.sampled_from(WORDS) | st.text(st.characters(codec="utf-8"), min_size=1, max_size=60)


def indexed(sentences: list[list[str]]) -> dict[str, dict[str, torch.Tensor]]:
    """Returns the tensors that the indexers of a reader make."""
    indexers = {"elmo": ELMoTokenCharactersIndexer(), "tokens": WordIdIndexer()}
    fields = [TextField([Token(word) for word in words], indexers) for words in sentences]
    batch = Batch([Instance({"tokens": field}) for field in fields])
    batch.index_instances(VOCAB)
    return batch.as_tensor_dict()["tokens"]


@given(st.lists(st.lists(st.lists(words, min_size=1), min_size=1, max_size=4), min_size=1))
def test_tensors_are_those_of_a_readers_indexers(batches: list[list[list[str]]]) -> None:
    tensors = SentenceTensors(VOCAB)

    for batch in batches:
        torch.testing.assert_close(tensors(batch), indexed(batch), rtol=0, atol=0)


def test_windows_have_the_characters_of_what_is_read_and_the_ids_of_what_is_predicted() -> None:
    batch = [[("<S>", "a"), ("a", "new"), ("naïve", "</S>")], [("</S>", "b")], []]

    tensors = SentenceTensors(VOCAB).windows(batch)

    read = [["<S>", "a", "naïve"], ["</S>"], []]
    predicted = [["a", "new", "</S>"], ["b"], []]
    assert tensors.keys() == {"elmo", "targets"}
    torch.testing.assert_close(tensors["elmo"], indexed(read)["elmo"], rtol=0, atol=0)
    torch.testing.assert_close(tensors["targets"], indexed(predicted)["tokens"], rtol=0, atol=0)
