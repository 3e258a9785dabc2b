import pickle

import pytest
from allennlp.common import Params
from allennlp.data.tokenizers import Tokenizer
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer, SplittingTokenizer, TextSentences


def texts(tokenizer: Tokenizer, text: str) -> list[str]:
    return [token.text for token in tokenizer.tokenize(text)]


def test_rules_split_punctuation_and_contractions() -> None:
    words = texts(ElmoSpacyTokenizer(), "It isn't (very) good, Zoë.")

    assert words == ["It", "is", "n't", "(", "very", ")", "good", ",", "Zoë", "."]
    assert texts(ElmoSpacyTokenizer(), "  a \n\n b\t\u00a0c  ") == ["a", "b", "c"]
    assert texts(ElmoSpacyTokenizer(), " \n ") == texts(ElmoSpacyTokenizer(), "") == []


def test_language_is_a_code_in_a_config() -> None:
    tokenizer = Tokenizer.from_params(Params({"type": "elmo_spacy", "language": "de"}))

    assert texts(tokenizer, "Das ist z.B. gut.") == ["Das", "ist", "z.B.", "gut", "."]
    with pytest.raises(
        ConfigurationError, match="cannot tokenize language 'klingon': .* such as en or de"
    ):
        ElmoSpacyTokenizer("klingon")


def test_workers_get_the_code_of_the_language_and_no_pipeline() -> None:
    pickled = pickle.dumps(ElmoSpacyTokenizer())

    assert len(pickled) < 200
    assert texts(pickle.loads(pickled), "So it goes.") == ["So", "it", "goes", "."]


TOKENIZER = SplittingTokenizer()


def words(text: str) -> list[str]:
    return [token.text for token in TOKENIZER.tokenize(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a well-known singer/actor", "a well - known singer / actor"),
        ("1990–1995, ~5°C", "1990 – 1995 , ~ 5 ° C"),
        ("£300 or €4 or ¥9", "£ 300 or € 4 or ¥ 9"),
        ("“so-called” ‘gold’", "“ so - called ” ‘ gold ’"),
        ("snake_case but a__b", "snake _ case but a__b"),
        # spaCy's endings stay whole, with either apostrophe.
        ("It's the Joneses' cat, isn't it? It’s.", "It 's the Joneses ' cat , is n't it ? It ’s ."),
        ("O'Neill", "O ' Neill"),
        # Marks that are written in several ways take one common form.
        ("``quoted''", '" quoted "'),
        ("yes—no, \u22125", "yes – no , - 5"),
        ("The CAFÉ in Zürich", "The CAFÉ in Zürich"),
    ],
)
def test_marks_stand_alone(text: str, expected: str) -> None:
    assert words(text) == expected.split(" ")


@pytest.mark.parametrize("tokenizer", [ElmoSpacyTokenizer(), TOKENIZER], ids=["spacy", "splitting"])
@given(text=st.text(alphabet=" \n\t\u00a0\u202f\u3000ab1.-–/'\"`_£€🍲é\u0301,’“", max_size=30))
def test_tokens_cover_every_character_but_white_space_once(tokenizer: Tokenizer, text: str) -> None:
    tokens = tokenizer.tokenize(text)

    covered = [index for token in tokens for index in range(token.idx, token.idx_end)]

    assert covered == [index for index, character in enumerate(text) if not character.isspace()]

    rewritten = {"``": '"', "''": '"', "—": "–", "\u2212": "-"} if tokenizer is TOKENIZER else {}
    for token in tokens:
        raw = text[token.idx : token.idx_end]
        assert token.text == rewritten.get(raw, raw) != ""


TEXT = "The soup was cold.\n\nWhy?  It had stood there for an hour."
SENTENCES = ["The soup was cold .", "Why ?", "It had stood there for an hour ."]


def joined(sentences: list[list]) -> list[str]:
    return [" ".join(token.text for token in sentence) for sentence in sentences]


def test_raw_text_and_its_words_are_cut_into_the_same_sentences() -> None:
    cut = TextSentences()

    assert joined(cut.of_text(TEXT)) == SENTENCES
    assert joined(cut.of_words(" ".join(SENTENCES).split())) == SENTENCES
    assert cut.of_text(" \n ") == [] == cut.of_words([])


def test_a_long_sentence_is_cut_into_pieces_of_100_tokens() -> None:
    pieces = TextSentences().of_text("one " * 250 + ". Six.")

    assert list(map(len, pieces)) == [100, 100, 51, 2]


@pytest.mark.parametrize(
    ("max_tokens", "expected"),
    [(1, ["The"]), (5, SENTENCES[:1]), (6, [SENTENCES[0], "Why"]), (99, SENTENCES)],
)
def test_only_the_first_tokens_are_read(max_tokens: int, expected: list[str]) -> None:
    assert joined(TextSentences(max_tokens=max_tokens).of_text(TEXT)) == expected
