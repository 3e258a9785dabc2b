from itertools import pairwise

from allennlp.data import Token
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.readers.passage import Passage
from elmo_tasks.readers.tokenizers import SplittingTokenizer
from elmo_tasks.readers.windows import Window, Windows

TOKENIZER = SplittingTokenizer()


def windows_of(text: str, max_tokens: int) -> Windows:
    tokens = TOKENIZER.tokenize(text)
    return Windows(Passage.of(text, tokens), tokens, max_tokens)


def texts_of(text: str, max_tokens: int) -> list[str]:
    """Returns the texts of the windows."""
    windows = windows_of(text, max_tokens)
    passage = Passage.of(text, TOKENIZER.tokenize(text))
    return [passage.text_of(start, stop - 1) for start, stop in windows.ranges]


PIECES = st.sampled_from(
    [
        "owl",
        "owls sleep",
        "It's 3-4.",
        "Why?",
        " ",
        "\n",
        "\n\n",
        "\r\n\r\n",
        "🍲",
        "Vellmar's",
        "“Yes.”",
    ]
)
TEXTS = st.lists(PIECES, min_size=1, max_size=60).map(" ".join).filter(str.strip)


@given(TEXTS, st.integers(1, 30))
def test_windows_have_each_token_once_and_the_tokens_of_their_own_text(
    text: str, max_tokens: int
) -> None:
    tokens = TOKENIZER.tokenize(text)
    windows = windows_of(text, max_tokens)

    assert [index for each in windows.ranges for index in range(*each)] == list(range(len(tokens)))
    assert all(0 < stop - start <= max_tokens for start, stop in windows.ranges)
    if len(tokens) <= max_tokens:
        assert windows.ranges == [(0, len(tokens))]
    read = [(each.start, each.stop) for each in windows.near(TOKENIZER.tokenize("Do owls sleep?"))]
    assert len(read) == min(4, len(windows.ranges)) and read == sorted({*read} & {*windows.ranges})
    for start, stop in windows.ranges:
        begin = tokens[start].idx
        first, end = windows.window_of(begin)
        assert (first, end) == (begin, tokens[stop - 1].idx_end)
        own = TOKENIZER.tokenize(text[first:end])
        # Between the marks of one word, which a window of few tokens may cut, rules differ.
        if max_tokens > 6:
            assert [each.text for each in own] == [each.text for each in tokens[start:stop]]


@given(TEXTS, st.integers(5, 30))
def test_no_two_neighbours_would_fit_in_one_window(text: str, max_tokens: int) -> None:
    windows = windows_of(text, max_tokens)
    whole = [(start, stop) for start, stop in windows.paragraphs if stop - start <= max_tokens]

    for (first, _), (_, stop) in pairwise(windows.ranges):
        assert stop - first > max_tokens
    # A paragraph that fits in a window is in one.
    for start, stop in whole:
        assert any(first <= start and stop <= end for first, end in windows.ranges)


@given(TEXTS, st.integers(1, 30), st.integers(0, 100), st.integers(0, 16))
def test_the_paragraph_around_tokens_has_them_and_is_within_their_window(
    text: str, max_tokens: int, first: int, length: int
) -> None:
    windows = windows_of(text, max_tokens)
    passage = Passage.of(text, TOKENIZER.tokenize(text))
    start, stop = windows.ranges[first % len(windows.ranges)]
    last = min(stop - 1, start + length)

    begin, end = windows.around(start, last)

    assert windows.window_of(passage.starts[start])[0] <= begin <= passage.starts[start]
    assert passage.ends[last] <= end <= windows.window_of(passage.starts[start])[1]
    inside = windows.around(start, start)
    assert "\n\n" not in text[slice(*inside)].replace("\r", "")


def test_a_long_paragraph_is_cut_at_the_end_of_a_sentence_near_its_middle() -> None:
    assert texts_of("One owl. Two owls sleep.\n\nAn owl sat there. It slept. It woke at 3.", 9) == [
        "One owl. Two owls sleep.",
        "An owl sat there.",
        "It slept. It woke at 3.",
    ]


def test_a_long_sentence_is_cut_at_the_end_of_a_line_and_otherwise_in_its_middle() -> None:
    assert texts_of("a b\nc d e f g\n\nx", 5) == ["a b", "c d e f g", "x"]
    assert texts_of("a b c d e f", 4) == ["a b c", "d e f"]


def test_paragraphs_end_at_blank_lines_or_if_there_is_none_at_line_ends() -> None:
    wrapped, lines = windows_of("a b\nc\n \nd\re", 9), windows_of("a b\nc\r\nd", 9)

    assert wrapped.paragraphs == [(0, 3), (3, 5)]
    assert lines.paragraphs == [(0, 2), (2, 3), (3, 4)]
    assert windows_of("a", 9).paragraphs == [(0, 1)]


STORIES = [
    "The baker built an oven of bricks.",
    "A fire destroyed the roof of the library.",
    "The ferry crosses the lake each morning.",
    "Owls hunt mice in the fields.",
    "The mayor opened a museum of clocks.",
]


def test_the_windows_most_like_a_question_are_read_in_the_order_of_the_passage() -> None:
    windows = windows_of("\n\n".join(STORIES), 9)
    ask = TOKENIZER.tokenize("What did fires destroy after the museums opened?")

    def near(question: list[Token], most: int) -> list[tuple[int, int]]:
        return [(window.start, window.stop) for window in windows.near(question, most)]

    assert near(ask, 2) == [windows.ranges[1], windows.ranges[4]]
    assert near(ask, 5) == near(ask, 9) == windows.ranges
    # Nothing is like it: then the first ones.
    assert near(TOKENIZER.tokenize("?"), 2) == windows.ranges[:2]
    assert near(ask, 1)[0] in near(ask, 3)
    priors = [window.prior for window in windows.near(ask, 5)]
    assert min(priors[1], priors[4]) > max(priors[0], priors[2], priors[3]) >= 0


def test_a_passage_of_one_window_is_read_whole_whatever_is_asked() -> None:
    assert windows_of(STORIES[0], 9).near(TOKENIZER.tokenize("Who built it?")) == [Window(0, 8)]
