import copy
import json
from pathlib import Path
from typing import Any

import pytest
import spacy
from allennlp.models import load_archive
from allennlp.predictors import Predictor
from spacy.language import Language

import elmo_tasks.spacy  # noqa: F401  registers the components
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.publish.publish import publish
from tests.helpers.archives import ROOT, make_archive, task_model
from tests.helpers.configs import tiny

SST = ROOT / "fixtures" / "archives" / "sst.tar.gz"
ANSWERS = json.loads((SST.parent / "answers.json").read_text(encoding="utf-8"))["sst"]
TEXT = "Marta Oduya  left Lisbon. New York hired two."
SENTENCES = [["Marta", "Oduya", "left", "Lisbon", "."], ["New", "York", "hired", "two", "."]]


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the archive of an untrained tagger, which takes every token for an entity."""
    config = tiny("ner", "both")
    config["train_data_path"] = str(ROOT / config["train_data_path"])
    return make_archive(tmp_path_factory.mktemp("ner"), config)


def pipeline(factory: str, model: Any) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe(factory, config={"model": str(model)})
    return nlp


def entities(nlp: Language) -> list[tuple[str, str, Any]]:
    return [(e.text, e.label_, pytest.approx(e._.elmo_confidence)) for e in nlp(TEXT).ents]


def test_entities_are_those_of_the_predictor_sentence_by_sentence(tagger: Path) -> None:
    predictor = Predictor.from_archive(load_archive(tagger))
    expected = [
        (entity["text"], entity["type"], entity["confidence"])
        for tokens in SENTENCES
        for entity in predictor.predict_json({"tokens": tokens})["entities"]
    ]

    assert len(expected) > 5
    assert entities(pipeline("elmo_ner", tagger)) == expected
    assert entities(pipeline("elmo_ner", tagger.parent)) == expected


def test_an_entity_has_the_tokens_of_the_doc(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = pipeline("elmo_ner", "not opened")
    found = [
        (1, {"entities": [{"type": "LOC", "tokens": [0, 2], "confidence": 0.5}]}),
        (0, {"entities": [{"type": "X", "tokens": [1, 3], "confidence": 0.25}]}),
    ]
    component: Any = nlp.get_pipe("elmo_ner")
    monkeypatch.setattr(component, "answers", lambda sentences: iter(found))

    doc = nlp(TEXT)

    assert [(e.text, e.label_, e._.elmo_confidence) for e in doc.ents] == [
        ("Oduya  left", "X", 0.25),
        ("New York", "LOC", 0.5),
    ]


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer["label"])
def test_categories_are_the_probabilities_of_the_classes(answer: dict[str, Any]) -> None:
    nlp = pipeline("elmo_sentiment", SST)

    doc = nlp("\n".join(answer["tokens"]))

    assert doc.cats == pytest.approx(answer["probabilities"], abs=1e-5)


def test_a_doc_without_words_keeps_its_categories() -> None:
    nlp = pipeline("elmo_sentiment", SST)
    doc = nlp.make_doc(" \n")
    doc.cats = {"kept": 1.0}

    (done, other) = nlp.pipe([doc, nlp.make_doc("it works")])

    assert done.cats == {"kept": 1.0} and len(other.cats) == 5


def test_a_saved_pipeline_has_the_model(tagger: Path, tmp_path: Path) -> None:
    nlp = pipeline("elmo_ner", tagger)
    expected = entities(nlp)

    nlp.to_disk(tmp_path / "saved")
    from_bytes = pipeline("elmo_ner", "gone.tar.gz").from_bytes(nlp.to_bytes())

    assert [path.name for path in (tmp_path / "saved" / "elmo_ner").iterdir()] == ["model.tar.gz"]
    assert entities(spacy.load(tmp_path / "saved")) == expected
    assert entities(from_bytes) == expected
    assert from_bytes.get_pipe("elmo_ner").to_bytes() == tagger.read_bytes()


def test_a_packed_model_is_saved_as_an_archive(tmp_path: Path) -> None:
    publish(SST, tmp_path / "packed")
    nlp = pipeline("elmo_sentiment", tmp_path / "packed")

    loaded = pipeline("elmo_sentiment", "gone.tar.gz").from_bytes(nlp.to_bytes())

    for doc in (nlp("it works"), loaded("it works")):
        # The weights of a packed model are rounded.
        assert doc.cats == pytest.approx(ANSWERS[2]["probabilities"], abs=1e-3)


def test_a_link_out_of_the_folder_of_a_model_is_not_saved(tmp_path: Path) -> None:
    (tmp_path / "model" / "vocabulary").mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "model" / "vocabulary" / "notes.txt").symlink_to(tmp_path / "secret")
    nlp = pipeline("elmo_sentiment", tmp_path / "model")

    with pytest.raises(ConfigurationError, match="notes.txt is a link out of its folder"):
        nlp.to_bytes()


def test_two_processes_and_copies_find_the_same(tagger: Path) -> None:
    nlp = pipeline("elmo_ner", tagger)
    expected = entities(nlp)

    first, second = nlp.pipe([TEXT, TEXT], n_process=2, batch_size=1)

    for doc in (first, second):
        assert [(e.text, e.label_) for e in doc.ents] == [found[:2] for found in expected]
    assert entities(copy.deepcopy(nlp)) == expected


def test_a_model_of_another_task_is_refused(tagger: Path) -> None:
    nlp = pipeline("elmo_sentiment", tagger)

    with pytest.raises(ConfigurationError, match="is a CrfTagger, which .* elmo_sst cannot use"):
        nlp("A text.")


def test_a_missing_archive_is_named() -> None:
    nlp = pipeline("elmo_ner", "gone.tar.gz")

    with pytest.raises(FileNotFoundError, match="gone.tar.gz"):
        nlp("A text.")


def test_categories_of_a_model_of_ones_own_are_its_probabilities(tmp_path: Path) -> None:
    archive = task_model(tmp_path, "classify", "baseline")
    predictor = Predictor.from_archive(load_archive(archive))
    nlp = pipeline("elmo_textcat", archive)

    doc = nlp(TEXT)

    expected = predictor.predict_json({"tokens": sum(SENTENCES, [])})["probabilities"]
    assert doc.cats == pytest.approx(expected, abs=1e-5)
    assert len(doc.cats) == 3


@pytest.mark.parametrize("attribute", ["tag", "pos"])
def test_tags_of_a_model_of_ones_own_are_its_answers(attribute: str, tmp_path: Path) -> None:
    archive = task_model(tmp_path, "tag", "baseline")
    predictor = Predictor.from_archive(load_archive(archive))
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("elmo_tagger", config={"model": str(archive), "attribute": attribute})

    doc = nlp(TEXT)

    expected = [
        tag for tokens in SENTENCES for tag in predictor.predict_json({"tokens": tokens})["tags"]
    ]
    found = [getattr(token, f"{attribute}_") for token in doc if not token.is_space]
    assert found == expected
