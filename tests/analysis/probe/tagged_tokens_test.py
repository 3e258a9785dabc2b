import torch
from allennlp.modules.elmo import batch_to_ids

from elmo_tasks.analysis.probe.column_reader import TaggedSentence
from elmo_tasks.analysis.probe.tagged_tokens import embed
from elmo_tasks.bilm import make_bilm
from elmo_tasks.elmo.sentence_layers import SentenceLayers
from tests.helpers.reference_bilm import FIXTURE_FILES

SENTENCES = [
    TaggedSentence(["A", "bank"], ["a", "bank"], [(), ("river",)]),
    TaggedSentence(["None", "here"], ["none", "here"], [(), ()]),
    TaggedSentence(["She", "plays", "it"], ["she", "play", "it"], [("x", "y"), ("game",), ()]),
]


def test_tokens_with_tags_have_their_layers_in_the_context_of_all() -> None:
    bilm = make_bilm(*FIXTURE_FILES).eval()

    tokens = embed(SentenceLayers(bilm), SENTENCES)

    assert (tokens.keys, tokens.tags) == (
        ["bank", "she", "play"],
        [("river",), ("x", "y"), ("game",)],
    )
    first, last = (bilm(batch_to_ids([SENTENCES[k].words])).layers[0] for k in (0, 2))
    expected = torch.stack([first[:, 1], last[:, 0], last[:, 1]])
    assert tokens.layers.dtype == torch.float16
    torch.testing.assert_close(tokens.layers.float(), expected, rtol=2**-10, atol=1e-4)
