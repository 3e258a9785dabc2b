import copy
from pathlib import Path
from typing import Any

import pytest
import spacy
from allennlp.models import load_archive
from allennlp.predictors import Predictor
from spacy.language import Language

import elmo_tasks.spacy  # noqa: F401  registers the components
from elmo_tasks.archives.publish import publish
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.archives import ROOT, make_archive, task_model
from tests.helpers.configs import tiny

SST = ROOT / "fixtures" / "archives" / "sst.tar.gz"
REVIEWS = ["the boat left .", "good , funny film", "it works"]
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


def stubbed(factory: str, answer: Any) -> tuple[Language, list[dict[str, Any]]]:
    """Makes a pipeline whose component answers by a function; also returns the inputs asked."""
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    component: Any = nlp.add_pipe(factory, config={"model": "not opened"})
    asked: list[dict[str, Any]] = []

    def predict(inputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        asked.extend(inputs)
        return list(map(answer, inputs))

    component.predict = predict
    return nlp, asked


def last_two(asked: dict[str, Any]) -> list[int]:
    return [len(asked["tokens"]) - 2, len(asked["tokens"])]


TWO_SENTENCES = "Rain  fell. Marta broke two old  windows"


def test_entities_have_the_tokens_of_the_doc() -> None:
    entity = {"type": "X", "confidence": 0.5}
    nlp, asked = stubbed(
        "elmo_ner", lambda each: {"entities": [{**entity, "tokens": last_two(each)}]}
    )

    doc, empty = nlp.pipe([TWO_SENTENCES, ""])

    assert [each["tokens"][0] for each in asked] == ["Rain", "Marta"]
    assert [(e.text, e.label_, e._.elmo_confidence) for e in doc.ents] == [
        ("fell.", "X", 0.5),
        ("old  windows", "X", 0.5),
    ]
    assert empty.ents == ()


def test_roles_have_the_tokens_of_the_doc_in_the_order_of_the_text() -> None:
    role = {"role": "ARG1", "confidence": 0.5, "text": ""}
    nlp, _ = stubbed(
        "elmo_srl",
        lambda each: {"predicates": [{"index": 1, "roles": [{**role, "tokens": last_two(each)}]}]},
    )

    doc, empty = nlp.pipe([TWO_SENTENCES, ""])

    assert [
        (doc[each["predicate"]].text, doc[role["start"] : role["end"]].text, role["confidence"])
        for each in doc._.elmo_srl
        for role in each["roles"]
    ] == [("fell", "fell.", 0.5), ("broke", "old  windows", 0.5)]
    assert empty._.elmo_srl == []


def test_clusters_have_the_tokens_of_the_doc() -> None:
    clusters = [[{"tokens": [0, 2]}, {"tokens": [4, 5]}]]
    nlp, asked = stubbed("elmo_coref", lambda each: {"clusters": clusters})

    doc, empty = nlp.pipe(["The  boat sank. It was old.", " "])

    assert asked == [{"sentences": [["The", "boat", "sank", "."], ["It", "was", "old", "."]]}]
    spans = [[doc[start:end].text for start, end in cluster] for cluster in doc._.elmo_coref]
    assert spans == [["The  boat", "It"]]
    assert empty._.elmo_coref == []


def test_tags_have_the_tokens_of_the_doc() -> None:
    nlp, _ = stubbed("elmo_tagger", lambda each: {"tags": each["tokens"]})

    doc = nlp(TWO_SENTENCES)

    for token in doc:
        assert token.is_space or token.tag_ == token.text


@pytest.mark.parametrize("factory", ["elmo_sentiment", "elmo_textcat"])
def test_a_doc_is_one_text_and_without_words_keeps_its_categories(factory: str) -> None:
    nlp, asked = stubbed(factory, lambda each: {"probabilities": {"x": 0.5}})
    doc = nlp.make_doc(" \n")
    doc.cats = {"kept": 1.0}

    done, other = nlp.pipe([doc, nlp.make_doc(TWO_SENTENCES)])

    assert done.cats == {"kept": 1.0} and other.cats == {"x": 0.5}
    assert asked == [{"tokens": "Rain fell . Marta broke two old windows".split()}]


@pytest.mark.parametrize("factory", ["elmo_tagger", "elmo_textcat"])
def test_a_model_of_ones_own_is_opened(factory: str, tmp_path: Path) -> None:
    task = "tag" if factory == "elmo_tagger" else "classify"
    archive = task_model(tmp_path, task, "baseline")
    predictor = Predictor.from_archive(load_archive(archive))

    doc = pipeline(factory, archive)("New York hired two.")

    answer = predictor.predict_json({"tokens": SENTENCES[1]})
    assert doc.cats == pytest.approx(answer["probabilities"]) or task == "tag"
    assert [token.tag_ for token in doc] == answer.get("tags", [""] * 5)


def probabilities(text: str) -> Any:
    predictor = Predictor.from_archive(load_archive(SST))
    return predictor.predict_json({"tokens": text.split()})["probabilities"]


@pytest.mark.parametrize("text", REVIEWS)
def test_categories_are_the_probabilities_of_the_classes(text: str) -> None:
    nlp = pipeline("elmo_sentiment", SST)

    doc = nlp("\n".join(text.split()))

    assert doc.cats == pytest.approx(probabilities(text), abs=1e-5)


def test_a_saved_pipeline_has_the_model(tagger: Path, tmp_path: Path) -> None:
    nlp = pipeline("elmo_ner", tagger)
    expected = entities(nlp)

    nlp.to_disk(tmp_path / "saved")
    from_bytes = pipeline("elmo_ner", "gone.tar.gz").from_bytes(nlp.to_bytes())

    assert [path.name for path in (tmp_path / "saved" / "elmo_ner").iterdir()] == ["model.tar.gz"]
    assert entities(spacy.load(tmp_path / "saved")) == expected
    assert entities(from_bytes) == expected
    assert from_bytes.get_pipe("elmo_ner").to_bytes() == tagger.read_bytes()


def saved(folder: Path, one: bytes, two: bytes) -> Language:
    """Saves a pipeline of two components, whose archives are any bytes, and loads it."""
    nlp = spacy.blank("en")
    for name, content in (("one", one), ("two", two)):
        nlp.add_pipe("elmo_ner", name, config={"model": "none"}).from_bytes(content)
    nlp.to_disk(folder)
    return spacy.load(folder)


def archives(nlp: Language) -> dict[str, bytes]:
    return {name: nlp.get_pipe(name).to_bytes() for name in nlp.pipe_names}


def test_a_loaded_pipeline_keeps_its_models_whatever_is_saved_in_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "saved"
    nlp = saved(folder, b"1", b"2")
    copied = copy.deepcopy(nlp)

    for old, new in {"one": "other", "two": "one", "other": "two"}.items():
        nlp.rename_pipe(old, new)
    nlp.to_disk(folder)

    assert archives(nlp) == archives(spacy.load(folder)) == {"two": b"1", "one": b"2"}
    assert archives(copied) == {"one": b"1", "two": b"2"}
    nlp.to_disk(folder)
    again = spacy.load(folder)
    again.to_disk(folder)
    saved(folder, b"3", b"4")
    assert archives(again) == archives(nlp) == {"two": b"1", "one": b"2"}


def test_a_model_that_another_process_replaced_is_refused(tmp_path: Path) -> None:
    nlp = saved(tmp_path, b"1", b"2")

    (tmp_path / "one" / "model.tar.gz").write_bytes(b"other")

    words = "one/model.tar.gz was written again since the component one was loaded: load the"
    for use in (nlp.get_pipe("one").to_bytes, lambda: nlp("Rain fell.")):
        with pytest.raises(ConfigurationError, match=words):
            use()
    assert nlp.get_pipe("two").to_bytes() == b"2"


def test_a_packed_model_is_saved_as_an_archive(tmp_path: Path) -> None:
    publish(SST, tmp_path / "packed")
    nlp = pipeline("elmo_sentiment", tmp_path / "packed")

    loaded = pipeline("elmo_sentiment", "gone.tar.gz").from_bytes(nlp.to_bytes())

    for doc in (nlp("it works"), loaded("it works")):
        # The weights of a packed model are rounded.
        assert doc.cats == pytest.approx(probabilities("it works"), abs=1e-3)


@pytest.mark.parametrize("name", ["notes.txt", "model.tar.gz"])
def test_a_link_out_of_the_folder_of_a_model_is_not_saved(name: str, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "model" / name).symlink_to(tmp_path / "secret")
    nlp = pipeline("elmo_sentiment", tmp_path / "model")

    with pytest.raises(ConfigurationError, match=f"{name} is a link out of its folder"):
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
