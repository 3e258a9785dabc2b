import json
from pathlib import Path

import pytest
import torch
from allennlp.common.util import JsonDict
from allennlp.models import load_archive
from allennlp.predictors import Predictor

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.predictors.snli import SnliPredictor
from tests.helpers.command_line import our_command
from tests.helpers.training import trained_archive

CLASSES = {"entailment", "neutral", "contradiction"}
PAIR = {"premise": "A girl feeds two ducks.", "hypothesis": "She isn't asleep."}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(trained_archive(tmp_path_factory.mktemp("snli"), "snli"))


@pytest.fixture(scope="module")
def predictor(archive: str) -> Predictor:
    return Predictor.from_archive(load_archive(archive))


@pytest.fixture(scope="module")
def attentive(archive: str) -> Predictor:
    return Predictor.from_archive(load_archive(archive), extra_args={"attention": True})


def run(archive: str, folder: Path, lines: list[str], *arguments: str) -> list[JsonDict]:
    """Returns the answers that `allennlp predict` writes."""
    asked, output = folder / "in.jsonl", folder / "out.jsonl"
    asked.write_text("\n".join(lines), encoding="utf-8")
    our_command("predict", archive, asked, "--silent", "--output-file", output, *arguments)
    return [json.loads(line) for line in output.read_text().splitlines()]


def test_answer_has_label_probabilities_and_tokens(predictor: Predictor) -> None:
    assert isinstance(predictor, SnliPredictor)

    answer = predictor.predict_json(PAIR)

    assert answer["premise_tokens"] == ["A", "girl", "feeds", "two", "ducks", "."]
    assert answer["hypothesis_tokens"] == ["She", "is", "n't", "asleep", "."]
    assert set(answer["probabilities"]) == CLASSES
    assert sum(answer["probabilities"].values()) == pytest.approx(1, abs=1e-5)
    assert answer["label"] == max(CLASSES, key=answer["probabilities"].__getitem__)
    assert set(answer) == {"label", "probabilities", "premise_tokens", "hypothesis_tokens"}


def test_attention_is_given_on_request(attentive: Predictor) -> None:
    other = {"premise": "Rain.", "hypothesis": "It rains on all of the old town since noon."}

    for answer in attentive.predict_batch_json([PAIR, other]):
        p, h = len(answer["premise_tokens"]), len(answer["hypothesis_tokens"])
        for name, shape in (("premise_attention", (p, h)), ("hypothesis_attention", (h, p))):
            attention = torch.tensor(answer[name])
            assert attention.shape == shape
            assert torch.allclose(attention.sum(dim=1), torch.ones(shape[0]), atol=1e-5)


def test_answers_of_a_batch_are_those_of_single_pairs(attentive: Predictor) -> None:
    inputs: list[JsonDict] = [PAIR, {"premise": "Rain.", "hypothesis": "It rains since noon."}]

    for answer, single in zip(attentive.predict_batch_json(inputs), inputs, strict=True):
        alone = attentive.predict_json(single)
        assert answer["probabilities"] == pytest.approx(alone["probabilities"], abs=1e-6)
        for one, other in zip(answer["premise_attention"], alone["premise_attention"], strict=True):
            assert one == pytest.approx(other, abs=1e-6)


def test_predict_answers_every_line(archive: str, tmp_path: Path) -> None:
    lines = [json.dumps(PAIR), "", json.dumps({**PAIR, "premise": "word " * 1000})]

    first, second = run(archive, tmp_path, lines)

    assert "premise_attention" not in first
    assert len(second["premise_tokens"]) == 1000

    asked = run(archive, tmp_path, lines, "--predictor-args", '{"attention": true}')

    assert [len(answer["premise_attention"]) for answer in asked] == [6, 1000]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{'premise': 'A cat.'}", "expected .*premise.*Expecting property name"),
        ("A cat sleeps.", "Expecting value"),
        ('{"premise": "A cat."}', "expected .*, but got {'premise': 'A cat.'}"),
        ('{"premise": " ", "hypothesis": "A cat."}', "there is no word in the premise"),
        ('["A cat.", "A dog."]', "but got .'A cat.', 'A dog.'"),
    ],
)
def test_unreadable_line_is_reported_with_its_number_and_its_first_characters(
    archive: str, tmp_path: Path, line: str, complaint: str
) -> None:
    with pytest.raises(ValueError, match=rf"in.jsonl:4: .*{complaint}") as error:
        run(archive, tmp_path, [json.dumps(PAIR), "", json.dumps(PAIR), line])

    assert repr(line)[1:-1] in str(error.value)


def test_setting_that_cannot_be_is_refused(predictor: Predictor) -> None:
    with pytest.raises(ConfigurationError, match="attention must be true or false, not 'yes'"):
        SnliPredictor(predictor._model, predictor._dataset_reader, attention="yes")  # type: ignore
