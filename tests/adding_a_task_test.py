"""
Adds a task by the steps of CONTRIBUTING's "Adding a task", and finds it in the commands, in Python
and on the page: a reader, a model, a predictor and a config are all that they need.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from allennlp.common import Registrable
from allennlp.data import DatasetReader, Instance, TextFieldTensors, Token, Vocabulary
from allennlp.data.fields import Field, LabelField, MetadataField, TextField
from allennlp.models import Model
from allennlp.modules import Seq2SeqEncoder
from allennlp.nn.util import masked_mean
from allennlp.predictors import Predictor

import elmo_tasks
from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.models.bases import Classifier
from elmo_tasks.modules.text_embedder import ElmoTextEmbedder
from elmo_tasks.predictors.label_predictor import LabelPredictor
from elmo_tasks.predictors.text_predictor import Task
from elmo_tasks.readers.text_reader import TextReader
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer
from elmo_tasks.serve.app import ServedModel
from tests.helpers.command_line import our_command
from tests.helpers.configs import CONFIGS, FIXTURE_BILM, TASKS
from tests.helpers.promises import promises
from tests.helpers.served import app_of, run_server

DATA = "no\tThe boat left.\nyes\tDid it rain?\nno\tWe sang.\nyes\tWho left?\n"
CONFIG = f"""
(import '{CONFIGS}/lib/base.libsonnet') {{
  local config = self,
  elmo_at: ['input', 'output'], elmo_lambda: 0.1, bilm: {FIXTURE_BILM},
  word_vectors: {{ embedding_dim: 4 }},
  dataset_reader: {{ type: 'toy', token_indexers: config.token_indexers }},
  train_data_path: 'questions.tsv', validation_data_path: 'questions.tsv',
  model: config.regularized {{
    type: 'toy',
    text_embedder: config.text_embedder,
    encoder: {{ type: 'elmo_lstm', input_size: config.input_dim, hidden_size: 4 }},
  }},
  data_loader: {{ batch_size: 2 }},
  trainer+: {{ optimizer: 'elmo_adam', num_epochs: 1, validation_metric: '+accuracy' }},
}}
"""


class ToyReader(TextReader):
    """Reads a label and a text on each line."""

    tokenizer = ElmoSpacyTokenizer()

    def _read(self, file_path: str) -> Iterable[Instance]:
        for line in self.shard_iterable(Path(file_path).read_text().splitlines()):
            label, text = line.split("\t")
            yield self.text_to_instance(self.tokenizer.tokenize(text), label)

    def text_to_instance(self, tokens: list[Token], label: str | None = None) -> Instance:
        words = [token.text for token in tokens]
        fields: dict[str, Field] = {
            "tokens": TextField(tokens),
            "metadata": MetadataField({"tokens": words}),
        }
        return Instance(fields if label is None else {**fields, "label": LabelField(label)})


class ToyModel(Classifier):
    """Classifies a text by the mean of its words."""

    default_predictor = "toy"

    def __init__(
        self, vocab: Vocabulary, text_embedder: ElmoTextEmbedder, encoder: Seq2SeqEncoder, **kwargs
    ) -> None:
        super().__init__(vocab, **kwargs)
        self.text_embedder, self.encoder = text_embedder, encoder
        width = encoder.get_output_dim() + text_embedder.get_elmo_dim()
        self.scores = torch.nn.Linear(width, vocab.get_vocab_size("labels"))

    def forward(
        self, tokens: TextFieldTensors, metadata: list[Any], label: torch.Tensor = None
    ) -> dict[str, Any]:
        (text,) = self.text_embedder(tokens)
        h = text.extend(self.encoder(text.x, text.mask))
        logits = self.scores(masked_mean(h, text.mask.unsqueeze(-1), dim=1))
        return {**self.class_output(logits, label), "tokens": [each["tokens"] for each in metadata]}


class ToyPredictor(LabelPredictor):
    """Says whether a sentence asks something."""

    task = Task(
        "toy",
        "Toy",
        "Says whether a sentence asks something.",
        ({"sentence": "Is it late?"},),
        drawing="label",
        comparison="classes",
        explained=True,
    )


@pytest.fixture(scope="module", autouse=True)
def registered() -> Iterator[None]:
    kinds: list[tuple[Any, Any]] = [
        (DatasetReader, ToyReader), (Model, ToyModel), (Predictor, ToyPredictor)
    ]  # fmt: skip
    for base, kind in kinds:
        base.register("toy")(kind)
    with pytest.MonkeyPatch.context() as patch:
        # `allennlp.__main__`, which `train` imports, puts a folder into it.
        patch.setattr(sys, "path", [*sys.path])
        yield
    for base, _ in kinds:
        del Registrable._registry[base]["toy"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data and a trained model."""
    folder = tmp_path_factory.mktemp("toy")
    (folder / "questions.tsv").write_text(DATA)
    (folder / "toy.jsonnet").write_text(CONFIG.replace("questions.tsv", f"{folder}/questions.tsv"))
    our_command("train", folder / "toy.jsonnet", "-s", folder / "run")
    return folder


def test_the_commands_take_a_new_task(folder: Path, capsys: pytest.CaptureFixture) -> None:
    (folder / "in.txt").write_text("Did we win?\n")

    run, data, answers, report = (
        folder / name for name in ("run", "questions.tsv", "answers.jsonl", "errors.json")
    )

    our_command("predict", run, folder / "in.txt")
    (line,) = capsys.readouterr().out.splitlines()
    our_command("evaluate", run, data, "--predictions-output-file", answers)
    our_command("errors", run, data, "--json", report)

    assert line.split("\t")[0] in ("yes", "no") and line.split("\t")[2] == "Did we win ?"
    assert len(answers.read_text().splitlines()) == 4
    assert json.loads(report.read_text())["num_cases"] == 4


def test_python_and_the_page_take_a_new_task(folder: Path) -> None:
    (example,) = ToyPredictor.task.examples
    answer = elmo_tasks.load(folder / "run").predict(example["sentence"])
    with run_server(app_of([ServedModel("toy", open_archive(folder / "run"))])) as address:
        (tab,) = httpx.get(f"{address}/models").json()["models"]
        shown = httpx.post(f"{address}/predict/toy", json=example).json()
        (text,) = httpx.post(f"{address}/saliency/toy", json=example).json()["texts"]

    assert (tab["title"], tab["drawing"], tab["fields"]) == ("Toy", "label", ["sentence"])
    assert {mix["place"] for mix in tab["mixes"]} == {"input", "output"}
    assert shown["label"] == answer.label and shown["tokens"] == text["tokens"] == answer.tokens


def test_every_task_says_what_it_promises() -> None:
    assert sorted(promises()) == sorted(TASKS)
