import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import TrainModel
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.from_params import FromParams
from allennlp.common.util import prepare_environment
from allennlp.data import BatchSampler, DataLoader, DatasetReader, Vocabulary
from allennlp.data.tokenizers import WhitespaceTokenizer
from allennlp.evaluation import evaluator
from allennlp.models import Model
from allennlp.modules import FeedForward, Seq2SeqEncoder
from allennlp.nn.util import int_to_device
from allennlp.training import Trainer
from allennlp.training.optimizers import Optimizer

from elmo_tasks.commands.mistakes import mistake


def refusal(make: Any, fields: dict[str, Any], **extras: Any) -> str:
    """Returns the message of a command on an object that cannot be made from a config."""
    with pytest.raises(ConfigurationError) as caught:
        make.from_params(Params(json.loads(json.dumps(fields))), **extras)
    return str(mistake(caught.value))


@pytest.mark.parametrize(
    ("make", "fields", "message"),
    [
        (TrainModel, {"modell": {}}, "the config has no field 'modell'; did you mean 'model'?"),
        (TrainModel, {"train_datapath": "x"}, "'train_datapath'; did you mean 'train_data_path'?"),
        (TrainModel, {"random_sed": 1}, "'random_sed'; did you mean 'random_seed'?"),
        (
            Seq2SeqEncoder,
            {"type": "lstm", "input_size": 4, "hiden_size": 4},
            "LstmSeq2SeqEncoder has no parameter 'hiden_size'; did you mean 'hidden_size'?",
        ),
        (
            Model,
            {"type": "elmo_classifier", "text_embedder": {}, "encodr": {}},
            "TextClassifier has no parameter 'encodr'; did you mean 'encoder'?",
        ),
        (Optimizer, {"type": "adam", "learning_rate": 1}, "'learning_rate'; did you mean 'lr'?"),
        (Optimizer, {"type": "sgd", "x": 1}, "'x'; there are lr, parameter_groups, momentum, "),
        (DataLoader, {"batchsize": 1}, "'batchsize'; did you mean 'batch_size'?"),
        (
            FeedForward,
            {"input_dim": 1, "num_layers": 1, "hidden_dims": 1, "activations": "relux"},
            "activations cannot be 'relux'; did you mean 'relu'?",
        ),
        (
            FeedForward,
            {"input_dim": 1, "num_layers": 1, "hidden_dims": 1, "activations": "relu", "dropot": 1},
            "FeedForward has no parameter 'dropot'; did you mean 'dropout'?",
        ),
        (DatasetReader, {"type": "elmo_st"}, "type cannot be 'elmo_st'; did you mean 'elmo_sst'?"),
        (
            DatasetReader,
            {"type": "elmo_sst", "granularty": "2-class"},
            "did you mean 'granularity'?",
        ),
    ],
)
def test_a_misspelt_field_or_name_is_answered_with_the_nearest_one(
    make: Any, fields: dict[str, Any], message: str
) -> None:
    extras: dict[Any, dict[str, Any]] = {
        Model: {"vocab": Vocabulary()},
        Optimizer: {"model_parameters": []},
        DataLoader: {"reader": None, "data_path": "x"},
    }

    said = refusal(make, fields, **extras.get(make, {}))

    assert message in said and len(said) < 300


@pytest.mark.parametrize(
    ("make", "fields", "message"),
    [
        (DataLoader, {"batch_size": -1}, "batch_size of CompatibleMultiProcessDataLoader must be"),
        (DataLoader, {"type": "simple", "batch_size": 0}, "batch_size of SimpleDataLoader must be"),
        (
            DataLoader,
            {"batch_size": 1, "max_instances_in_memory": 0},
            "max_instances_in_memory of CompatibleMultiProcessDataLoader must be 1 or more, not 0",
        ),
        (
            DataLoader,
            {"batch_sampler": {"type": "bucket", "batch_size": 0}},
            "batch_size of BucketBatchSampler must be 1 or more, not 0",
        ),
        (
            BatchSampler,
            {"type": "max_tokens_sampler", "max_tokens": -1},
            "max_tokens of MaxTokensBatchSampler must be 1 or more, not -1",
        ),
        (
            BatchSampler,
            {"type": "elmo_repeated", "times": 0, "sampler": {"type": "bucket", "batch_size": 1}},
            "times of RepeatedSampler must be 1 or more, not 0",
        ),
        (
            Trainer,
            {"type": "elmo", "num_epochs": 0},
            "num_epochs of ElmoTrainer must be 1 or more, not 0",
        ),
        (
            Trainer,
            {"num_gradient_accumulation_steps": -1},
            "num_gradient_accumulation_steps of GradientDescentTrainer must be 1 or more, not -1",
        ),
        (
            DatasetReader,
            {"type": "sequence_tagging", "word_tag_delimiter": ""},
            "word_tag_delimiter of SequenceTaggingDatasetReader must not be empty",
        ),
        (
            DatasetReader,
            {"type": "sequence_tagging", "token_delimiter": ""},
            "token_delimiter of SequenceTaggingDatasetReader must not be empty",
        ),
    ],
)
def test_a_value_with_which_nothing_can_be_read_is_refused_by_its_name(
    make: Any, fields: dict[str, Any], message: str
) -> None:
    extras: dict[Any, dict[str, Any]] = {
        DataLoader: {"reader": None, "data_path": "x"},
        Trainer: {"model": None, "serialization_dir": "x", "data_loader": None},
    }

    assert message in refusal(make, fields, **extras.get(make, {}))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "data_loader: batch_size is required when batch_sampler is not supplied"),
        (
            {"batch_size": 4, "max_instances_in_memory": 2},
            "data_loader: max_instances_in_memory must be at least batch_size",
        ),
        ({"batch_size": 4, "num_workers": -1}, "data_loader: num_workers cannot be a negative"),
        (
            {"batch_size": 4, "num_workers": 1, "start_method": "x"},
            "start_method of data_loader: cannot find context for 'x'",
        ),
        ({"batch_size": 4, "cuda_device": -7}, "cuda_device: Device index must not be negative"),
    ],
)
def test_values_that_do_not_go_together_are_a_mistake(fields: dict[str, Any], message: str) -> None:
    with pytest.raises((ValueError, RuntimeError)) as caught:
        loader = DataLoader.from_params(Params(fields), reader=None, data_path="x")
        # AllenNLP uses some values only now.
        loader.set_target_device(int_to_device(fields.get("cuda_device", -1)))
        list(loader.iter_instances())

    assert str(mistake(caught.value)).startswith(message)


class Open(FromParams):
    def __init__(self, size: int = 1, **kwargs: Any) -> None:
        self.fields = {"size": size, **kwargs}


def test_a_constructor_may_take_fields_that_it_does_not_name() -> None:
    assert Open.from_params(Params({"size": 2, "x": 3})).fields == {"size": 2, "x": 3}


@pytest.mark.parametrize("name", ["random_seed", "numpy_seed", "pytorch_seed"])
@pytest.mark.parametrize(
    ("seed", "message"),
    [("x", "must be a whole number, not 'x'"), (-1, "must be from 0 to 2**32 - 1, not -1")],
)
def test_a_seed_that_is_none_is_refused_by_its_name(name: str, seed: Any, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        prepare_environment(Params({name: seed}))

    assert mistake(caught.value) == f"{name} {message}"


def test_other_numbers_are_refused_by_their_names_and_may_be_negative() -> None:
    params = Params({"a": "much", "b": -1, "c": None})

    with pytest.raises(ConfigurationError, match="^a must be a whole number, not 'much'$"):
        params.pop_int("a")
    assert (params.pop_int("b"), params.pop_int("c"), params.pop_int("d", 4)) == (-1, None, 4)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"text,label\n", "Expecting value: line 1"), (b'{"text": "\xff"}\n', "can't decode byte")],
)
def test_a_file_that_is_no_json_is_named(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "reviews.csv"
    path.write_bytes(content)
    reader = DatasetReader.by_name("text_classification_json")(tokenizer=WhitespaceTokenizer())

    with pytest.raises(ValueError) as caught:
        list(reader.read(path))

    said = str(mistake(caught.value))
    assert said.startswith(f"{path} cannot be read: ") and message in said


def test_control_characters_of_a_label_are_escaped_in_the_bar_of_an_evaluation() -> None:
    text = io.StringIO()

    with evaluator.Tqdm.tqdm([1], file=text) as bar:
        bar.set_description("f1-\x1b[2J: 0.50 ||", refresh=False)
        list(bar)

    assert "f1-\\x1b[2J: 0.50 ||" in text.getvalue() and "\x1b[2J" not in text.getvalue()


@pytest.mark.parametrize(
    ("reader", "line", "message"),
    [
        ({"type": "sequence_tagging"}, "Oslo\n", "SequenceTaggingDatasetReader: ValueError('not"),
        (
            {"type": "text_classification_json", "tokenizer": "just_spaces"},
            '{"review": "Good."}\n',
            "TextClassificationJsonReader: KeyError('text')",
        ),
    ],
)
def test_a_file_that_does_not_fit_a_reader_of_allennlp_is_named(
    reader: dict[str, Any], line: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "data.txt"
    path.write_text(line)

    with pytest.raises(ValueError) as caught:
        list(DatasetReader.from_params(Params(reader)).read(path))

    said = str(mistake(caught.value))
    assert said.startswith(f"{path} does not fit the reader ") and message in said


@pytest.mark.parametrize(
    "make",
    [
        lambda: torch.optim.Adam([torch.ones(1)], lr=-1),
        lambda: torch.optim.Adam([torch.ones(1)], weight_decay=-1),
        lambda: torch.optim.SGD([torch.ones(1)], momentum=-1),
        lambda: torch.nn.Dropout(2),
    ],
)
def test_a_number_that_torch_refuses_is_a_mistake(make: Callable[[], Any]) -> None:
    with pytest.raises(ValueError) as caught:
        make()

    said = str(mistake(caught.value))
    assert said.startswith("a value of the config does not fit: ") and str(caught.value) in said


def test_a_loss_that_is_no_number_is_a_mistake_with_advice() -> None:
    assert str(mistake(ValueError("nan loss encountered"))).startswith("the loss is not a number")
