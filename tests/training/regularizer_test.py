import re
from pathlib import Path

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.nn.regularizers import L2Regularizer, RegularizerApplicator

from elmo_tasks.commands.in_allennlp.train_command import train_model
from elmo_tasks.elmo import ElmoMix
from elmo_tasks.training.regularizer import warn_of_unused_regexes
from tests.helpers.configs import evaluate


class OwnModel(Model):
    def __init__(self, *regexes: str) -> None:
        regularizer = RegularizerApplicator([(regex, L2Regularizer()) for regex in regexes])
        super().__init__(Vocabulary(), regularizer=regularizer if regexes else None)
        self.mix, self.frozen = ElmoMix(3), torch.nn.Linear(1, 1).requires_grad_(False)

    def penalised(self) -> list[str]:
        """Returns the parameters whose values the penalty depends on."""
        penalty = self.get_regularization_penalty()
        if not isinstance(penalty, torch.Tensor) or not penalty.requires_grad:
            return []
        self.zero_grad()
        penalty.backward()
        grads = {name: parameter.grad for name, parameter in self.named_parameters()}
        return [name for name, grad in grads.items() if grad is not None]


@pytest.mark.parametrize(
    ("regexes", "warned"),
    [
        (["scalar_parameters"], []),
        ([".*scalar_parameters", "gamma$"], []),
        (["_scalar_mix"], ["'_scalar_mix' has no effect: it matches no"]),
        (["frozen.weight", "mix"], ["'frozen.weight' has no effect: it matches no"]),
        (["mix", r"gamma$"], ["'gamma$' has no effect: an earlier regex"]),
        ([], []),
    ],
)
def test_regexes_without_effect_are_said(
    regexes: list[str], warned: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    model = OwnModel(*regexes)
    with torch.no_grad():
        model.mix.scalar_parameters.fill_(1)

    warn_of_unused_regexes(model)

    assert len(caplog.messages) == len(warned)
    for message, expected in zip(caplog.messages, warned):
        assert expected in message and message.endswith("mixes are mix.scalar_parameters")
    # What is not said to have no effect has one.
    for index, regex in enumerate(regexes):
        without = OwnModel(*regexes[:index], *regexes[index + 1 :])
        has_effect = model.penalised() != without.penalised()
        assert has_effect != any(repr(regex) in message for message in caplog.messages)


@pytest.mark.parametrize("trainer", ["elmo", "gradient_descent"])
def test_a_training_says_it_once(trainer: str, tmp_path: Path) -> None:
    config = evaluate("import 'examples/token_embedder.jsonnet'")
    config["model"].update(
        type="basic_classifier",
        seq2vec_encoder=config["model"].pop("encoder"),
        regularizer={"regexes": [["scalar_mix", "l2"]]},
    )
    config["trainer"] = {"type": trainer, "optimizer": "adam", "num_epochs": 1}
    config["dataset_reader"]["max_instances"] = 2

    train_model(Params(config), str(tmp_path / "run"))

    log = (tmp_path / "run" / "out.log").read_text().splitlines()
    (said,) = [line for line in log if "WARNING" in line and "regex" in line]
    assert re.search(r"'scalar_mix' has no effect: .*token_embedder_elmo\.mix\.scalar_par", said)
