"""The texts of `tests.helpers.languages` over HTTP, as the page sends and shows them."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.helpers.language_models import random_model
from tests.helpers.languages import CUT_THAI, TEXTS
from tests.helpers.served import app_of, running


@pytest.fixture(params=[*TEXTS, "th"], scope="module")
def served(request: pytest.FixtureRequest) -> Iterator[tuple[str, str, list[str]]]:
    """The address of a server for texts in a language, a text, and its tokens."""
    language = request.param
    # Thai is cut already, so that rules of any language find its words.
    raw, sentences = TEXTS.get(language, (CUT_THAI, [CUT_THAI]))
    rules = "en" if language == "th" else language
    with running(app_of([], language_model=random_model(), language=rules)) as address:
        yield address, raw, " ".join(sentences).split()


def test_the_tabs_of_the_biLM_have_the_tokens_of_the_language(
    served: tuple[str, str, list[str]],
) -> None:
    address, text, tokens = served

    def ask(tab: str, **inputs: str) -> dict[str, Any]:
        return httpx.post(f"{address}/{tab}", json=inputs).json()

    layers, words = ask("layers", sentence=text), ask("words", sentence=text)
    senses = ask("senses", word=tokens[0], text=text)

    assert layers["tokens"] == words["tokens"] == tokens
    assert len(layers["cosines"][2]) == len(words["forward"]) == len(tokens)
    assert senses["occurrences"] == [{"words": tokens, "position": 0}]
    similar = {word for word, _ in senses["similar"]}
    expected = {word.lower() for word in tokens if word not in ".?。！？؟।"} - {tokens[0].lower()}
    assert similar <= expected and len(similar) == min(8, len(expected))
