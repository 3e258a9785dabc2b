import torch
from allennlp.modules.elmo import batch_to_ids

from elmo_tasks.analysis.neighbors.similar_words import similar_words
from elmo_tasks.bilm import make_bilm
from tests.helpers.reference_bilm import FIXTURE_FILES

WORDS = ["bank", "banks", "river", "a", "the", "naïve"]


def test_the_nearest_words_are_those_of_layer_0_in_any_sentence() -> None:
    bilm = make_bilm(*FIXTURE_FILES).eval()
    # Layer 0 of a sentence of all words.
    x = bilm(batch_to_ids([WORDS])).layers[0, 0]
    cosines = torch.nn.functional.cosine_similarity(x[:1], x[1:]).tolist()
    expected = sorted(zip(WORDS[1:], cosines), key=lambda pair: -pair[1])

    found = similar_words(bilm, "bank", WORDS, 3)

    assert [word for word, _ in found] == [word for word, _ in expected[:3]]
    torch.testing.assert_close([c for _, c in found], [c for _, c in expected[:3]])


def test_a_word_alone_is_near_no_other() -> None:
    assert similar_words(make_bilm(*FIXTURE_FILES), "bank", ["bank"], 3) == []
