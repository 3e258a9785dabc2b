import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.modules.elmo import batch_to_ids

from benchmarks.task_models import UpstreamEmbedder, rows
from elmo_tasks.bilm import make_bilm
from elmo_tasks.modules.text_embedder import ElmoTextEmbedder

OPTIONS, WEIGHTS = "fixtures/bilm/options.json", "fixtures/bilm/weights.hdf5"


def test_the_two_embedders_that_are_compared_do_the_same() -> None:
    bilm = make_bilm(OPTIONS, WEIGHTS, state="reset")
    words = {"token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 3}}}
    settings = {"words": words, "input_mix": {"dropout": 0.0}}
    ours = ElmoTextEmbedder.from_params(Params(settings), bilm=bilm, vocab=Vocabulary())
    text = {
        "tokens": {"tokens": torch.tensor([[1, 1, 1], [1, 0, 0]])},
        "elmo": {"elmo_tokens": batch_to_ids([["A", "short", "one"], ["Yes"]])},
    }

    found = UpstreamEmbedder(ours, dropout=0.0)(text)

    torch.testing.assert_close(found, ours(text)[0].x, atol=1e-5, rtol=0)


def test_a_row_has_the_speed_of_each_work_that_a_model_does() -> None:
    seconds = {("ours", "training"): 2.0, ("ours", "text"): 0.5, ("theirs", "training"): 4.0}

    assert rows("input", seconds, {"training": 10, "text": 3}).splitlines() == [
        "| `input` | ours | 5.0 | 6.0 |",
        "| `input` | theirs | 2.5 |  |",
    ]
