import random
from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
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

from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.characters import fitted_char_ids
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.language_model.corpus_loader import CorpusLoader, SentenceTensors
from elmo_tasks.language_model.model import ElmoLanguageModel
from elmo_tasks.readers.indexers import WordIdIndexer
from elmo_tasks.readers.sentences import SentencesReader
from elmo_tasks.readers.snli import SnliReader
from tests.helpers.configs import ROOT
from tests.helpers.corpus_loaders import LOADERS, SENTENCES, ids, make_loader, sentences, windows
from tests.helpers.reference_bilm import make_options


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
    path.write_text("Yes .\n" * 100)
    loader = make_loader(kind, path)
    path.write_text("\n\n")

    with pytest.raises(
        ValueError, match="text has too little text for one batch: expected a sentence"
    ):
        list(loader)
    with pytest.raises(ValueError, match="text has no word: expected a sentence on each line"):
        list(loader.iter_instances())


def test_a_text_of_one_sentence_is_one_batch_or_too_little(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("Yes .\n")

    assert sentences(make_loader("elmo_sentences", path)) == [("<S>", "Yes", ".", "</S>")]
    with pytest.raises(ValueError, match="too little text"):
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
    with pytest.raises(ConfigurationError, match=f"{name} must be"):
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
        found = tensors(batch)
        # Long words are whole, until a biLM reads them.
        found["elmo"]["elmo_tokens"] = fitted_char_ids(found["elmo"]["elmo_tokens"], 50)
        torch.testing.assert_close(found, indexed(batch), rtol=0, atol=0)


def test_windows_have_the_characters_of_what_is_read_and_the_ids_of_what_is_predicted() -> None:
    batch = [[("<S>", "a"), ("a", "new"), ("naïve", "</S>")], [("</S>", "b")], []]

    tensors = SentenceTensors(VOCAB).windows(batch)

    read = [["<S>", "a", "naïve"], ["</S>"], []]
    predicted = [["a", "new", "</S>"], ["b"], []]
    assert tensors.keys() == {"elmo", "targets"}
    torch.testing.assert_close(tensors["elmo"], indexed(read)["elmo"], rtol=0, atol=0)
    torch.testing.assert_close(tensors["targets"], indexed(predicted)["tokens"], rtol=0, atol=0)


def test_sentences_are_shuffled_in_chunks_and_every_one_comes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(CorpusLoader, "chunk", 10)
    loader = make_loader("elmo_sentences")
    first, second = sentences(loader), sentences(loader)

    assert Counter(first) == Counter(second) == Counter(SENTENCES)
    assert first != second


def test_without_shuffling_the_sentences_lie_by_length() -> None:
    loader = make_loader("elmo_sentences", shuffle=False)

    assert sentences(loader) == sentences(loader) == sorted(SENTENCES, key=len)


@pytest.mark.parametrize("batch_tokens", [1, 30, 100, 10_000])
def test_a_batch_has_so_many_tokens_at_most(batch_tokens: int) -> None:
    for batch in make_loader("elmo_sentences", batch_tokens=batch_tokens):
        lengths = (ids(batch) > 0).sum(dim=1)
        # The end of a sentence is predicted, but not read.
        assert (lengths - 1).sum() <= batch_tokens or len(lengths) == 1


FIELDS = ["tokens", "backward_tokens"]
# What bilm-tf's `_get_batch` makes of these sentences, worked by hand, for two rows of three steps.
# A row takes the next sentence of the text when its own is read to its last target. bilm-tf leaves
# out the last batch, in which no row is full.
TEXT = "a b\nc\nd e f g\nh\ni j\n"
BATCHES = {
    "tokens": [
        [("<S> a b", "a b </S>"), ("<S> c <S>", "c </S> d")],
        [("<S> h <S>", "h </S> i"), ("d e f", "e f g")],
        [("i j", "j </S>"), ("g", "</S>")],
    ],
    "backward_tokens": [
        [("</S> b a", "b a <S>"), ("</S> c </S>", "c <S> g")],
        [("</S> h </S>", "h <S> j"), ("g f e", "f e d")],
        [("j i", "i <S>"), ("d", "<S>")],
    ],
}


def streams(loader: CorpusLoader, field: str) -> list[list[tuple[str, str]]]:
    """Returns what each row reads and predicts in an epoch."""
    batches = [windows(loader, batch, field) for batch in loader]
    return [list(chain.from_iterable(row)) for row in zip(*batches)]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("shuffle", [True, False])
def test_batches_are_those_of_bilm_tf_worked_by_hand(
    field: str, shuffle: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(random.Random, "shuffle", lambda *_: None)
    (tmp_path / "text").write_text(TEXT)
    loader = make_loader("elmo_windows", tmp_path / "text", rows=2, length=3, shuffle=shuffle)

    batches = [windows(loader, batch, field) for batch in loader]

    expected = [
        [list(zip(read.split(), predicted.split(), strict=True)) for read, predicted in rows]
        for rows in BATCHES[field]
    ]
    # A text that is not shuffled is measured to its end.
    assert batches == (expected[:2] if shuffle else expected)


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize(
    ("num_rows", "length", "shuffle"),
    [(3, 7, True), (3, 7, False), (1, 1, False), (16, 20, False), (200, 3, False)],
)
def test_a_row_of_windows_reads_whole_sentences_end_to_end(
    field: str, num_rows: int, length: int, shuffle: bool
) -> None:
    loader = make_loader("elmo_windows", rows=num_rows, length=length, shuffle=shuffle)
    rows = list(filter(None, streams(loader, field)))
    begin, end = ("<S>", "</S>") if field == "tokens" else ("</S>", "<S>")

    finished: list[tuple[str, ...]] = []
    for row in rows:
        assert row[0][0] == begin
        words: list[str] = []
        for read, predicted in row:
            # What was predicted is read next, except the end of a sentence.
            assert read == (words[-1] if words else begin)
            words = [*(words or [begin]), predicted]
            if predicted == end:
                finished.append(tuple(words if field == "tokens" else words[::-1]))
                words = []

    left = Counter(SENTENCES) - Counter(finished)
    assert not Counter(finished) - Counter(SENTENCES)
    # The last batches of a training, which are not full, are left out.
    assert left.total() <= (2 * len(rows) if shuffle else 0)


def test_the_two_directions_read_in_orders_of_their_own() -> None:
    loader = make_loader("elmo_windows", rows=1, length=20)
    forward = streams(loader, "tokens")
    backward = streams(make_loader("elmo_windows", rows=1, length=20), "backward_tokens")

    words = [[read for read, _ in row[:15]] for row in (forward[0], backward[0])]

    assert words[0] != words[1]
    assert Counter(words[0]) != Counter(words[1])


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
