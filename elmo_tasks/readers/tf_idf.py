from collections.abc import Iterable, Sequence


class TfIdf:
    """Compares texts with a question by the cosine of their TF-IDF vectors over parts of words."""

    def __init__(self, texts: Iterable[str]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        # Parts of words are compared, so that words with different endings are alike.
        self._vectorizer = TfidfVectorizer(
            analyzer="char_wb", ngram_range=(4, 5), sublinear_tf=True
        )
        self._matrix = self._vectorizer.fit_transform(texts)

    def likeness(self, question: str) -> list[float]:
        """Returns the cosine of each text and the question, from 0 to 1."""
        (cosines,) = (self._vectorizer.transform([question]) @ self._matrix.T).toarray()
        return cosines.tolist()


def nearest(likeness: Sequence[float]) -> list[int]:
    """
    Returns the indices of the texts, those most like the question first. Equal texts keep their
    order.
    """
    return sorted(range(len(likeness)), key=lambda index: (-likeness[index], index))
