"""
One text in each of seven languages through `embed`, `predict` and `score`. They are written for
these tests.
"""

from functools import cache
from itertools import combinations
from pathlib import Path

import pytest
import torch
from allennlp.predictors import Predictor

from elmo_tasks.bilm.characters import batch_char_ids
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.readers.spacy_pipeline import tokenized_sentences
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer
from tests.helpers.archives import task_model
from tests.helpers.command_line import allennlp
from tests.helpers.embedding import read_hdf5
from tests.helpers.language_models import random_bilm, random_model, written_model
from tests.helpers.languages import CUT_THAI, TEXTS
from tests.helpers.reference_bilm import FIXTURE_FILES

FILES = ["--options-file", FIXTURE_FILES[0], "--weight-file", FIXTURE_FILES[1]]


@cache
def tagger(folder: Path) -> Predictor:
    folder.mkdir()
    return Predictor.from_path(str(task_model(folder, "tag", "input")), "elmo_tag")


@pytest.mark.parametrize("language", TEXTS)
def test_raw_text_is_cut_into_sentences_and_tokens(language: str) -> None:
    text, sentences = TEXTS[language]

    assert tokenized_sentences(text, language) == sentences


@pytest.mark.parametrize("language", TEXTS)
def test_raw_text_is_embedded_and_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture, language: str
) -> None:
    text, sentences = TEXTS[language]
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


@pytest.mark.parametrize("language", TEXTS)
def test_a_tagger_answers_for_every_token(
    tmp_path_factory: pytest.TempPathFactory, language: str
) -> None:
    text, sentences = TEXTS[language]
    predictor = tagger(tmp_path_factory.getbasetemp() / "tagger")
    predictor._dataset_reader.tokenizer = ElmoSpacyTokenizer(language)

    answer = predictor.predict_json({"sentence": text})

    assert answer["tokens"] == " ".join(sentences).split()
    assert len(answer["tags"]) == len(answer["tokens"])


def test_dotted_and_dotless_capitals_are_different_words_of_a_biLM() -> None:
    letters = ["I", "\u0130", "\u0131", "i", "I\u0307"]

    x = random_bilm()(batch_char_ids([letters])).layers[0, 0]

    for first, second in combinations(x, 2):
        assert not torch.allclose(first, second)


def test_a_language_that_needs_a_package_says_which_one() -> None:
    with pytest.raises(ConfigurationError, match="'th'.*PyThaiNLP"):
        tokenized_sentences("".join(CUT_THAI.split()), "th")


def test_a_script_without_blanks_is_one_token_until_it_is_cut(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    words, text = CUT_THAI.split(), tmp_path / "cut.txt"
    text.write_text(f"{''.join(words)}\n{CUT_THAI}\n", encoding="utf-8")

    scores = random_model().score(["".join(words), words])
    allennlp("elmo-embed", text, tmp_path / "a.hdf5", "--top", *FILES)
    answer = tagger(tmp_path_factory.getbasetemp() / "tagger").predict_json({"tokens": words})

    assert [len(score.forward) for score in scores] == [1, 5]
    assert [len(read_hdf5(tmp_path / "a.hdf5")[line]) for line in "01"] == [1, 5]
    assert answer["tokens"] == words and len(answer["tags"]) == 5
