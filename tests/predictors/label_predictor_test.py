import shutil
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from elmo_tasks.predictors.label_predictor import SstPredictor
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
