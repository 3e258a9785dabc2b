from typing import Any

import numpy
import pytest
import spacy
from spacy.tokens import Doc

from elmo_tasks.spacy import use_elmo

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


def test_vectors_of_another_process_are_used_again() -> None:
    doc = make_doc()

    with pytest.warns(UserWarning, match="Re-add any required user hooks"):
        copy = Doc(nlp.vocab).from_bytes(doc.to_bytes())

    assert numpy.array_equal(use_elmo(copy).vector, doc.vector)


def test_vectors_that_do_not_fit_are_refused() -> None:
    doc = make_doc("New York is big")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2])

    with pytest.raises(ValueError, match="3 tokens and 4 ELMo vectors; run the component elmo"):
        _ = doc[0].vector
    with pytest.raises(ValueError, match="2 tokens and no ELMo vectors"):
        _ = make_doc()[1:3].as_doc().vector
