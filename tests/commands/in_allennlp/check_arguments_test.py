"""Tests which configs are refused before their data are read, by what line, and what is left."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from allennlp.commands.train import TrainModel
from allennlp.common import Params
from allennlp.training import TrainerCallback

from elmo_tasks.commands.command import message_of
from elmo_tasks.commands.in_allennlp.check_arguments import check_arguments
from elmo_tasks.commands.in_allennlp.train_command import train_model
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.sst import SstReader
from tests.helpers.configs import SHIPPED, config, tiny

NOTHING = object()
READ = {"train_data_path": "nowhere.txt", "validation_data_path": None}


def changed(path: str, value: Any) -> dict[str, Any]:
    """Returns a small config with another value at a dotted path, or without one there."""
    changed = copy.deepcopy(tiny("sst", "both"))
    *folders, last = path.split(".")
    within = changed
    for name in folders:
        within = within[name]
    if value is NOTHING:
        del within[last]
    else:
        within[last] = value
    return changed


# A path in the config, another value there, and words of the message.
MISTAKES = [
    ("data_loader", NOTHING, "the config has no data_loader"),
    ("model", NOTHING, "the config has no model"),
    ("trainer", NOTHING, "the config has no trainer"),
    ("dataset_reader", NOTHING, "the config has no dataset_reader"),
    ("train_data_path", NOTHING, "the config has no train_data_path"),
    ("train_data_path", None, "train_data_path must be the path of a file, not null"),
    ("validation_data_path", 3, "validation_data_path must be the path of a file, not 3"),
    (
        "model.dropuot",
        0.1,
        "model: the Bcn has no argument 'dropuot'; did you mean 'dropout'?",
    ),
    ("model.encoder.hiden_size", 8, "model.encoder: .* 'hiden_size'; did you mean 'hidden_size'?"),
    (
        "model.encoder.type",
        "lstmm",
        "model.encoder: there is no Seq2SeqEncoder named 'lstmm'; did you mean",
    ),
    ("model.encoder.hidden_size", "8", 'model.encoder.hidden_size must be a whole number, not "8"'),
    ("model.encoder", None, "model.encoder must be an object, not null"),
    ("model.feedforward.hidden_dims", "x", "model.feedforward.hidden_dims must be .*a list"),
    ("dataset_reader.granularty", "2-class", "'granularty'; did you mean 'granularity'?"),
    ("trainer.optimizer.lrr", 0.1, "trainer.optimizer: .* 'lrr'; did you mean 'lr'?"),
    ("trainer.optimizer.lr", "0.1", 'trainer.optimizer.lr must be a number, not "0.1"'),
    ("trainer.grad_norm", None, "trainer.grad_norm must be a number or true or false, not null"),
    ("trainer.grad_norm", -1, "trainer.grad_norm must be above 0, not -1"),
    ("trainer.num_epochs", 0, "trainer.num_epochs must be 1 or more, not 0"),
    ("trainer.num_epochs", -1, "trainer.num_epochs must be 1 or more, not -1"),
    ("model.dropout", -1, "model.dropout must be from 0 to 1, not -1"),
    ("model.encoder.hidden_size", -1, "model.encoder.hidden_size must be 1 or more, not -1"),
    ("model.feedforward.hidden_dims", -1, "model.feedforward.hidden_dims must be 1 or more"),
    ("model.classifier.dropout", [-1, 0], "model.classifier.dropout.0 must be from 0 to 1, not -1"),
    ("trainer.patience", -1, "trainer.patience must be 0 or more, not -1"),
    ("trainer.optimizer.lr", -1, "trainer.optimizer.lr must be 0 or more, not -1"),
    (
        "data_loader.batch_sampler.batch_size",
        -1,
        "data_loader.batch_sampler.batch_size must be 1 or more, not -1",
    ),
    ("model.encoder", NOTHING, "model: the Bcn needs the argument 'encoder', an object"),
    (
        "model.encoder.input_size",
        NOTHING,
        "model.encoder: the .* needs the argument 'input_size', a whole number",
    ),
    (
        "model.text_embedder.words.token_embedders.tokens.embedding_dim",
        NOTHING,
        "model.text_embedder.words.token_embedders.tokens: the .* needs .* 'embedding_dim'",
    ),
    (
        "model.classifier.activations",
        NOTHING,
        "model.classifier: the FeedForward needs the argument 'activations'",
    ),
    ("model.classifier.pool_size", 2, "model.classifier: .* no argument 'pool_size'"),
    (
        "model.text_embedder.bilm.dtyp",
        "auto",
        "model.text_embedder: bilm has no field dtyp; did you mean 'dtype'?",
    ),
    ("model.text_embedder.bilm", [1], "model.text_embedder: bilm must be the name"),
    (
        "model.text_embedder.bilm",
        NOTHING,
        "model.text_embedder: give bilm together with input_mix, output_mix or both; or give none",
    ),
    (
        "model.text_embedder.input_mix.laeyrs",
        "all",
        "model.text_embedder: ElmoMix has no field laeyrs; did you mean 'layers'?",
    ),
    (
        "dataset_reader.token_indexers.elmo",
        NOTHING,
        "dataset_reader.token_indexers has tokens, but model.text_embedder needs elmo, tokens",
    ),
    (
        "dataset_reader.token_indexers.elmo",
        {},
        "dataset_reader.token_indexers.elmo must be of type elmo_char_ids",
    ),
    ("trainer.tpye", "elmo", "trainer: .* has no argument 'tpye'; did you mean 'type'?"),
    ("vocabulary.tokens_to_add.labels", None, "vocabulary.tokens_to_add.labels must be a list"),
    ("train_data_path", ["a", "b"], "train_data_path must be the path of a file"),
    ("distributed", 3, "distributed must be an object, such as .* not 3"),
    ("trainer.cuda_device", "cpu", 'trainer.cuda_device must be a whole number, not "cpu"'),
]

# Changes of two objects that belong together, of a config whose words have characters: of the
# indexer, of the embedding and of the encoder.
CHARACTERS: list[tuple[dict[str, Any], dict[str, Any], dict[str, Any], str]] = [
    ({}, {}, {}, "dataset_reader.token_indexers.characters must be of type elmo_word_characters"),
    (
        {"type": "elmo_word_characters"},
        {"vocab_namespace": "token_characters"},
        {},
        "dataset_reader.token_indexers.characters.min_padding_length must be 5 or more",
    ),
    (
        {"type": "elmo_word_characters", "min_padding_length": 5},
        {},
        {},
        "characters.embedding.vocab_namespace must be 'token_characters', as that of "
        "dataset_reader.token_indexers.characters",
    ),
    (
        {"type": "elmo_word_characters", "min_padding_length": 5},
        {"vocab_namespace": "token_characters"},
        {"ngram_filter_sizes": []},
        "ngram_filter_sizes must have the width of a filter at least",
    ),
]


@pytest.mark.parametrize(("indexer", "embedding", "encoder", "words"), CHARACTERS)
def test_characters_that_an_encoder_cannot_read_are_one_line_before_data_are_read(
    indexer: dict[str, Any],
    embedding: dict[str, Any],
    encoder: dict[str, Any],
    words: str,
    tmp_path: Path,
) -> None:
    cnn = {"type": "cnn", "embedding_dim": 4, "num_filters": 3, "ngram_filter_sizes": [2, 5]}
    encoding = {"type": "elmo_character_encoding", "encoder": {**cnn, **encoder}}
    encoding["embedding"] = {"embedding_dim": 4, **embedding}
    mistaken = changed("dataset_reader.token_indexers.characters", indexer)
    mistaken["model"]["text_embedder"]["words"]["token_embedders"]["characters"] = encoding
    mistaken.update(READ)

    with pytest.raises(ConfigurationError, match=words):
        train_model(Params(mistaken), str(tmp_path / "run"))

    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("path", "value", "words"), MISTAKES)
def test_a_mistake_is_one_line_before_data_are_read_and_leaves_no_folder(
    path: str, value: Any, words: str, tmp_path: Path
) -> None:
    mistaken = changed(path, value)
    if not path.endswith("_path"):
        mistaken.update(READ)

    with pytest.raises(ConfigurationError, match=words.replace("?", "[?]")) as raised:
        train_model(Params(mistaken), str(tmp_path / "run"))

    assert "\n" not in str(raised.value) and not (tmp_path / "run").exists()


@pytest.mark.parametrize("folder", sorted({*SHIPPED} - {"probe"}))
def test_shipped_configs_have_no_mistake(folder: str) -> None:
    check_arguments(config(folder, SHIPPED[folder][-1]))


def places() -> Iterator[str]:
    for name, value in tiny("sst", "both").items():
        yield name
        yield from (f"{name}.{key}" for key in value if isinstance(value, dict))


@pytest.mark.parametrize("value", [None, 0, "x", [], {}, NOTHING])
def test_no_value_at_the_first_two_levels_gives_a_traceback(
    value: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Made(ConfigurationError):
        """Stops a training that has all its objects."""

    def stop(training: TrainModel) -> None:
        raise Made

    monkeypatch.setattr(TrainModel, "run", stop)
    num_made = num_refused = 0
    # AllenNLP would fetch a pipeline of spaCy for a tokenizer without a type.
    tried = [each for each in places() if value != {} or not each.endswith(".tokenizer")]
    for place in tried:
        try:
            train_model(Params(changed(place, value)), str(tmp_path / "run"))
        except Made:
            num_made += 1
        except Exception as error:
            assert message_of(error), f"{place}: {error!r}"
            num_refused += 1
        assert not (tmp_path / "run").exists(), place

    assert num_refused > 10 and num_made + num_refused == len(tried)


@TrainerCallback.register("elmo_failing_for_a_test", exist_ok=True)
class Failing(TrainerCallback):
    def __init__(self, serialization_dir: str, when: str, kind: str = "KeyError") -> None:
        super().__init__(serialization_dir)
        self._when = when
        self._error = {"KeyError": KeyError, "KeyboardInterrupt": KeyboardInterrupt}[kind]("label")
        if when == "made":
            raise self._error

    def on_start(self, *args: Any, **kwargs: Any) -> None:
        if self._when == "start":
            raise self._error

    def on_epoch(self, *args: Any, epoch: int, **kwargs: Any) -> None:
        if self._when == "second epoch" and epoch == 1:
            raise self._error


def failing(**options: str) -> Params:
    return Params(changed("trainer.callbacks", [{"type": "elmo_failing_for_a_test", **options}]))


def test_an_error_of_a_class_while_it_is_made_is_one_line(tmp_path: Path) -> None:
    message = r"^trainer.callbacks.*: no Failing can be made .KeyError.'label'"
    with pytest.raises(ConfigurationError, match=message):
        train_model(failing(when="made"), str(tmp_path / "run"))


@pytest.mark.parametrize(
    ("when", "kind", "is_left"),
    [
        ("start", "KeyError", False),
        ("start", "KeyboardInterrupt", True),
        ("second epoch", "KeyError", True),
    ],
)
def test_a_bug_keeps_its_error_and_what_recover_needs_is_left(
    when: str, kind: str, is_left: bool, tmp_path: Path
) -> None:
    (tmp_path / "run").mkdir()

    with pytest.raises((KeyError, KeyboardInterrupt), match="label"):
        train_model(failing(when=when, kind=kind), str(tmp_path / "run"))

    assert bool(list((tmp_path / "run").iterdir())) == is_left


def test_a_bug_of_a_reader_keeps_its_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(reader: SstReader, path: str) -> Iterator[Any]:
        raise KeyError("label")
        yield

    monkeypatch.setattr(SstReader, "_read", read)
    with pytest.raises(KeyError, match="label"):
        train_model(Params(tiny("sst", "both")), str(tmp_path / "run"))
