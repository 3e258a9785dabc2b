"""A biLM reads as many characters of a word as its options say, whoever makes the char ids."""

from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.data import Batch, Instance, Token, Vocabulary
from allennlp.data.fields import TextField
from allennlp.modules.elmo import batch_to_ids

from elmo_tasks.analysis.neighbors.occurrences import similar_words
from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo import Elmo, ElmoEncoder
from elmo_tasks.language_model.counted_vocabulary import CountedVocabulary
from elmo_tasks.language_model.loaders import SentenceLoader, WindowLoader
from elmo_tasks.language_model.model import ElmoLanguageModel, softmax_of
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.language_model.vector_start import FileVectors, VectorFit
from elmo_tasks.modules.text_embedder import ElmoBiLmEmbedder
from elmo_tasks.readers.indexers import CharIdsIndexer
from elmo_tasks.readers.sentences import SentencesReader
from tests.helpers.reference_bilm import make_options

# Words that differ only behind their 20th byte, behind their 50th, and behind their 70th.
BEGIN = "thelonglongbeginning"
WORDS = [
    *(BEGIN + end for end in ("a", "b", "c", "d")),
    *(BEGIN + 30 * "x" + end for end in ("a", "b")),
    *(BEGIN + 50 * "x" + end for end in ("a", "b")),
]
SENTENCE = [word for index in range(8) for word in (WORDS[index], "of", WORDS[(3 * index) % 8])]

SIZES = [20, 50, 60, 80]


def bilm_of(max_characters: int, **settings: Any) -> BiLm:
    torch.manual_seed(0)
    bilm = make_bilm(make_options(max_characters_per_token=max_characters), **settings)
    return bilm if bilm.trains else bilm.eval()


@pytest.mark.parametrize("max_characters", SIZES)
@pytest.mark.parametrize("kind", [SentenceLoader, WindowLoader])
def test_a_training_and_its_evaluation_read_the_words_that_a_score_reads(
    kind: type, max_characters: int, tmp_path: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text(" ".join(SENTENCE))
    settings = {"rows": 1, "length": 40} if kind is WindowLoader else {}
    loader = kind(SentencesReader(), str(text), shuffle=False, **settings)
    vocab = CountedVocabulary.from_corpus(loader.iter_instances(), min_count={"tokens": 1})
    loader.index_with(vocab)
    bilm = bilm_of(max_characters, state="reset", requires_grad=True)
    model = ElmoLanguageModel(vocab, bilm, dropout=0.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for batch in 3 * list(loader):
        optimizer.zero_grad()
        model(**batch)["loss"].backward()
        optimizer.step()

    model.eval().get_metrics(reset=True)
    for batch in loader:
        model(**batch)

    found = LanguageModel(model.bilm, softmax_of(model)).perplexity([SENTENCE])
    assert model.get_metrics()["perplexity"] == pytest.approx(found.mean, rel=1e-4)


@pytest.mark.parametrize("max_characters", SIZES)
def test_every_door_reads_as_many_characters_as_the_options_say(max_characters: int) -> None:
    bilm = bilm_of(max_characters, state="reset")
    expected = bilm(batch_char_ids([WORDS], max_characters)).layers[0]
    field = TextField([Token(word) for word in WORDS], {"elmo": CharIdsIndexer()})
    batch = Batch([Instance({"text": field})])
    batch.index_instances(Vocabulary())
    char_ids = batch.as_tensor_dict()["text"]["elmo"]["elmo_tokens"]
    mix = {"dropout": 0.0}

    for found in (
        next(ElmoEncoder(bilm).layers([WORDS])).mean(dim=0),
        Elmo(bilm, dropout=0.0)([WORDS])[0][0],
        Elmo(bilm, dropout=0.0)(char_ids)[0][0],
        ElmoBiLmEmbedder(bilm, mix)(char_ids)[0],
    ):
        torch.testing.assert_close(found, expected.mean(dim=0), atol=1e-6, rtol=0)
    x = expected[0]
    cosines = torch.nn.functional.cosine_similarity(x[:1], x[1:])
    nearest = dict(similar_words(bilm, WORDS[0], WORDS, 7))
    assert [nearest[word] for word in WORDS[1:]] == pytest.approx(cosines.tolist(), abs=1e-6)


@pytest.mark.parametrize("max_characters", SIZES)
def test_word_vectors_are_learnt_from_the_characters_that_are_read(max_characters: int) -> None:
    bilm = bilm_of(max_characters, requires_grad=True)
    vocab = Vocabulary(tokens_to_add={"tokens": WORDS})

    fit = VectorFit.of(FileVectors(WORDS, torch.eye(8)[:, :6]), vocab, max_characters)

    assert torch.equal(fit.char_ids, batch_char_ids([WORDS], max_characters)[0])
    assert fit.loss(bilm.char_cnn, 5).isfinite()


def test_allennlps_char_ids_are_refused_where_they_lack_characters_that_are_read() -> None:
    for max_characters in (20, 50):
        bilm = bilm_of(max_characters, state="reset")
        expected = bilm(batch_char_ids([WORDS], max_characters)).layers
        torch.testing.assert_close(bilm(batch_to_ids([WORDS])).layers, expected)
    bilm = bilm_of(60, state="reset")

    short = bilm(batch_to_ids([WORDS[:4], ["of"]])).layers

    expected = bilm(batch_char_ids([WORDS[:4], ["of"]], 60)).layers
    torch.testing.assert_close(short, expected)
    with pytest.raises(
        ConfigurationError, match=r"\(batch, length, 60\), with .* got \(1, 8, 50\);"
    ):
        bilm(batch_to_ids([WORDS]))
    for shape in ((2, 3), (1, 2, 0), (1, 1, 1, 60)):
        with pytest.raises(ConfigurationError):
            bilm(torch.ones(shape, dtype=torch.long))
