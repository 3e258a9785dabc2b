from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.readers.passage import Passage
from elmo_tasks.readers.tokenizers import SplittingTokenizer

TEXT = "In  the 1920s,\u00a0Café Zoë\u202f🍲 opened."


def passage(text: str = TEXT) -> Passage:
    return Passage.of(text, SplittingTokenizer().tokenize(text))


def test_answer_on_token_edges_comes_back_as_the_same_text() -> None:
    for answer in ("the 1920s", "Café Zoë", "Zoë\u202f🍲", "🍲", ",\u00a0Café", "opened", TEXT):
        start = TEXT.index(answer)
        tokens = passage().tokens_of(start, start + len(answer))
        assert tokens is not None and passage().text_of(*tokens) == answer


def test_answer_inside_a_token_is_all_tokens_that_it_overlaps() -> None:
    start = TEXT.index("920")

    assert passage().tokens_of(start, start + 3) == (2, 2)
    assert passage().text_of(2, 2) == "1920s"
    assert passage().characters_of(2, 2) == (start - 1, start + 4)


def test_characters_that_no_token_covers_have_no_tokens() -> None:
    assert passage().tokens_of(2, 4) is None
    assert passage().tokens_of(len(TEXT), len(TEXT) + 3) is None


@given(
    st.text(alphabet=" ab-\u00a0é🍲'", max_size=20),
    st.integers(0, 20),
    st.integers(1, 20),
)
def test_tokens_are_those_that_a_search_finds(text: str, start: int, length: int) -> None:
    tokens = SplittingTokenizer().tokenize(text)
    overlapping = [
        index
        for index, token in enumerate(tokens)
        if set(range(token.idx, token.idx_end)) & set(range(start, start + length))
    ]
    expected = (overlapping[0], overlapping[-1]) if overlapping else None

    assert Passage.of(text, tokens).tokens_of(start, start + length) == expected
