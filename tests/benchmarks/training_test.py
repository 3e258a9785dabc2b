import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.modules.elmo import Elmo, batch_to_ids

from benchmarks.training import UpstreamEmbedder
from elmo_tasks.bilm import make_bilm
from elmo_tasks.modules.text_embedder import ElmoTextEmbedder

OPTIONS, WEIGHTS = "fixtures/bilm/options.json", "fixtures/bilm/weights.hdf5"


def test_the_two_embedders_that_are_compared_do_the_same() -> None:
    bilm = make_bilm(OPTIONS, WEIGHTS, state="reset")
    words = {"token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 3}}}
    settings = {"words": words, "input_mix": {"dropout": 0.0}, "output_mix": {"dropout": 0.0}}
    ours = ElmoTextEmbedder.from_params(Params(settings), bilm=bilm, vocab=Vocabulary())
    theirs = UpstreamEmbedder(ours, Elmo(OPTIONS, WEIGHTS, 2, dropout=0))
    char_ids = batch_to_ids([["A", "short", "one"], ["Yes"]])
    text = {
        "tokens": {"tokens": torch.tensor([[1, 1, 1], [1, 0, 0]])},
        "elmo": {"elmo_tokens": char_ids},
    }

    for found, expected in zip(ours(text)[0], theirs(text)[0], strict=True):
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
