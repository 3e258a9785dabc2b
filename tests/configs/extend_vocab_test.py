"""Tests of `allennlp evaluate --extend-vocab` with the models of all tasks."""

import json
from pathlib import Path

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.models import load_archive

from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.command_line import our_command
from tests.helpers.configs import tiny
from tests.helpers.language_model_configs import shrunk
from tests.helpers.sentence_files import write_sentence

TRAINING = "the owl saw the owl and the heron and saw it , the owl ."
# The quokka, the é and the ø are in no training text.
TEST = "the Owl saw the quokka in the café ø ."

# Their models embed words alone, words and characters, and words of documents.
TASKS = ("sst", "squad", "coref")


def train(task: str, folder: Path, change: str = "{}", variant: str = "baseline") -> Path:
    path = write_sentence(task, folder / "training", TRAINING)
    paths = f"{{ train_data_path: '{path}', validation_data_path: '{path}' }}"
    # SST alone has phrases.
    choices = "{ min_count: 1, min_phrase_tokens:: null, trainer+: { num_epochs: 1 } }"
    params = tiny(task, variant, paths, choices, change)
    train_model(Params(params), str(folder / "model"))
    return folder / "model" / "model.tar.gz"


def evaluate(archive: Path, path: Path, *options: str) -> dict:
    output = archive.parent / "metrics.json"
    our_command("evaluate", archive, path, "--output-file", output, *options)
    return json.loads(output.read_text())


@pytest.mark.parametrize("task", TASKS)
def test_model_of_learned_vectors_is_evaluated(task: str, tmp_path: Path) -> None:
    archive = train(task, tmp_path, variant="both")
    test = write_sentence(task, tmp_path / "test", TEST)

    metrics = evaluate(archive, test, "--extend-vocab")

    assert metrics["loss"] > 0


@pytest.mark.parametrize(
    ("task", "name"), [("sst", "embedding"), *((task, "elmo_word_vectors") for task in TASKS)]
)
def test_new_words_have_the_vectors_of_a_given_file(task: str, name: str, tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("the 1 2\nowl 3 4\n")
    source = f"type: '{name}', embedding_dim: 2, pretrained_file: '{vectors}'"
    archive = train(task, tmp_path, f"{{ word_vectors: {{ {source} }} }}")
    test = write_sentence(task, tmp_path / "test", TEST)
    vectors.write_text("the 1 2\nowl 3 4\nquokka 5 6\n")
    path = "text_embedder.words.token_embedder_tokens"
    sources = json.dumps({path: str(vectors)})

    metrics = evaluate(archive, test, "--extend-vocab", "--embedding-sources-mapping", sources)

    assert metrics["loss"] > 0
    model = load_archive(archive).model
    model.vocab.add_token_to_namespace("quokka")
    model.extend_embedder_vocab({path: str(vectors)})
    weight = dict(model.named_parameters())[f"{path}.weight"]
    assert weight[-1].tolist() == [5, 6]


def test_word_vectors_and_characters_answer_as_without_it_where_no_file_is_given(
    tmp_path: Path,
) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("the 1 2\nowl 3 4\nsaw 5 6\n")
    source = f"type: 'elmo_word_vectors', embedding_dim: 2, pretrained_file: '{vectors}'"
    change = f"{{ word_vectors: {{ {source} }}, vocabulary+: {{ min_count: {{}} }} }}"
    archive = train("squad", tmp_path, change)
    test = write_sentence("squad", tmp_path / "test", TEST)

    without = evaluate(archive, test)
    extended = evaluate(archive, test, "--extend-vocab")

    assert extended == pytest.approx(without)
    model = load_archive(archive).model
    characters = model.vocab.get_token_to_index_vocabulary("token_characters")
    assert "h" in characters and "ø" not in characters


def test_extended_rows_stay_in_the_dtype_of_the_others(tmp_path: Path) -> None:
    model = load_archive(train("squad", tmp_path)).model.to(torch.float64)
    model.vocab.add_token_to_namespace("ø", "token_characters")

    model.extend_embedder_vocab()

    embedding = model.text_embedder.words.token_embedder_token_characters.embedding
    assert embedding.weight.dtype == torch.float64


def test_tag_that_the_training_lacks_is_refused(tmp_path: Path) -> None:
    archive = train("ner", tmp_path)
    test = write_sentence("ner", tmp_path / "test", TEST)
    lines = test.read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1].rpartition(" ")[0] + " I-SHIP"
    test.write_text("\n".join(lines) + "\n", encoding="utf-8")

    with pytest.raises(ConfigurationError, match="not trained on: B-SHIP, .*; evaluate"):
        evaluate(archive, test, "--extend-vocab")


def test_language_model_refuses_words_that_its_softmax_lacks(tmp_path: Path) -> None:
    train_model(Params(shrunk("small")), str(tmp_path / "model"))
    archive = tmp_path / "model" / "model.tar.gz"
    test = tmp_path / "test.txt"
    test.write_text("the quokka met a zorilla\n")
    assert evaluate(archive, test)["loss"] > 0

    with pytest.raises(ConfigurationError, match="has [2-4] words that the softmax does not"):
        evaluate(archive, test, "--extend-vocab")
