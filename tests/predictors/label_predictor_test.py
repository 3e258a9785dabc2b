import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.models import Archive, load_archive
from allennlp.predictors import Predictor

from elmo_tasks.analysis.errors.compare_answers import read_cases
from elmo_tasks.analysis.errors.markdown import markdown
from elmo_tasks.analysis.errors.report import error_report
from elmo_tasks.predictors.label_predictor import ClassifyPredictor, SstPredictor
from elmo_tasks.predictors.load import LoadedModel
from elmo_tasks.readers.classify import ClassifyReader
from tests.helpers.archives import ROOT, task_model, task_predictor
from tests.helpers.training import trained_archive

CLASSES = {"very negative", "negative", "neutral", "positive", "very positive"}


def refuse(*_: Any, **__: Any) -> None:
    raise AssertionError("something asked for the network")


@pytest.fixture(scope="module")
def predictor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Predictor]:
    """Loads an archive after the biLM and the word vectors of its training were deleted."""
    folder = tmp_path_factory.mktemp("sst")
    shutil.copytree("fixtures/bilm", folder / "bilm")
    (folder / "vectors.txt").write_text("The 1 2 3\n. 4 5 6\n")
    change = f"""{{
        bilm: {{
            options: import '{folder}/bilm/options.json',
            pretrained_file: '{folder}/bilm/weights.hdf5',
        }},
        word_vectors: {{
            embedding_dim: 3, pretrained_file: '{folder}/vectors.txt', trainable: false,
        }},
    }}"""
    archive = shutil.move(trained_archive(folder, "sst", "both", change), folder)
    for left in ("bilm", "model"):
        shutil.rmtree(folder / left)
    (folder / "vectors.txt").unlink()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex", "bind"):
            patch.setattr(socket.socket, name, refuse)
        for name in ("getaddrinfo", "gethostbyname", "create_connection"):
            patch.setattr(socket, name, refuse)
        patch.chdir(folder)
        yield Predictor.from_archive(load_archive(archive))


def test_archive_predicts_without_its_files_and_the_network(predictor: Predictor) -> None:
    assert isinstance(predictor, SstPredictor)

    answer = predictor.predict_json({"sentence": "It isn't bad, Zoë."})

    assert answer["tokens"] == ["It", "is", "n't", "bad", ",", "Zoë", "."]
    assert set(answer["probabilities"]) == CLASSES
    assert sum(answer["probabilities"].values()) == pytest.approx(1, abs=1e-5)
    assert answer["label"] == max(CLASSES, key=answer["probabilities"].__getitem__)


TEXTS = ["The soup came cold. Twice!", "She sang."]
FIXTURE = ROOT / "fixtures" / "classify.csv"


def load(folders: pytest.TempPathFactory, change: str = "{}") -> Archive:
    return load_archive(task_model(folders.mktemp("model"), "classify", "baseline", change))


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    return load(tmp_path_factory)


@pytest.fixture(scope="module")
def several(tmp_path_factory: pytest.TempPathFactory) -> Archive:
    return load(tmp_path_factory, "{ separator: ';' }")


def test_a_text_and_its_words_have_the_label_and_the_probability_of_each(archive: Archive) -> None:
    predictor = Predictor.from_archive(archive)

    answer = predictor.predict_json({"text": TEXTS[0]})

    assert predictor.predict_json({"tokens": answer["tokens"]}) == answer
    assert answer["tokens"] == ["The", "soup", "came", "cold", ".", "Twice", "!"]
    assert sorted(answer["probabilities"]) == ["food", "music", "travel"]
    assert sum(answer["probabilities"].values()) == pytest.approx(1)
    assert answer["label"] == max(answer["probabilities"], key=answer["probabilities"].get)


def test_several_labels_are_answered_in_the_order_of_their_probability(several: Archive) -> None:
    predictor = Predictor.from_archive(several)
    answer = predictor.predict_json({"text": TEXTS[0]})

    (line,) = predictor.readable(answer)  # type: ignore[attr-defined]

    expected = sorted(answer["labels"], key=answer["probabilities"].get, reverse=True)
    assert answer["labels"] == expected
    assert line.split("\t")[: 2 * len(expected) : 2] == expected


def test_two_texts_are_asked_by_the_names_of_their_columns(tmp_path: Path) -> None:
    change = "{ texts: ['text', 'id'] }"
    model = LoadedModel(task_predictor(tmp_path, "classify", change=change))

    assert model.predict(text=TEXTS[0], id="7").label in ("food", "music", "travel")
    with pytest.raises(ValueError, match='"text": "raw text", "id": "raw text"'):
        model.predict(text=TEXTS[0])


def test_errors_are_those_of_classes_or_of_labels(archive: Archive, several: Archive) -> None:
    compared = [read_cases(each, str(FIXTURE)) for each in (archive, several)]

    one, more = (markdown(error_report("mine", "data", each)) for each in compared)

    assert "## Which class is taken for which" in one and "10 cases; accuracy" in one
    assert "## By type" in more and "10 cases; F1" in more


def test_an_answer_to_two_texts_has_both() -> None:
    model: Any = torch.nn.Linear(1, 1)
    model.several = False
    predictor = ClassifyPredictor(model, ClassifyReader(["title", "body"]))
    instance = predictor._json_to_instance({"title": "A boat.", "body": "It won't float. No."})
    output = {"label": "a", "probabilities": {"a": 0.75, "b": 0.25}, "tokens": ["A", "boat", "."]}

    answer = predictor.answer(instance, output)

    assert list(answer) == ["label", "probabilities", "title_tokens", "body_tokens"]
    assert predictor.readable(answer) == ["a\t0.75\tA boat .\tIt wo n't float . No ."]
    assert predictor.cells(answer) == {"label": "a", "probability": 0.75}
