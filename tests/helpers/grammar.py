"""
A small grammar of known entropy, with which the perplexity of a language model is compared.

A sentence is a walk over states, and each step of the walk adds a word. No word leads from one
state to two others, so there is only one walk for each sentence, and the probability of the
sentence is the product of the probabilities of its steps. Determiner and noun are both singular or
both plural, and the adjectives between them do not show which. A language model must therefore
remember the one to predict the other.
"""

import math
import random
from collections.abc import Iterator
from typing import NamedTuple


class Step(NamedTuple):
    probability: float
    # None if the sentence ends.
    word: str | None
    state: str


def zipf(words: str, share: float, state: str) -> list[Step]:
    """Returns a step for each word. The probabilities follow Zipf's law and sum to `share`."""
    names = words.split()
    total = sum(1 / rank for rank in range(1, len(names) + 1))
    return [Step(share / rank / total, name, state) for rank, name in enumerate(names, start=1)]


ADJECTIVES = "old small grey quick sleepy proud wet odd"
NOUNS = "dog cat goat horse hen fox crow toad"
VERBS = "sleep run wait eat hide sing"
ADVERBS = "slowly again today often loudly together"


def with_s(words: str) -> str:
    return " ".join(f"{word}s" for word in words.split())


GRAMMAR = {
    "start": [*zipf("this each", 0.6, "one"), *zipf("these few", 0.4, "many")],
    "one": [*zipf(ADJECTIVES, 0.4, "one"), *zipf(NOUNS, 0.6, "one's verb")],
    "many": [*zipf(ADJECTIVES, 0.4, "many"), *zipf(with_s(NOUNS), 0.6, "many's verb")],
    "one's verb": zipf(with_s(VERBS), 1.0, "end"),
    "many's verb": zipf(VERBS, 1.0, "end"),
    "end": [*zipf(ADVERBS, 0.3, "end"), Step(0.1, "and", "start"), Step(0.6, None, "")],
}


def sentences(seed: int) -> Iterator[list[str]]:
    generator = random.Random(seed)
    while True:
        words, state = [], "start"
        while state:
            steps = GRAMMAR[state]
            (step,) = generator.choices(steps, [step.probability for step in steps])
            state = step.state
            if step.word is not None:
                words.append(step.word)
        yield words


def perplexity() -> float:
    """
    Returns exp(entropy of a sentence / expected number of its tokens), where the end of a sentence
    is a token. No forward or backward model has a lower perplexity in expectation, since either
    factors the probability of a sentence over its tokens.
    """
    # The expected number of visits of a sentence to each state, summed step by step.
    visits = dict.fromkeys(GRAMMAR, 0.0)
    now = {"start": 1.0}
    while sum(now.values()) > 1e-12:
        following: dict[str, float] = {}
        for state, weight in now.items():
            visits[state] += weight
            for step in GRAMMAR[state]:
                if step.state:
                    arrived = following.get(step.state, 0.0) + weight * step.probability
                    following[step.state] = arrived
        now = following
    entropy = sum(
        -visits[state] * step.probability * math.log(step.probability)
        for state, steps in GRAMMAR.items()
        for step in steps
    )
    # Every visit adds a word or ends the sentence.
    return math.exp(entropy / sum(visits.values()))


def words() -> set[str]:
    return {step.word for steps in GRAMMAR.values() for step in steps if step.word is not None}
