"""Trains a biLM of words, which has a table in place of the character CNN."""

from pathlib import Path

import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.models import load_archive

from elmo_tasks.bilm import make_bilm
from elmo_tasks.bilm.characters import batch_char_ids
from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from tests.helpers.command_line import allennlp
from tests.helpers.language_model_configs import shrunk

SENTENCES = [["the", "sea", "and", "the", "zzz"], ["a", "boat"]]


def test_it_is_trained_exported_read_and_scores(tmp_path: Path) -> None:
    run = tmp_path / "run"
    config = "{ filters: null, start_from_vectors: 'fixtures/vectors.txt' }"
    train_model(Params(shrunk("mini", config)), str(run))
    allennlp("elmo-export", run / "model.tar.gz", tmp_path / "exported")
    allennlp("elmo-pack", run / "model.tar.gz", tmp_path / "packed")

    model = load_archive(run / "model.tar.gz").model.eval()
    layers = model.bilm(batch_char_ids(SENTENCES)).layers
    for folder in (run, tmp_path / "exported", tmp_path / "packed"):
        bilm = make_bilm(folder / "options.json", folder / "weights.hdf5", state="reset")
        tolerance = 1e-5 if folder != tmp_path / "packed" else 2e-2
        torch.testing.assert_close(
            bilm(batch_char_ids(SENTENCES)).layers, layers, atol=tolerance, rtol=tolerance
        )
    scores = LanguageModel.from_pretrained(tmp_path / "packed").score(SENTENCES)

    words = (run / "vocab.txt").read_text().splitlines()
    assert words[0] == "<UNK>" and {"<S>", "</S>", "the"} <= set(words)
    # Unknown words share a vector.
    encoder = ElmoEncoder.from_pretrained(run)
    x = encoder([["zzz", "yyy", "the"]])["word_emb"][0]
    assert torch.equal(x[0], x[1]) and not torch.equal(x[0], x[2])
    assert [len(score.forward) for score in scores] == [5, 2]
