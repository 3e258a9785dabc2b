"""Tests of the words that a model of each task knows, from its training text and a vector file."""

import copy
import gzip
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import TrainModel, train_model
from allennlp.common import Params
from allennlp.data import Batch, DatasetReader, Vocabulary
from allennlp.models import Model, load_archive

from tests.helpers.configs import TASKS, config, tiny
from tests.helpers.promises import promises

# `tag` reads as `ner` does.
READ = [task for task in TASKS if task != "tag"]
# The training text has `heron` once and other words twice or more; the other texts have `quokka`.
TRAINING = "the owl saw the owl , and the owl and the heron saw , ."
VALIDATION = "the quokka saw the quokka ."
VECTORS = {"the": [1, 2], "quokka": [3, 4], "gnu": [5, 6], "owl": [7, 8], "newt": [9, 10]}

every_task = pytest.mark.parametrize("task", READ)


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"{word} {x} {y}\n" for word, (x, y) in VECTORS.items()))
    return path


def write_sentence(task: str, path: Path, sentence: str) -> Path:
    """Writes a file with a sentence, whose tokens are separated by spaces, and returns its path."""
    path.write_text(promises()[task].sentence_file(sentence), encoding="utf-8")
    return path


def task_config(task: str, folder: Path, *changes: str) -> dict[str, Any]:
    training = write_sentence(task, folder / "training", TRAINING)
    validation = write_sentence(task, folder / "validation", VALIDATION)
    paths = f"train_data_path: '{training}', validation_data_path: '{validation}'"
    # SST alone has phrases.
    choices = f"{{ {paths}, min_count: 2, min_phrase_tokens:: null }}"
    return tiny(task, "baseline", choices, *changes)


def from_file(vectors: Path, more: str = "") -> str:
    return f"""{{
        word_vectors: {{ embedding_dim: 2, pretrained_file: '{vectors}', {more} }},
    }}"""


def built(params: dict[str, Any], folder: Path) -> Model:
    """Returns the model of a config, as `allennlp train` builds it."""
    training = TrainModel.from_params(
        Params(copy.deepcopy(params)),
        serialization_dir=str(folder),
        local_rank=0,
        batch_weight_key="",
    )
    return training.model


def words(vocab: Vocabulary) -> list[str]:
    names = vocab.get_index_to_token_vocabulary("tokens")
    return [names[index] for index in range(2, len(names))]


def vectors_of(model: Model) -> torch.nn.Parameter:
    names = [name for name, _ in model.named_parameters() if name.endswith("_tokens.weight")]
    return model.get_parameter(*names)


def row(model: Model, word: str) -> list[float]:
    """Returns the vector of a word that a reader's `tokens` indexer leaves as it is."""
    return vectors_of(model)[model.vocab.get_token_index(word)].tolist()


@every_task
def test_learned_vectors_are_of_words_that_the_training_text_repeats(
    task: str, tmp_path: Path
) -> None:
    model = built(task_config(task, tmp_path), tmp_path / "model")

    known = set(words(model.vocab))
    assert known - {",", "."} == {"the", "owl", "saw", "and"}
    assert row(model, "quokka") == row(model, "heron") == row(model, "@@UNKNOWN@@")
    # The words of the validation text are not counted.
    model = built(task_config(task, tmp_path, "{ min_count: 1 }"), tmp_path / "another")
    assert set(words(model.vocab)) - known - {",", "."} == {"heron"}


@every_task
def test_archive_has_the_vectors_of_words_that_neither_of_its_texts_has(
    task: str, vectors: Path, tmp_path: Path
) -> None:
    params = task_config(task, tmp_path, from_file(vectors), "{ trainer+: { num_epochs: 1 } }")
    params = {**params, "trainer": {**params["trainer"], "optimizer": {"type": "sgd", "lr": 0}}}
    train_model(Params(params), str(tmp_path / "model"))
    vectors.unlink()

    model = load_archive(tmp_path / "model" / "model.tar.gz").model

    for word, vector in VECTORS.items():
        assert row(model, word) == vector
    # The file lacks the rare word.
    assert set(words(model.vocab)) - {",", "."} == {"the", "owl", "saw", "and"} | set(VECTORS)


BOUNDS = [("0", []), ("3", ["quokka", "gnu"]), ("null", ["quokka", "gnu", "newt"])]


@pytest.mark.parametrize(
    ("task", "bound", "more"), [(task, *BOUNDS[k % 3]) for k, task in enumerate(READ)]
)
def test_words_that_a_file_adds_are_its_first_ones_and_are_trained_as_the_config_says(
    task: str, bound: str, more: list[str], vectors: Path, tmp_path: Path
) -> None:
    trainable = bound == "3"
    change = f"{{ max_pretrained_words: {bound} }}"
    from_vectors = from_file(vectors, f"trainable: {str(trainable).lower()}")

    model = built(task_config(task, tmp_path, from_vectors, change), tmp_path / "model")

    known = words(model.vocab)
    assert sorted(set(known) - {"the", "owl", "saw", "and", ",", "."}) == sorted(more)
    assert len(known) == len(set(known))
    assert vectors_of(model).requires_grad == trainable


@pytest.mark.parametrize("path", ["data/matrix.hdf5", "data/matrix.h5"])
def test_words_are_not_taken_from_a_matrix(path: str) -> None:
    change = f"{{ word_vectors: {{ embedding_dim: 2, pretrained_file: '{path}' }} }}"

    vocabulary = config("snli", "baseline", change)["vocabulary"]

    assert vocabulary.keys() == {"min_count", "tokens_to_add"}
    assert vocabulary["min_count"] == {"tokens": 2}


@pytest.mark.parametrize("task", ["sst", "snli"])
def test_every_class_of_the_task_is_in_the_vocabulary(task: str, tmp_path: Path) -> None:
    params = task_config(task, tmp_path)
    reader = DatasetReader.from_params(Params(copy.deepcopy(params["dataset_reader"])))
    # The fixture has every class, and this text has one sentence or pair alone.
    fixture = Path("fixtures", {"sst": "sst.txt", "snli": "snli.jsonl"}[task])
    classes = {instance["label"].label for instance in reader.read(fixture)}

    model = built(params, tmp_path / "model")

    assert set(model.vocab.get_token_to_index_vocabulary("labels")) == classes


def test_words_in_another_case_have_the_vector_of_their_lower_case_in_squad(
    vectors: Path, tmp_path: Path
) -> None:
    with vectors.open("a", encoding="utf-8") as file:
        file.write("Emu 11 12\n")
    change = from_file(vectors, "type: 'elmo_word_vectors'")
    params = task_config("squad", tmp_path, change)
    text = "The GNU saw Emu , emu and Quokka"
    other = write_sentence("squad", tmp_path / "other", text)

    model = built(params, tmp_path / "model")
    reader = DatasetReader.from_params(Params(params["validation_dataset_reader"]))
    batch = Batch(list(reader.read(other)))
    batch.index_instances(model.vocab)
    embedder = model.text_embedder.words.token_embedder_tokens
    embedded = embedder(**batch.as_tensor_dict()["passage"]["tokens"])[0].tolist()

    nothing = [0, 0]
    assert embedded == [[1, 2], [5, 6], nothing, [11, 12], nothing, nothing, nothing, [3, 4]]
    # Words that the file lacks have no row.
    assert set(words(model.vocab)) == {*VECTORS, "Emu"}


@every_task
def test_glove_6b_is_read_packed_frozen_and_in_lower_case(
    task: str, vectors: Path, tmp_path: Path
) -> None:
    packed = tmp_path / "vectors.txt.gz"
    packed.write_bytes(gzip.compress(vectors.read_bytes()))
    # The overlay of the tests has vectors of its own.
    named = f"""{{
        word_vectors:: 'glove.6B.100d',
        chosen_vectors+:: {{ embedding_dim: 2, pretrained_file: '{packed}' }},
    }}"""

    model = built(task_config(task, tmp_path, named), tmp_path / "model")

    indexer = config(task, "baseline", "{ word_vectors: 'glove.6B.100d' }")["dataset_reader"]
    assert not vectors_of(model).requires_grad
    assert row(model, "quokka") == VECTORS["quokka"]
    assert set(words(model.vocab)) == set(VECTORS)
    assert indexer["token_indexers"]["tokens"]["type"] == "elmo_known_case_id"
