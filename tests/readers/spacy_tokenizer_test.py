import pickle

import pytest
from allennlp.common import Params
from allennlp.data.tokenizers import Tokenizer
from hypothesis import given
from hypothesis import strategies as st

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.spacy_tokenizer import ElmoSpacyTokenizer


def texts(tokenizer: Tokenizer, text: str) -> list[str]:
    return [token.text for token in tokenizer.tokenize(text)]


def test_rules_split_punctuation_and_contractions() -> None:
    words = texts(ElmoSpacyTokenizer(), "It isn't (very) good, Zoë.")

    assert words == ["It", "is", "n't", "(", "very", ")", "good", ",", "Zoë", "."]


def test_white_space_is_no_token() -> None:
    tokenizer = ElmoSpacyTokenizer()

    assert texts(tokenizer, "  a \n\n b\t\u00a0c  ") == ["a", "b", "c"]
    assert texts(tokenizer, " \n ") == texts(tokenizer, "") == []


@given(st.text())
def test_offsets_cover_all_text_but_white_space(text: str) -> None:
    tokens = ElmoSpacyTokenizer().tokenize(text)

    assert all(token.text == text[token.idx : token.idx_end] for token in tokens)

    covered = {index for token in tokens for index in range(token.idx, token.idx_end)}

    assert all(text[index].isspace() for index in set(range(len(text))) - covered)


def test_language_is_a_code_in_a_config() -> None:
    tokenizer = Tokenizer.from_params(Params({"type": "elmo_spacy", "language": "de"}))

    assert texts(tokenizer, "Das ist z.B. gut.") == ["Das", "ist", "z.B.", "gut", "."]


def test_language_without_rules_is_refused_with_its_name() -> None:
    with pytest.raises(ConfigurationError, match="cannot tokenize language 'klingon'"):
        ElmoSpacyTokenizer("klingon")


def test_workers_get_the_code_of_the_language_and_no_pipeline() -> None:
    pickled = pickle.dumps(ElmoSpacyTokenizer())

    assert len(pickled) < 200
    assert texts(pickle.loads(pickled), "So it goes.") == ["So", "it", "goes", "."]
