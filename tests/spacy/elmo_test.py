from pathlib import Path
from typing import Any

import numpy
import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from elmo_tasks import ElmoEncoder
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.locate import DEFAULT_BILM
from elmo_tasks.spacy import use_elmo
from tests.helpers.reference_bilm import FIXTURE

ARCHIVE = FIXTURE.parent / "archives" / "sst.tar.gz"
TEXTS = ["The boat left the bank. Banks  lend money.\n", "", "It works!", "\n \n"]


def pipeline(**config: Any) -> Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("elmo", config={"bilm": str(FIXTURE), **config})
    return nlp


def assert_close(one: numpy.ndarray, other: Any) -> None:
    numpy.testing.assert_allclose(one, numpy.asarray(other), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    "layers, output", [("all", "elmo"), ("last", "lstm_outputs2"), (1, "lstm_outputs1")]
)
def test_vectors_are_those_of_the_encoder_sentence_by_sentence(
    layers: str | int, output: str
) -> None:
    encoder = ElmoEncoder.from_pretrained(FIXTURE)
    sentences = [["The", "boat", "left", "the", "bank", "."], ["Banks", "lend", "money", "."]]
    first, second = encoder(sentences)[output]

    doc = pipeline(layers=layers)(TEXTS[0])

    # Tokens 7 and 11 are a second blank and the end of the line.
    assert [token.i for token in doc if token.is_space] == [7, 11]
    assert doc._.elmo.shape == (12, 32) and doc._.elmo.dtype == numpy.float32
    assert_close(doc._.elmo[:6], first)
    assert_close(doc._.elmo[[6, 8, 9, 10]], second[:4])
    assert not doc._.elmo[[7, 11]].any()


def test_a_doc_without_sentence_boundaries_is_one_sentence() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("elmo", config={"bilm": str(FIXTURE)})
    words = ["The", "boat", "left", ".", "It", "works", "."]

    doc = nlp("The boat left. It works.")

    assert_close(doc._.elmo, ElmoEncoder.from_pretrained(FIXTURE)([words])["elmo"][0])


def test_texts_in_batches_have_the_vectors_of_texts_alone() -> None:
    nlp = pipeline()

    docs = list(nlp.pipe(TEXTS, batch_size=3))

    assert [doc.text for doc in docs] == TEXTS
    for doc in docs:
        assert_close(doc._.elmo, nlp(doc.text)._.elmo)


def test_two_processes_give_the_vectors_of_one() -> None:
    nlp = pipeline()
    expected = list(nlp.pipe(TEXTS))

    docs = list(nlp.pipe(TEXTS, n_process=2, batch_size=2))

    for doc, other in zip(docs, expected, strict=True):
        assert_close(doc._.elmo, other._.elmo)
        for token, same in zip(doc, other, strict=True):
            assert_close(token.vector, same.vector)
        assert_close(use_elmo(doc).vector, other.vector)


def test_a_tensor_for_later_components_is_left_as_it_is() -> None:
    nlp = pipeline()
    doc = nlp.make_doc(TEXTS[0])
    doc.tensor = tensor = numpy.ones((len(doc), 3), numpy.float32)

    assert nlp(doc).tensor is tensor
    assert doc[0].vector.shape == doc._.elmo[0].shape


@pytest.mark.parametrize("place", ["input", "output"])
def test_the_trained_mix_of_an_archive_is_used_and_saved(place: str, tmp_path: Path) -> None:
    nlp = pipeline(bilm=str(ARCHIVE), place=place)
    words = ["It", "works", "!"]
    expected = ElmoEncoder.from_pretrained(ARCHIVE, place)([words])["elmo"][0]

    nlp.to_disk(tmp_path / "saved")
    loaded = spacy.load(tmp_path / "saved")

    assert_close(nlp(TEXTS[2])._.elmo, expected)
    assert_close(loaded(TEXTS[2])._.elmo, expected)


def test_a_saved_pipeline_needs_no_other_file(tmp_path: Path) -> None:
    nlp = pipeline()
    config = {"bilm": "gone/away"}
    nlp.config["components"]["elmo"].update(config)
    expected = nlp(TEXTS[0])._.elmo

    nlp.to_disk(tmp_path)
    from_disk = spacy.load(tmp_path)
    from_bytes = pipeline(**config).from_bytes(nlp.to_bytes())

    files = {path.name for path in (tmp_path / "elmo").iterdir()}
    assert files == {"options.json", "weights.hdf5", "mix.json"}
    assert_close(from_disk(TEXTS[0])._.elmo, expected)
    assert_close(from_bytes(TEXTS[0])._.elmo, expected)


def test_an_unknown_bilm_is_refused_at_first_use_by_the_handler_of_the_pipeline() -> None:
    nlp = pipeline(bilm="our-own-model")
    errors = []
    nlp.set_error_handler(lambda name, _, docs, error: errors.append((name, len(docs), error)))

    assert list(nlp.pipe(["One.", "Two."])) == []

    ((name, num_docs, error),) = errors
    assert (name, num_docs) == ("elmo", 2) and isinstance(error, ConfigurationError)
    assert "no biLM is known as 'our-own-model'" in str(error)


nlp = spacy.blank("en")
RNG = numpy.random.default_rng(0)


def make_doc(text: str = "The bank near the other bank \n") -> Doc:
    doc = nlp(text)
    doc._.elmo = RNG.normal(size=(len(doc), 4)).astype(numpy.float32)
    return use_elmo(doc)


def cosine(one: Any, other: Any) -> float:
    return one @ other / numpy.sqrt((one @ one) * (other @ other))


def test_vectors_of_docs_and_spans_are_means_over_words() -> None:
    doc = make_doc()

    assert numpy.array_equal(doc[1].vector, doc._.elmo[1])
    assert doc[-1].is_space
    numpy.testing.assert_allclose(doc.vector, doc._.elmo[:6].mean(axis=0), rtol=1e-6)
    numpy.testing.assert_allclose(doc[4:].vector, doc._.elmo[4:6].mean(axis=0), rtol=1e-6)
    assert doc.has_vector and doc[4:].has_vector and doc[1].has_vector
    assert doc.vector_norm == pytest.approx(numpy.linalg.norm(doc.vector), rel=1e-5)


def test_similarity_is_the_cosine_even_of_equal_words() -> None:
    doc = make_doc()

    assert doc[1].text == doc[5].text == "bank"
    assert doc[1].similarity(doc[5]) == pytest.approx(
        cosine(doc._.elmo[1], doc._.elmo[5]), abs=1e-6
    )
    for one, other in ((doc, doc[2:4]), (doc[0:2], doc[4:6]), (doc[3:4], doc[3])):
        assert one.similarity(other) == pytest.approx(cosine(one.vector, other.vector), abs=1e-6)


def test_a_doc_without_words_has_the_vector_0() -> None:
    empty, blank = make_doc(""), make_doc(" \n")

    for doc in (empty, blank):
        assert doc.vector.tolist() == [0, 0, 0, 0]
        assert not doc.has_vector and doc.similarity(make_doc()) == 0


def test_vectors_that_do_not_fit_are_refused() -> None:
    doc = make_doc("New York is big")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])

    with pytest.raises(ValueError, match="3 tokens and 4 ELMo vectors; run the component elmo"):
        _ = doc[0].vector
    with pytest.raises(ValueError, match="2 tokens and no ELMo vectors"):
        _ = make_doc()[1:3].as_doc().vector


def test_the_component_has_the_default_of_all() -> None:
    assert Language.get_factory_meta("elmo").default_config["bilm"] == DEFAULT_BILM
