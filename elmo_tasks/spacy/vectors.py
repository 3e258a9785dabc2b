from typing import Union

import numpy
from spacy.tokens import Doc, Span, Token

Doc.set_extension("elmo", default=None, force=True)

_Text = Union[Doc, Span, Token]


def use_elmo(doc: Doc) -> Doc:
    """
    Makes `vector`, `has_vector` and `similarity` of a doc, its spans and its tokens use
    `doc._.elmo` in place of the vocabulary's vectors. The vector of a doc or span is the mean over
    its tokens without white space, and similarity is the cosine. Returns the doc.

    The component `elmo` calls this function. Call it yourself for a doc that comes from another
    process (`n_process`), from bytes or from a `DocBin` with user data, because spaCy drops the
    hooks there. Without this call, a doc from another process or from bytes may have vectors in
    `doc.tensor`, but its similarity is spaCy's own: 1 for equal words in any sentences.

    # Raises

    `ValueError`: When a vector is used: the doc does not have one vector for each token.
    """
    doc.user_hooks.update(vector=_mean, has_vector=_has_vector, similarity=_similarity)
    doc.user_span_hooks.update(vector=_mean, has_vector=_has_vector, similarity=_similarity)
    doc.user_token_hooks.update(vector=_row, has_vector=_has_vector, similarity=_similarity)
    return doc


def _array(doc: Doc) -> numpy.ndarray:
    array = doc._.elmo
    if array is None or len(array) != len(doc):
        found = "no ELMo vectors" if array is None else f"{len(array)} ELMo vectors"
        raise ValueError(
            f"this doc has {len(doc)} tokens and {found}; run the component elmo on it (again, if "
            "tokens were merged or split, or if `as_doc` made the doc)"
        )
    return array


def _row(token: Token) -> numpy.ndarray:
    return _array(token.doc)[token.i]


def _mean(text: Union[Doc, Span]) -> numpy.ndarray:
    array = _array(text.doc)
    rows = [token.i for token in text if not token.is_space]
    return array[rows].mean(axis=0) if rows else array[:0].sum(axis=0)


def _has_vector(text: _Text) -> bool:
    return bool(text.vector.any())


def _similarity(text: _Text, other: _Text) -> float:
    one, two = text.vector, other.vector
    norms = numpy.linalg.norm(one) * numpy.linalg.norm(two)
    return float(one @ two / norms) if norms else 0.0
