import json
import math
from pathlib import Path

import pytest
import torch
from allennlp.common.util import JsonDict
from allennlp.models import load_archive
from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids
from allennlp.predictors import Predictor

from elmo_tasks.predictors.language_model import LanguageModelPredictor
from tests.helpers.archives import SENTENCES, language_model
from tests.helpers.command_line import our_command

# The last word is not in the vocabulary.
SENTENCE = "the old dog saw a zebra"
DIRECTIONS = ("forward", "backward")


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return language_model(tmp_path_factory.mktemp("archive"))


@pytest.fixture(scope="module")
def predictor(archive: Path) -> Predictor:
    return Predictor.from_archive(load_archive(archive))


def log_probs(predictor: Predictor, words: list[str], folder: Path) -> dict[str, torch.Tensor]:
    """
    Returns the log probability of every word of the vocabulary for every token, boundaries
    included, by AllenNLP's biLM: for each direction a tensor of shape (length + 2, words).
    """
    model = predictor._model
    model.bilm.to_files(folder)
    upstream = _ElmoBiLm(folder / "options.json", folder / "weights.hdf5")
    # Shape: (length + 2, 2 * projection_dim)
    top = upstream(batch_to_ids([words]))["activations"][-1][0]
    none = torch.full((1, model.softmax.num_classes), math.nan)
    scores = [
        torch.log_softmax(half @ model.softmax.weight.T + model.softmax.bias[:, 0], dim=1)
        for half in top.chunk(2, dim=1)
    ]
    # At each token the forward direction predicts the next one, the backward one the previous one.
    return {
        "forward": torch.cat([none, scores[0][:-1]]),
        "backward": torch.cat([scores[1][1:], none]),
    }


def class_of(predictor: Predictor, word: str) -> int:
    return predictor._model.vocab.get_token_index(word) - 1


def test_it_is_the_default_of_the_model(predictor: Predictor) -> None:
    assert isinstance(predictor, LanguageModelPredictor)


def test_log_probabilities_are_those_of_allennlps_bilm_and_a_softmax(
    predictor: Predictor, tmp_path: Path
) -> None:
    words = SENTENCE.split()

    answer = predictor.predict_json({"sentence": SENTENCE})

    expected = log_probs(predictor, words, tmp_path)
    classes = [class_of(predictor, word) for word in ("<S>", *words, "</S>")]
    found = {
        "forward": [math.nan, *answer["forward_log_probs"], answer["end_log_prob"]],
        "backward": [answer["begin_log_prob"], *answer["backward_log_probs"], math.nan],
    }
    for direction in DIRECTIONS:
        of_words = expected[direction][range(len(classes)), classes].tolist()
        assert found[direction] == pytest.approx(of_words, abs=1e-5, nan_ok=True)


def test_probabilities_of_all_words_for_a_place_sum_to_one(predictor: Predictor) -> None:
    words = SENTENCE.split()
    vocab = predictor._model.vocab.get_token_to_index_vocabulary("tokens")
    candidates = [word for word, index in vocab.items() if index > 0]
    words_alone = [word for word in candidates if word != "@@UNKNOWN@@"]
    asked = {"place": 2, "top_k": len(words_alone)}

    best = predictor.predict_json({"sentence": SENTENCE, **asked})["best"]
    answers = predictor.predict_batch_json(
        [{"tokens": [*words[:2], word, *words[3:]]} for word in candidates]
    )

    by_word = {}
    for direction in DIRECTIONS:
        log_probs = [answer[f"{direction}_log_probs"][2] for answer in answers]
        by_word[direction] = dict(zip(candidates, map(math.exp, log_probs)))
    products = {word: by_word["forward"][word] * by_word["backward"][word] for word in candidates}
    by_word["both"] = {word: product / sum(products.values()) for word, product in products.items()}
    assert best.keys() == by_word.keys()
    for direction, expected in by_word.items():
        assert sum(expected.values()) == pytest.approx(1, abs=1e-5)
        found = {each["word"]: each["probability"] for each in best[direction]}
        assert found == pytest.approx({word: expected[word] for word in words_alone}, abs=1e-6)
        assert list(found.values()) == sorted(found.values(), reverse=True)


def test_the_best_words_are_the_first_of_all(predictor: Predictor) -> None:
    inputs = {"sentence": SENTENCE, "place": 0}
    num_words = predictor._model.softmax.num_classes - 1

    few = predictor.predict_json({**inputs, "top_k": 3})["best"]
    default = predictor.predict_json(inputs)["best"]
    every = predictor.predict_json({**inputs, "top_k": num_words})["best"]

    for direction, words in every.items():
        assert few[direction] == words[:3]
        assert default[direction] == words[:10]


def test_a_place_does_not_see_its_own_word(predictor: Predictor) -> None:
    bests = [
        predictor.predict_json({"tokens": ["the", word, "saw"], "place": 1})["best"]
        for word in ("dog", "zebra")
    ]

    assert bests[0] == bests[1]


def test_perplexities_are_the_metrics_of_the_sentence(predictor: Predictor) -> None:
    model = predictor._model
    instance = predictor._dataset_reader.text_to_instance(SENTENCE.split())
    predictor._dataset_reader.apply_token_indexers(instance)

    answer = predictor.predict_json({"sentence": SENTENCE})

    model.get_metrics(reset=True)
    model.forward_on_instance(instance)
    metrics = model.get_metrics(reset=True)
    for direction in DIRECTIONS:
        name = f"{direction}_perplexity"
        assert answer[name] == pytest.approx(metrics[name], rel=1e-5)
    ahead = [*answer["forward_log_probs"], answer["end_log_prob"]]
    assert answer["forward_perplexity"] == pytest.approx(math.exp(-sum(ahead) / 7), rel=1e-5)


def test_answers_leave_the_metrics_alone(predictor: Predictor) -> None:
    predictor._model.get_metrics(reset=True)

    predictor.predict_json({"sentence": SENTENCE, "place": 1})

    assert predictor._model.get_metrics() == {
        "perplexity": 1,
        "forward_perplexity": 1,
        "backward_perplexity": 1,
    }


def test_unknown_words_are_marked_and_as_likely_as_any_unknown_word(predictor: Predictor) -> None:
    answer = predictor.predict_json({"sentence": SENTENCE})
    other = predictor.predict_json({"sentence": SENTENCE.replace("zebra", "quagga")})

    assert answer["unknown"] == [False] * 5 + [True]
    assert answer["forward_log_probs"] == other["forward_log_probs"]
    # The biLM still sees the characters of unknown words.
    assert answer["backward_log_probs"] != other["backward_log_probs"]


def test_a_sentence_is_cut_at_its_blanks_and_tokens_are_taken_as_they_are(
    predictor: Predictor,
) -> None:
    sentence = predictor.predict_json({"sentence": "  the dog's\tcat , \n"})
    tokens = predictor.predict_json({"tokens": ["the", "dog's", "cat", ","]})

    assert sentence == tokens and tokens["tokens"] == ["the", "dog's", "cat", ","]
    for name in ("unknown", "forward_log_probs", "backward_log_probs"):
        assert len(tokens[name]) == 4


@pytest.mark.parametrize("state", ["reset", "carry"])
def test_answers_of_a_batch_are_those_of_single_sentences(tmp_path: Path, state: str) -> None:
    predictor = Predictor.from_archive(load_archive(language_model(tmp_path, state)))
    inputs: list[JsonDict] = [
        {"sentence": "the dog", "place": 1, "top_k": 2},
        *({"sentence": sentence} for sentence in SENTENCES),
        {"tokens": ["cat"], "place": 0},
    ]

    answers = predictor.predict_batch_json(inputs)

    for answer, single in zip(answers, inputs, strict=True):
        alone = predictor.predict_json(single)
        best, best_alone = answer.pop("best", {}), alone.pop("best", {})
        assert answer.keys() == alone.keys()
        for name, value in answer.items():
            expected = alone[name] if name == "tokens" else pytest.approx(alone[name], abs=1e-4)
            assert value == expected
        assert best.keys() == best_alone.keys()
        for direction, words in best.items():
            for one, other in zip(words, best_alone[direction], strict=True):
                assert one["probability"] == pytest.approx(other["probability"], abs=1e-6)


def test_a_long_sentence_is_answered_as_a_whole(predictor: Predictor, tmp_path: Path) -> None:
    words = ("the old dog saw a cat in the house .".split() * 20)[:193]

    answer = predictor.predict_json({"tokens": words})

    expected = log_probs(predictor, words, tmp_path)["forward"]
    classes = [class_of(predictor, word) for word in words]
    assert answer["forward_log_probs"] == pytest.approx(
        expected[range(1, 194), classes].tolist(), abs=1e-4
    )


# Tests of `allennlp predict`.


def predict(archive: Path, text: str, *args: str) -> list[JsonDict]:
    text_file, answers = archive.parent / "input", archive.parent / "output"
    text_file.write_text(text)
    command = ("predict", archive, text_file, "--output-file", answers, "--silent")
    our_command(*command, *args)
    return [json.loads(line) for line in answers.read_text().splitlines()]


@pytest.mark.parametrize("batch_size", ["1", "3"])
def test_allennlp_predict_answers_a_line_a_sentence(
    archive: Path, predictor: Predictor, batch_size: str
) -> None:
    inputs = [{"sentence": SENTENCE, "place": 2, "top_k": 1}, *({"sentence": s} for s in SENTENCES)]
    text = "\n".join(map(json.dumps, inputs))

    answers = predict(archive, text, "--batch-size", batch_size)

    assert [answer["tokens"] for answer in answers] == [s.split() for s in (SENTENCE, *SENTENCES)]
    assert (
        answers[0]["best"]["both"][0]["word"]
        == (predictor.predict_json(inputs[0])["best"]["both"][0]["word"])
    )


def test_allennlp_predict_answers_for_a_file_of_text(archive: Path, predictor: Predictor) -> None:
    text = "\n".join(SENTENCES)

    answers = predict(archive, text, "--use-dataset-reader", "--batch-size", "3")

    for answer, sentence in zip(answers, SENTENCES, strict=True):
        expected = predictor.predict_json({"sentence": sentence})
        assert answer["tokens"] == expected["tokens"]
        assert answer["forward_log_probs"] == pytest.approx(expected["forward_log_probs"], abs=1e-4)


# Tests of wrong inputs.
