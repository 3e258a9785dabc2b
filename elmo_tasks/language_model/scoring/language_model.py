import os
from collections.abc import Iterable, Iterator

import torch

from elmo_tasks.bilm import BiLm, FrozenBiLm, make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.file_names import SOFTMAX_FILE
from elmo_tasks.elmo.locate import DEFAULT_BILM, Located, locate
from elmo_tasks.elmo.sentences import Sentence, sentences_of, tokens_of
from elmo_tasks.language_model.scoring.scorer import ScoreEngine, Scorer
from elmo_tasks.language_model.scoring.scores import Perplexity, Score
from elmo_tasks.language_model.softmax import UNKNOWN_CLASS, Softmax, read_softmax

# Words with their probabilities, the most probable first.
Words = list[tuple[str, float]]


class LanguageModel:
    """
    Computes how likely words are, by a biLM and the softmax that was trained with it (Peters et al.
    2018, section 3.1). The forward direction predicts a token from the tokens before it, the
    backward direction from the tokens after it.

        model = LanguageModel.from_pretrained("base")
        model.score(["The boat left the bank ."])[0].forward
        model.fill("The boat left the bank .".split(), 2, k=5)["both"]

    A sentence is a list of tokens, or a string that is cut at white space (see `sentences_of`).
    Words that the softmax lacks share one class. The biLM still reads each of these words by its
    characters. A frozen copy of the biLM is used. The softmax must be on the same device.
    """

    def __init__(self, bilm: BiLm, softmax: Softmax) -> None:
        self.bilm = FrozenBiLm.of(bilm)
        self.softmax = softmax
        self._scorer = Scorer(self.bilm, softmax)

    @classmethod
    def from_pretrained(
        cls,
        name: str | os.PathLike = DEFAULT_BILM,
        device: str | torch.device = "cpu",
        dtype: str = "float32",
    ) -> "LanguageModel":
        """
        Reads a language model that is part of the package or that `elmo-pack` wrote.

        # Parameters

        name: The name of a biLM, a folder, or a repository on the hub.
        dtype: As for `FrozenBiLm`.

        # Raises

        `ConfigurationError`: There is no such biLM, it has no softmax, or a file is damaged.
        """
        located = locate(name)
        if not _has_softmax(located):
            raise ConfigurationError(
                f"{name} has no softmax ({SOFTMAX_FILE}), so it cannot tell how likely words are; "
                "elmo-tasks pack writes one from the archive of a trained language model"
            )
        bilm = make_bilm(*located.files, dtype=dtype).to(device).eval()
        return cls(bilm, read_softmax(located.options.parent, bilm))

    def score(self, sentences: Iterable[Sentence]) -> list[Score]:
        """
        Returns the log probabilities, in nats, of each sentence's tokens, in both directions. The
        score of a sentence does not depend on the other sentences.
        """
        return list(self.iterate(sentences))

    def iterate(
        self, sentences: Iterable[Sentence], context: int = 0, engine: ScoreEngine = map
    ) -> Iterator[Score]:
        """
        Yields the score of each sentence of a stream, in order, in bounded memory.

        # Parameters

        sentences: The sentences of one or more documents. A sentence without tokens ends a
            document.
        context: The number of earlier sentences of the document that each direction reads before
            the sentence to score.
        engine: Computes the scores, in this process or in several.
        """
        return self._scorer.iterate(sentences_of(sentences), context, engine)

    def perplexity(self, texts: Iterable[Sentence]) -> Perplexity:
        """Returns the perplexity of sentences. Each sentence is read by itself."""
        total = Perplexity()
        for score in self.iterate(texts):
            total.add(score)
        return total

    def next_words(self, prefix: Sentence, k: int = 10) -> Words:
        """
        Returns the `k` most probable words after the beginning of a sentence, and their
        probabilities. `</S>` is the end of the sentence. The class of unknown words is left out.
        """
        words = tokens_of(prefix)
        # The forward direction does not read the token that it predicts, so any token will do.
        reading, _ = self._scorer.read([[*words, "."]])
        return self._best(self.softmax.distribution(reading.outputs[0][[len(words)]])[0], k)

    def fill(self, tokens: Sentence, index: int, k: int = 10) -> dict[str, Words]:
        """
        Returns the `k` most probable words at an index of a sentence, from 0. The token at the
        index does not count.

        # Returns

        `dict[str, list[tuple[str, float]]]`: Words with their probabilities for `forward`, for
            `backward`, and for `both`: the product of the two directions' distributions, normalised
            over the words.

        # Raises

        `ValueError`: The sentence has no such token, or the softmax has fewer than `k` words.
        """
        words = tokens_of(tokens)
        if not 0 <= index < len(words):
            raise ValueError(
                f"index must be from 0 to {len(words) - 1}, not {index}: {words!r:.80}"
            )
        reading, _ = self._scorer.read([words])
        # The forward outputs begin at the first token, the backward outputs at the last.
        forward, backward = reading.outputs[0][index], reading.outputs[1][len(words) - 1 - index]
        scores = self.softmax.distribution(torch.stack([forward, backward]))
        both = scores.sum(dim=0).log_softmax(dim=0)
        return {
            name: self._best(log_probs, k)
            for name, log_probs in zip(("forward", "backward", "both"), (*scores, both))
        }

    def _best(self, log_probs: torch.Tensor, k: int) -> Words:
        num_words = len(log_probs) - 1
        if not 1 <= k <= num_words:
            raise ValueError(
                f"k must be from 1 to {num_words}, the number of the softmax's words, not {k}"
            )
        of_words = log_probs.clone()
        of_words[UNKNOWN_CLASS] = -torch.inf
        best, classes = of_words.topk(k)
        return [
            (self.softmax.words[index], probability)
            for index, probability in zip(classes.tolist(), best.exp().tolist())
        ]


def has_softmax(name: str | os.PathLike) -> bool:
    """Returns whether a name stands for a language model: a biLM with its softmax."""
    return _has_softmax(locate(name))


def _has_softmax(located: Located) -> bool:
    return located.beside(SOFTMAX_FILE) is not None
