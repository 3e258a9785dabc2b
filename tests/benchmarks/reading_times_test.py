from collections.abc import Callable
from pathlib import Path

import numpy
import pytest

from benchmarks.reading_times import Words, gain, main, predicted, read_sentences, words_of
from tests.helpers.language_models import random_model, written_model

STORIES = {
    "1": 'The old dog saw a cat. A cat, "is gone!" In the house a dog barks.',
    "2": "The cat is in the house. The old dog barks and saw a cat",
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "times.tsv"
    rows = [
        f"{story}\t{word}\t{300 + 7 * len(word) + index}"
        for story, text in STORIES.items()
        for index, word in enumerate(text.split())
    ]
    path.write_text("\n".join(["story\tword\tmean_ms", *rows, ""]))
    return path


def cut(word: str) -> list[str]:
    return [word[:-1], word[-1]] if word[-1] in ".,!" else [word]


def test_sentences_end_at_their_punctuation_and_at_the_end_of_a_story(data: Path) -> None:
    found = list(read_sentences(str(data)))

    assert [(sentence.story, len(sentence.words)) for sentence in found] == [
        *(("1", 6), ("1", 4), ("1", 6)),
        *(("2", 6), ("2", 8)),
    ]
    assert found[1].words == ["A", "cat,", '"is', 'gone!"']
    assert found[0].times[:2] == [321, 322]


def test_words_have_their_bits_and_those_of_the_word_before(data: Path) -> None:
    model, sentences = random_model(), list(read_sentences(str(data)))

    words = words_of(model, sentences, cut)

    first = model.score(["The old dog saw a cat ."])[0]
    bits = -first.forward / numpy.log(2)
    # "The" is no word of the softmax, so that "old" has no bits before it.
    assert words.times[:3].tolist() == [300 + 21 + 2, 300 + 21 + 3, 300 + 7 + 4]
    assert words.bits[0].tolist() == pytest.approx([bits[2], bits[1]], abs=1e-4)
    assert words.controls[1, 0] == 3 and words.controls[2, 2] == 3
    assert set(words.story) == {2, 4}


def random_words(effect: float) -> Words:
    generator = numpy.random.default_rng(0)
    size = 3000
    controls, bits = generator.normal(size=(size, 4)), generator.normal(size=(size, 2))
    times = 300 + 10 * controls[:, 0] + effect * bits[:, 0] + 20 * generator.normal(size=size)
    index = numpy.arange(size)
    return Words(index // 500, index // 10, times, controls, bits)


def test_bits_that_have_an_effect_gain_what_theory_says() -> None:
    found = gain(random_words(effect=10))

    # The variance of the errors falls from 500 to 400.
    value, low, high = found.log_likelihood
    assert value == pytest.approx(1000 * numpy.log(500 / 400) / 2, rel=0.15)
    assert 0 < low < value < high
    assert found.with_bits - found.without == pytest.approx(found.explained[0])
    assert found.with_bits == pytest.approx(200 / 600, abs=0.05)
    assert found == gain(random_words(effect=10))


def test_bits_without_an_effect_gain_nothing() -> None:
    value, low, _ = gain(random_words(effect=0)).log_likelihood

    assert low < 0 and abs(value) < 2


def test_a_story_is_predicted_from_the_others_alone() -> None:
    words = random_words(effect=10)
    changed = words._replace(times=numpy.where(words.story == 2, 1e6, words.times))

    one, other = (predicted(each, words.controls)[0] for each in (words, changed))

    assert one[words.story == 2].tolist() == other[words.story == 2].tolist()


def test_the_table_and_the_chart_are_made(
    data: Path, tmp_path: Path, printed: Callable[..., str]
) -> None:
    written_model(tmp_path / "lm")
    options = ["--bilm", tmp_path / "lm", "--chart", tmp_path / "times.png"]

    lines = printed(main, data, "--context", "1", *options).splitlines()

    assert lines[0].startswith("30 words of 5 sentences.")
    assert lines[-1].startswith("| lm | ")
    assert (tmp_path / "times.png").read_bytes().startswith(b"\x89PNG")


def test_one_story_alone_is_refused(data: Path) -> None:
    sentences = [each for each in read_sentences(str(data)) if each.story == "1"]

    with pytest.raises(ValueError, match="there must be two or more"):
        words_of(random_model(), sentences, cut)
