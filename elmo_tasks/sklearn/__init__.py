import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Union

import numpy
import torch
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin

from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.elmo.locate import DEFAULT_BILM, file_stamps
from elmo_tasks.elmo.sentences import checked_list, tokens_of
from elmo_tasks.sklearn.words import plain_words_of

# A sentence ends at one of these marks before white space.
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


class ElmoFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """
    Turns texts into vectors for scikit-learn. The vector of a text is the mean of ELMo_k (Peters et
    al. 2018, equation 1), or of one layer, over the tokens of the text.

        make_pipeline(ElmoFeatures(), StandardScaler(), LogisticRegression(C=0.01))

    `fit` learns nothing. A pickle contains the parameters, but not the biLM. Each process opens the
    biLM once, and once more if its files have changed.

    # Parameters

    bilm: The name or the path of a biLM.
    place, layers: As for `ElmoEncoder.from_pretrained`.
    tokenizer: Cuts a sentence into tokens, by default as `plain_words_of` does: into words of any
        script with their marks, numbers, English clitics and punctuation marks; of loud words, sooo
        becomes so, and GREAT becomes great.
    device: The device that the biLM runs on.
    """

    def __init__(
        self,
        bilm: str = DEFAULT_BILM,
        *,
        place: str | None = None,
        layers: Union[str, int] = "all",
        tokenizer: Callable[[str], Iterable[str]] | None = None,
        device: str = "cpu",
    ) -> None:
        self.bilm = bilm
        self.place = place
        self.layers = layers
        self.tokenizer = tokenizer
        self.device = device

    def fit(self, X: Any, y: Any = None) -> "ElmoFeatures":
        """Opens the biLM, so that wrong parameters are noticed. Returns this estimator."""
        self._encoder()
        return self

    def transform(self, X: Iterable[Union[str, list[str]]]) -> numpy.ndarray:
        """
        Returns the vectors of texts: shape (texts, width), in float32. The vector of a text without
        tokens is all zeros.

        # Parameters

        X: Texts. A string is cut into sentences at `.`, `!` and `?` before white space, and the
            biLM reads each sentence by itself. A list of tokens is one sentence. In a flat list of
            words, each word is a text.

        # Raises

        `ConfigurationError`: A parameter cannot be used.
        `ValueError`: `X` is not a list of sentences (see `elmo_tasks.elmo.sentences`), but one
            string or a table, for example; or the tokenizer returns something other than tokens.
        """
        encoder = self._encoder()
        texts = self._texts(X)
        vectors = encoder.vectors(sentence for text in texts for sentence in text)
        features = numpy.zeros((len(texts), encoder.get_output_dim()), numpy.float32)
        for row, text in zip(features, texts):
            if text:
                row[:] = torch.cat([next(vectors) for _ in text]).mean(dim=0).numpy()
        return features

    def _texts(self, X: Any) -> list[list[list[str]]]:
        """Returns the sentences of each text."""
        return [self._sentences(text, index) for index, text in enumerate(checked_list(X))]

    def _sentences(self, text: Union[str, list[str]], index: int) -> list[list[str]]:
        """Returns the sentences of a text that have tokens."""
        sentences = _SENTENCE.split(text) if isinstance(text, str) else [text]
        tokenize = self.tokenizer or plain_words_of
        tokens = [tokens_of(sentence, tokenize, f"sentence {index}") for sentence in sentences]
        return list(filter(None, tokens))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = False
        return tags

    @property
    def _n_features_out(self) -> int:
        return self._encoder().get_output_dim()

    def _encoder(self) -> ElmoEncoder:
        return _open(file_stamps(self.bilm), self.bilm, self.place, self.device, self.layers)


# The clones of an estimator, such as those of a grid search, share a biLM.
@lru_cache(maxsize=2)
def _open(
    stamps: tuple, bilm: str, place: str | None, device: str, layers: str | int
) -> ElmoEncoder:
    """
    Opens a biLM. The result is cached as long as `stamps`, those of its files, are the same.
    """
    return ElmoEncoder.from_pretrained(bilm, place, device=device, layers=layers)
