"""The texts of `tests.helpers.languages` over HTTP, as the page sends and shows them."""

from collections.abc import Iterator

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


@pytest.mark.parametrize("tab", ["layers", "words"])
def test_layers_and_words_have_the_tokens_of_the_language(
    served: tuple[str, str, list[str]], tab: str
) -> None:
    address, text, tokens = served

    answer = httpx.post(f"{address}/{tab}", json={"sentence": text}).json()

    assert answer["tokens"] == tokens
    numbers = answer["cosines"][2] if tab == "layers" else answer["forward"]
    assert len(numbers) == len(tokens)


def test_senses_find_a_word_and_its_neighbours(served: tuple[str, str, list[str]]) -> None:
    address, text, tokens = served

    answer = httpx.post(f"{address}/senses", json={"word": tokens[0], "text": text}).json()

    assert answer["occurrences"] == [{"words": tokens, "position": 0}]
    similar = {word for word, _ in answer["similar"]}
    expected = {word.lower() for word in tokens if word not in ".?。！？؟।"} - {tokens[0].lower()}
    assert similar <= expected and len(similar) == min(8, len(expected))


def test_a_model_answers_for_given_tokens(address: str, served: tuple[str, str, list[str]]) -> None:
    _, _, tokens = served

    answer = httpx.post(f"{address}/predict/ner", json={"tokens": tokens}).json()

    assert answer["tokens"] == tokens and len(answer["tags"]) == len(tokens)
