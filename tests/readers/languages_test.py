"""
One text in each of seven languages through `embed` and `score`. They are written for
these tests.
"""

from itertools import combinations
from pathlib import Path

import pytest
import torch

from elmo_tasks.bilm.characters import batch_char_ids
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.spacy_pipeline import tokenized_sentences
from tests.helpers.command_line import allennlp
from tests.helpers.embedding import read_hdf5
from tests.helpers.language_models import random_bilm, random_model, written_model
from tests.helpers.languages import CUT_THAI, TEXTS
from tests.helpers.reference_bilm import FIXTURE_FILES

FILES = ["--options", FIXTURE_FILES[0], "--weights", FIXTURE_FILES[1]]


@pytest.mark.parametrize("language", TEXTS)
def test_raw_text_is_cut_embedded_and_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture, language: str
) -> None:
    text, sentences = TEXTS[language]
    assert tokenized_sentences(text, language) == sentences
    raw, model = tmp_path / "raw.txt", written_model(tmp_path / "model")
    raw.write_text(text + "\n", encoding="utf-8")
    split = "--split", "--language", language

    allennlp("elmo-embed", raw, tmp_path / "a.hdf5", *split, "--top", *FILES)
    capsys.readouterr()
    allennlp("elmo-score", raw, *split, "--bilm", model)

    vectors = read_hdf5(tmp_path / "a.hdf5")
    printed = capsys.readouterr().out.splitlines()
    for index, sentence in enumerate(sentences):
        assert len(vectors[str(index)]) == len(sentence.split())
    header, *rows = [line.split("\t") for line in printed]
    tokens = [row[header.index("token")] for row in rows]
    assert [token for token in tokens if token] == " ".join(sentences).split()


def test_dotted_and_dotless_capitals_are_different_words_of_a_biLM() -> None:
    letters = ["I", "\u0130", "\u0131", "i", "I\u0307"]

    x = random_bilm()(batch_char_ids([letters])).layers[0, 0]

    for first, second in combinations(x, 2):
        assert not torch.allclose(first, second)


def test_a_language_that_needs_a_package_says_which_one() -> None:
    with pytest.raises(ConfigurationError, match="'th'.*PyThaiNLP"):
        tokenized_sentences("".join(CUT_THAI.split()), "th")


def test_a_script_without_blanks_is_one_token_until_it_is_cut(tmp_path: Path) -> None:
    words, text = CUT_THAI.split(), tmp_path / "cut.txt"
    text.write_text(f"{''.join(words)}\n{CUT_THAI}\n", encoding="utf-8")

    scores = random_model().score(["".join(words), words])
    allennlp("elmo-embed", text, tmp_path / "a.hdf5", "--top", *FILES)

    assert [len(score.forward) for score in scores] == [1, 5]
    assert [len(read_hdf5(tmp_path / "a.hdf5")[line]) for line in "01"] == [1, 5]
