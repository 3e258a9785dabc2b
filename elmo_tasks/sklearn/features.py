import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Union

import numpy
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from elmo_tasks.bilm.files.known_bilms import DEFAULT_BILM
from elmo_tasks.common.errors import check_choice
from elmo_tasks.elmo import ElmoEncoder

# A sentence ends at one of these marks before white space.
_SENTENCE = re.compile(r"(?<=[.!?])\s+")

# Numbers, words, the clitics of English (do n't, it 's), and single other characters.
_TOKEN = re.compile(
    r"\d+(?:[.,]\d+)+|\w+(?=n['’]t\b)|n['’]t\b|['’](?:s|m|d|ll|re|ve)\b|\w+|[^\w\s]", re.IGNORECASE
)

POOLINGS = ("mean", "max", "both", "weighted")

# The a in a word's weight a / (a + p), where p is the word's share of the text (Arora et al. 2017).
_SMOOTHING = 1e-3


class ElmoFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """
    Turns texts into vectors for scikit-learn: the layers of a biLM, or ELMo_k (Peters et al. 2018,
    equation 1). Vectors are pooled over the tokens of a text.

        make_pipeline(ElmoFeatures(), StandardScaler(), LogisticRegression(C=0.01))

    Only the pooling `weighted` has something to fit. A pickle contains the parameters and the
    fitted values, but not the biLM. Each process opens the biLM once.

    # Parameters

    bilm (default `'base'`): The biLM: its name, or a path as for `ElmoEncoder.from_pretrained`.
    place: `input` or `output`: the place of the mix, if the archive `bilm` has several mixes.
    layers (default `'all'`): `all` for an archive's trained mix, or for the mean of all layers if
        there is none; `concat` for all layers side by side; `last`; or the index of one layer, 0
        for the token layer.
    pooling (default `'mean'`): How the tokens of a text are pooled: `mean`; `max`; `both`, the mean
        and the maximum side by side; or `weighted`, a mean in which rare words count more. A word's
        weight is a / (a + p), where p is the share of its lower-case form in the texts of `fit`,
        and a is 0.001 (Arora et al. 2017, without their removal of a common direction).
    tokenizer: Cuts a sentence into tokens. By default words, numbers, English clitics and
        punctuation marks are tokens.
    device (default `'cpu'`): The device that the biLM runs on.
    """

    def __init__(
        self,
        bilm: str = DEFAULT_BILM,
        *,
        place: str | None = None,
        layers: Union[str, int] = "all",
        pooling: str = "mean",
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        device: str = "cpu",
    ) -> None:
        self.bilm = bilm
        self.place = place
        self.layers = layers
        self.pooling = pooling
        self.tokenizer = tokenizer
        self.device = device

    def fit(self, X: Any, y: Any = None) -> "ElmoFeatures":
        """
        Opens the biLM, so that wrong parameters are noticed. If the pooling is `weighted`, counts
        the words of the texts. Returns this estimator.
        """
        self._check()
        if self.pooling == "weighted":
            counts = Counter(
                word.lower() for text in self._texts(X) for sentence in text for word in sentence
            )
            self.shares_ = {word: count / counts.total() for word, count in counts.items()}
        return self

    def transform(self, X: Iterable[Union[str, list[str]]]) -> numpy.ndarray:
        """
        Returns the vectors of texts: shape (texts, width), in float32. The vector of a text without
        tokens is all zeros.

        # Parameters

        X: Texts. A string is cut into sentences at `.`, `!` and `?` before white space, and each
            sentence is an input of the biLM. A list of tokens is one sentence.

        # Raises

        `ConfigurationError`: A parameter cannot be used.
        `NotFittedError`: The pooling is `weighted`, and `fit` was not called.
        `ValueError`: `X` is one string, a table or a mapping, or contains something other than
            texts; or the tokenizer returns something other than tokens.
        """
        encoder = self._check()
        check_is_fitted(self)
        texts = self._texts(X)
        vectors = encoder.vectors(sentence for text in texts for sentence in text)
        features = numpy.zeros((len(texts), self._n_features_out), numpy.float32)
        for row, text in zip(features, texts):
            if text:
                words = [word for sentence in text for word in sentence]
                row[:] = self._pooled(torch.cat([next(vectors) for _ in text]), words).numpy()
        return features

    def _texts(self, X: Any) -> list[list[list[str]]]:
        """Returns the sentences of each text."""
        if isinstance(X, str):
            raise ValueError(f"expected an iterable of texts, not one string: {X!r:.80}")
        # Iterating over a mapping or a `DataFrame` would give the names of its columns.
        if isinstance(X, Mapping) or hasattr(X, "columns"):
            raise ValueError(
                f"expected an iterable of texts, not a {type(X).__name__}; give one of its "
                "columns, such as X['text']"
            )
        return [list(self._sentences(text, index)) for index, text in enumerate(X)]

    def _pooled(self, vectors: torch.Tensor, words: list[str]) -> torch.Tensor:
        """Returns the vector of a text from the vectors of its words."""
        if self.pooling == "weighted":
            shares = torch.tensor([self.shares_.get(word.lower(), 0.0) for word in words])
            weights = _SMOOTHING / (_SMOOTHING + shares)
            return weights @ vectors / weights.sum()
        pooled = {"mean": vectors.mean(dim=0), "max": vectors.amax(dim=0)}
        return torch.cat(list(pooled.values())) if self.pooling == "both" else pooled[self.pooling]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = self.pooling == "weighted"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return self.pooling != "weighted" or hasattr(self, "shares_")

    @property
    def _n_features_out(self) -> int:
        return (2 if self.pooling == "both" else 1) * self._encoder().get_output_dim()

    def _encoder(self) -> ElmoEncoder:
        return _open(self.bilm, self.place, device=self.device, layers=self.layers)

    def _check(self) -> ElmoEncoder:
        check_choice("pooling", self.pooling, POOLINGS)
        return self._encoder()

    def _sentences(self, text: Union[str, list[str]], index: int) -> Iterator[list[str]]:
        """Yields those sentences of a text that have tokens."""
        if isinstance(text, str):
            sentences = [self._cut(sentence) for sentence in _SENTENCE.split(text)]
        elif isinstance(text, list) and all(isinstance(token, str) for token in text):
            sentences = [text]
        else:
            raise ValueError(
                f"text {index} must be a string or a list of tokens, but is {text!r:.80}"
            )
        yield from filter(None, sentences)

    def _cut(self, sentence: str) -> list[str]:
        """Returns the tokens of a sentence."""
        if self.tokenizer is None:
            return _TOKEN.findall(sentence)
        cut = self.tokenizer(sentence)
        tokens = list(cut) if isinstance(cut, Iterable) else None
        if tokens is None or isinstance(cut, str) or not all(isinstance(t, str) for t in tokens):
            raise ValueError(
                "the tokenizer must return a list of strings, the tokens of a sentence, but "
                f"returned {cut!r:.80} for {sentence!r:.80}"
            )
        return tokens


# The clones of an estimator, such as those of a grid search, share a biLM.
_open = lru_cache(maxsize=2)(ElmoEncoder.from_pretrained)
