import pytest
from allennlp.data.tokenizers import Tokenizer
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.readers.splitting_tokenizer import SplittingTokenizer

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


@given(st.text(alphabet=" \n\t\u00a0\u202f\u3000ab1.-–/'\"`_£€🍲é\u0301,’“", max_size=30))
def test_tokens_cover_every_character_but_white_space_once(text: str) -> None:
    tokens = TOKENIZER.tokenize(text)

    covered = [index for token in tokens for index in range(token.idx, token.idx_end)]

    assert covered == [index for index, character in enumerate(text) if not character.isspace()]

    rewritten = {"``": '"', "''": '"', "—": "–", "\u2212": "-"}

    for token in tokens:
        raw = text[token.idx : token.idx_end]
        assert token.text == rewritten.get(raw, raw) != ""


def test_it_is_found_by_its_name() -> None:
    assert Tokenizer.by_name("elmo_splitting") is SplittingTokenizer
