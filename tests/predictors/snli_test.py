from pathlib import Path

import torch

from tests.helpers.archives import task_predictor

PAIRS = [
    {"premise": "A girl feeds two ducks.", "hypothesis": "She isn't asleep."},
    {"premise": "Rain.", "hypothesis": "It rains on all of the old town since noon."},
]


def test_an_answer_has_its_tokens_and_on_request_their_attention(tmp_path: Path) -> None:
    predictor = task_predictor(tmp_path, "snli", "both", attention=True)

    answers = predictor.predict_batch_json(PAIRS)

    assert answers[0]["premise_tokens"] == ["A", "girl", "feeds", "two", "ducks", "."]
    assert answers[0]["hypothesis_tokens"] == ["She", "is", "n't", "asleep", "."]
    for answer, pair in zip(answers, PAIRS, strict=True):
        p, h = len(answer["premise_tokens"]), len(answer["hypothesis_tokens"])
        for name, shape in (("premise_attention", (p, h)), ("hypothesis_attention", (h, p))):
            attention = torch.tensor(answer[name])
            assert attention.shape == shape
            assert torch.allclose(attention.sum(dim=1), torch.ones(shape[0]), atol=1e-5)
            assert torch.allclose(attention, torch.tensor(predictor.predict_json(pair)[name]))
