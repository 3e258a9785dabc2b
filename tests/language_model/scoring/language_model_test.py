import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import pytest
from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids

from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.language_model.scoring.scores import Score
from tests.helpers.language_models import SENTENCES, WORDS, random_model


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    return random_model()


def by_hand(model: LanguageModel, words: list[str], folder: Path) -> list[numpy.ndarray]:
    """
    Returns the log probability of every class for every token, boundaries included, in NumPy from
    the layers of AllenNLP's biLM: for each direction shape (length + 2, classes).
    """
    model.bilm.to_files(folder)
    upstream = _ElmoBiLm(folder / "options.json", folder / "weights.hdf5")
    top = upstream(batch_to_ids([words]))["activations"][-1][0].detach().double().numpy()
    weight, bias = (part.double().numpy() for part in (model.softmax.weight, model.softmax.bias))
    forward, backward = (
        logits - numpy.log(numpy.exp(logits).sum(axis=1, keepdims=True))
        for logits in (half @ weight.T + bias for half in numpy.split(top, 2, axis=1))
    )
    # At each token the forward direction predicts the next one, the backward one the previous one.
    return [numpy.roll(forward, 1, axis=0), numpy.roll(backward, -1, axis=0)]


def test_scores_are_those_of_allennlps_bilm_and_a_softmax_in_numpy(
    model: LanguageModel, tmp_path: Path
) -> None:
    words = "the old zebra saw a dog".split()

    [score] = model.score([words])

    forward, backward = by_hand(model, words, tmp_path)
    classes = model.softmax.classes(["<S>", *words, "</S>"])
    assert score.tokens == words and score.known == [True, True, False, True, True, True]
    found = [*score.forward, score.end]
    assert found == pytest.approx(forward[range(1, 8), classes[1:]].tolist(), abs=1e-4)
    found = [score.begin, *score.backward]
    assert found == pytest.approx(backward[range(7), classes[:-1]].tolist(), abs=1e-4)


def assert_equal(one: Score, other: Score) -> None:
    assert one.tokens == other.tokens and one.known == other.known
    for left, right in zip(one[2:], other[2:]):
        assert left == pytest.approx(right, abs=1e-4)


def test_a_sentence_has_the_same_score_in_any_company(model: LanguageModel) -> None:
    sentences = [*SENTENCES, "", *SENTENCES[::-1], " "]

    scores = model.score(sentences)

    assert len(scores) == len(sentences)
    for sentence, score in zip(sentences, scores):
        assert_equal(score, model.score([sentence.split()])[0])


def test_a_sentence_without_tokens_has_no_score(model: LanguageModel) -> None:
    [score] = model.score([""])
    total = model.perplexity(["", "the dog", ""])

    assert (score.tokens, score.forward.shape, score.end, score.begin) == ([], (0,), 0, 0)
    assert total == model.perplexity(["the dog"]) and total.num_sentences == 1


def test_the_perplexity_counts_the_ends_of_sentences(model: LanguageModel) -> None:
    total = model.perplexity(SENTENCES)

    scores = model.score(SENTENCES)
    bits = sum(sum(-score.forward) - score.end for score in scores)
    num_tokens = sum(len(score.tokens) for score in scores)
    assert total.forward == pytest.approx(math.exp(bits / (num_tokens + len(SENTENCES))), rel=1e-5)
    assert total.mean == (total.forward + total.backward) / 2
    assert (total.num_tokens, total.num_unknown) == (num_tokens, 4)


def test_threads_that_share_a_model_get_the_scores_of_one(model: LanguageModel) -> None:
    expected = [model.score([sentence])[0] for sentence in SENTENCES]

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda sentence: model.score([sentence])[0], 20 * SENTENCES))

    for one, other in zip(found, 20 * expected, strict=True):
        assert_equal(one, other)


# Tests of context.


def test_a_context_is_read_before_its_sentence_in_each_direction(
    model: LanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The sentences are scored in several groups.
    monkeypatch.setattr("elmo_tasks.elmo.sentence_layers.WINDOW_TOKENS", 12)

    scores = list(model.iterate(SENTENCES, context=2))

    for index, found in enumerate(scores):
        # One at a time, with the state handed on.
        state = None
        for sentence in SENTENCES[max(0, index - 2) : index]:
            _, state = model._scorer.read([sentence.split()], state)
        reading, _ = model._scorer.read([SENTENCES[index].split()], state)
        assert_equal(found, model._scorer.scores(reading)[0])
    assert scores[1].forward != pytest.approx(model.score(SENTENCES)[1].forward, abs=1e-3)


def test_no_context_reaches_over_an_empty_line(model: LanguageModel) -> None:
    scores = list(model.iterate([*SENTENCES[:2], "", *SENTENCES[2:4]], context=3))

    second = list(model.iterate(SENTENCES[2:4], context=3))
    for found, expected in zip(scores[3:], second, strict=True):
        assert_equal(found, expected)


# Tests of likely words.

# The words of the softmax, without the class of all unknown words.
KNOWN = [word for word in WORDS if word != "@@UNKNOWN@@"]


def test_next_words_are_those_that_the_forward_direction_expects(
    model: LanguageModel, tmp_path: Path
) -> None:
    found = model.next_words("the old", k=len(KNOWN))

    forward, _ = by_hand(model, ["the", "old"], tmp_path)
    expected = dict(zip(WORDS, numpy.exp(forward[3]).tolist()))
    assert dict(found) == pytest.approx({word: expected[word] for word in KNOWN}, abs=1e-6)
    assert [word for word, _ in found] == sorted(KNOWN, key=expected.__getitem__, reverse=True)
    assert found[:3] == model.next_words(["the", "old"], k=3)
    assert model.next_words("", k=1)[0][0] in KNOWN


def test_a_gap_is_filled_by_both_directions(model: LanguageModel, tmp_path: Path) -> None:
    words = "the old dog saw a cat".split()

    found = model.fill(words, 2, k=len(KNOWN))

    directions = [each[3] for each in by_hand(model, words, tmp_path)]
    product = numpy.exp(sum(directions))
    expected = [*map(numpy.exp, directions), product / product.sum()]
    for name, shares in zip(("forward", "backward", "both"), expected):
        share_of = dict(zip(WORDS, shares.tolist()))
        assert dict(found[name]) == pytest.approx({w: share_of[w] for w in KNOWN}, abs=1e-6)
    assert found == model.fill(["the", "old", "zebra", *words[3:]], 2, k=len(KNOWN))


def test_what_cannot_be_asked_is_refused(model: LanguageModel) -> None:
    with pytest.raises(ValueError, match="index must be from 0 to 1, not 2"):
        model.fill("the dog", 2)
    with pytest.raises(ValueError, match="k must be from 1 to 15, .* not 16"):
        model.next_words("the", k=16)


def test_a_bilm_that_carries_its_state_is_frozen_and_scores_as_one_that_starts_anew() -> None:
    model = random_model("carry")

    one, other = (model.score([SENTENCES[0]])[0] for _ in range(2))

    assert_equal(one, other)
    assert not any(parameter.requires_grad for parameter in model.bilm.parameters())


# Tests of words that were cut into pieces.


def test_the_bits_of_a_word_are_those_of_its_pieces(model: LanguageModel) -> None:
    [score] = model.score([["the", "dog", ",", "the", "zebra", "."]])

    found = score.by_word(["the", "dog,", "the", "zebra."], [1, 2, 1, 2])

    assert found.tokens == ["the", "dog,", "the", "zebra."]
    assert found.known == [True, True, True, False]
    for whole, pieces in ((found.forward, score.forward), (found.backward, score.backward)):
        sums = [pieces[0], pieces[1] + pieces[2], pieces[3], pieces[4] + pieces[5]]
        assert whole.tolist() == pytest.approx([float(each) for each in sums])
    assert found.forward_sum == pytest.approx(score.forward_sum)
