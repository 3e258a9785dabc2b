from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.modules.elmo import Elmo as AllenNlpElmo
from allennlp.modules.elmo import batch_to_ids

from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo import Elmo, ElmoEncoder
from elmo_tasks.elmo.store import LayerStore
from tests.helpers.reference_bilm import FIXTURE_FILES
from tests.helpers.stored_bilms import fixture_bilm

SENTENCES = [["A", "film", "of", "charm", "."], ["It", "is"], ["na\u00efve"]]


def make_elmo(requires_grad: bool = False, **settings: Any) -> Elmo:
    bilm = make_bilm(*FIXTURE_FILES, state="reset", requires_grad=requires_grad)
    return Elmo(bilm, **settings)


@pytest.mark.parametrize("keeps", [False, True])
def test_vectors_equal_those_of_allennlps_module_with_two_trained_mixes(keeps: bool) -> None:
    settings: dict[str, Any] = {"dropout": 0.0, "keep_sentence_boundaries": keeps}
    theirs = AllenNlpElmo(*FIXTURE_FILES, num_output_representations=2, **settings)
    elmo = make_elmo(num_mixes=2, **settings)
    for index, mix in enumerate(elmo.mixes):
        scalar_mix = getattr(theirs, f"scalar_mix_{index}")
        for scalar in [*scalar_mix.scalar_parameters, scalar_mix.gamma]:
            torch.nn.init.normal_(scalar)
        mix.load_state_dict(scalar_mix.state_dict())

    first, second, mask = elmo(SENTENCES)

    expected = theirs(batch_to_ids(SENTENCES))
    torch.testing.assert_close(
        [first, second], expected["elmo_representations"], atol=1e-5, rtol=1e-5
    )
    assert torch.equal(mask, expected["mask"])
    assert first.shape == (3, 7 if keeps else 5, elmo.get_output_dim())


def test_a_sentence_without_tokens_has_no_boundaries() -> None:
    char_ids = torch.cat([batch_to_ids(SENTENCES), torch.zeros(1, 5, 50, dtype=torch.long)])
    elmo = make_elmo(keep_sentence_boundaries=True).eval()

    vectors, mask = elmo(char_ids)

    assert mask.sum(dim=1).tolist() == [7, 4, 3, 0] and not vectors[~mask].any()
    torch.testing.assert_close(vectors[:3], elmo(SENTENCES)[0])


def test_boundaries_are_computed_where_a_store_has_the_tokens(tmp_path: Path) -> None:
    expected = Elmo(fixture_bilm(), keep_sentence_boundaries=True).eval()(SENTENCES)

    vectors = Elmo(fixture_bilm(LayerStore(str(tmp_path))), keep_sentence_boundaries=True).eval()

    torch.testing.assert_close(vectors(SENTENCES), expected)


@pytest.mark.parametrize("trains", [False, True])
def test_mixes_train_and_a_bilm_if_it_requires_gradients(trains: bool) -> None:
    elmo = make_elmo(requires_grad=trains, num_mixes=2)

    first, second, _ = elmo(SENTENCES)
    (first.square().sum() + second.sum()).backward()

    trained = {name for name, each in elmo.named_parameters() if each.grad is not None}
    of_mixes = {name for name in trained if name.startswith("mixes.")}
    assert len(of_mixes) == 4
    assert trained == (set(dict(elmo.named_parameters())) if trains else of_mixes)


def test_no_sentence_and_no_token_give_empty_vectors_and_no_mix_is_refused() -> None:
    elmo = make_elmo()

    assert elmo([])[0].shape == (0, 0, 32)
    assert elmo([[]])[0].shape == (1, 0, 32)
    with pytest.raises(ConfigurationError, match="num_mixes"):
        make_elmo(num_mixes=0)


def test_a_pretrained_bilm_is_given_by_its_name_or_folder() -> None:
    named, trained = Elmo.from_pretrained("mini"), Elmo.from_pretrained("mini", requires_grad=True)
    in_folder = Elmo.from_pretrained(FIXTURE_FILES[0].parent, num_mixes=2, layers="last")

    assert named.get_output_dim() == 256 and not named.bilm.trains and trained.bilm.trains
    assert [mix.layers for mix in in_folder.mixes] == [2, 2]
    expected = ElmoEncoder.from_pretrained("mini")(SENTENCES)["elmo"]
    torch.testing.assert_close(named.eval()(SENTENCES)[0], expected, atol=1e-5, rtol=1e-5)


def test_padding_has_no_vectors_and_no_effect_on_the_words_before_it() -> None:
    elmo = make_elmo().eval()
    expected, expected_mask = elmo(SENTENCES)
    padded = [[*words, *[""] * (6 - len(words))] for words in SENTENCES]
    filled = [[*words, *["of"] * (6 - len(words))] for words in SENTENCES]

    generated = (iter(words) for words in padded)
    for sentences, lengths in ((padded, None), (filled, [5, 2, 1]), (generated, None)):
        vectors, mask = elmo(sentences, lengths)

        assert torch.equal(vectors[:, :5], expected) and torch.equal(mask[:, :5], expected_mask)
        assert vectors.shape[1] == 6 and not vectors[:, 5].any() and not mask[:, 5].any()


REFUSED: list[tuple[Any, Any, str]] = [
    ([["It"], ["A", "", ""]], [1, 2], "token 1 of sentence 1 is an empty string"),
    ([["It"], ["A"]], [1], "got 1 lengths for 2 sentences"),
    ([["It"], ["A"]], [1, 2], "the length of sentence 1 is 2, but it has 1 tokens"),
    ([["It"]], [-1], "the length of sentence 0 is -1, but it has 1 tokens"),
    (torch.ones(1, 1, 50, dtype=torch.long), [1], "lengths are for lists of tokens"),
]


@pytest.mark.parametrize(("sentences", "lengths", "words"), REFUSED)
def test_what_is_no_padding_is_refused(sentences: Any, lengths: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make_elmo()(sentences, lengths)
