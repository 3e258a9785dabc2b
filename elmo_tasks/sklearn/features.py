import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Union

import numpy
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from elmo_tasks.bilm.files.known_bilms import DEFAULT_BILM
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.encoder import ElmoEncoder

# Sentences end at these marks before white space.
_SENTENCE = re.compile(r"(?<=[.!?])\s+")

# Numbers, words, the clitics of English (do n't, it 's), and single other characters.
_TOKEN = re.compile(
    r"\d+(?:[.,]\d+)+|\w+(?=n['’]t\b)|n['’]t\b|['’](?:s|m|d|ll|re|ve)\b|\w+|[^\w\s]",
    re.IGNORECASE,
)

_POOLINGS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "mean": lambda vectors: vectors.mean(dim=0),
    "max": lambda vectors: vectors.amax(dim=0),
}


class ElmoFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """
    Turns texts into vectors for scikit-learn: the mean or the maximum of ELMo_k (Peters et al.
    2018, equation 1) over the tokens of a text.

        make_pipeline(ElmoFeatures(), StandardScaler(), LogisticRegression())

    There is nothing to fit. A pickle has the parameters alone, and not the biLM, which is opened
    once in each process.

    # Parameters

    bilm : `str`, optional (default = `'base'`)
        The biLM: its name, or a path as for `ElmoEncoder.from_pretrained`.
    place : `str`, optional
        The place of the trained mix, `input` or `output`, if `bilm` is an archive with several.
    layers : `str | int`, optional (default = `'all'`)
        `all` for the trained mix of an archive and otherwise the mean of all layers; `concat` for
        all layers side by side; `last`; or the index of one layer, 0 for the token layer.
    pooling : `str`, optional (default = `'mean'`)
        `mean` or `max`, over the tokens of a text.
    tokenizer : `Callable[[str], Iterable[str]]`, optional
        Cuts a sentence into tokens. By default words, numbers, English clitics and punctuation
        marks are tokens.
    device : `str`, optional (default = `'cpu'`)
        The device that the biLM runs on.
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
        """Opens the biLM, so that wrong parameters are noticed, and returns this estimator."""
        self._check()
        return self

    def transform(self, X: Iterable[Union[str, list[str]]]) -> numpy.ndarray:
        """
        Returns the vectors of texts: shape (texts, width), in float32. A text without
        tokens has the vector 0.

        # Parameters

        X : `Iterable[str | list[str]]`
            Texts. A string is cut into sentences at `.`, `!` and `?` before white space, and each
            sentence is an input of the biLM. A list of tokens is one sentence.

        # Raises

        `ConfigurationError`
            A parameter cannot be used.
        `ValueError`
            `X` is one string, a table or a mapping, or has something else than texts; or the
            tokenizer returns something else than tokens.
        """
        encoder = self._check()
        if isinstance(X, str):
            raise ValueError(f"expected an iterable of texts, not one string: {X!r:.80}")
        # A table, such as a `DataFrame`, and a mapping iterate over the names of their columns.
        if isinstance(X, Mapping) or hasattr(X, "columns"):
            raise ValueError(
                f"expected an iterable of texts, not a {type(X).__name__}; give one of its "
                "columns, such as X['text']"
            )
        texts = [list(self._sentences(text, index)) for index, text in enumerate(X)]
        vectors = encoder.vectors(sentence for text in texts for sentence in text)
        features = numpy.zeros((len(texts), self._n_features_out), numpy.float32)
        for row, text in zip(features, texts):
            if text:
                row[:] = _POOLINGS[self.pooling](torch.cat([next(vectors) for _ in text])).numpy()
        return features

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return True

    @property
    def _n_features_out(self) -> int:
        return self._encoder().get_output_dim()

    def _encoder(self) -> ElmoEncoder:
        return _open(self.bilm, self.place, device=self.device, layers=self.layers)

    def _check(self) -> ElmoEncoder:
        if self.pooling not in _POOLINGS:
            raise ConfigurationError(f"pooling must be mean or max, not {self.pooling!r}")
        return self._encoder()

    def _sentences(self, text: Union[str, list[str]], index: int) -> Iterator[list[str]]:
        """Yields the sentences of a text that have tokens."""
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


# The clones of an estimator, as in a grid search, share their biLM.
_open = lru_cache(maxsize=2)(ElmoEncoder.from_pretrained)
