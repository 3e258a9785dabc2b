import torch
from allennlp.common import Params
from allennlp.training.optimizers import Optimizer


def test_weights_are_those_of_allennlps_adam() -> None:
    start = torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    weights = []

    for name in ("adam", "elmo_adam"):
        weight = torch.nn.Parameter(start.clone())
        optimizer = Optimizer.from_params(
            Params({"type": name, "lr": 0.1, "weight_decay": 0.01, "betas": [0.8, 0.9]}),
            model_parameters=[("weight", weight)],
        )
        for step in range(5):
            optimizer.zero_grad()
            (weight.sin() * (step + 1)).sum().backward()
            optimizer.step()
        weights.append(weight)

    torch.testing.assert_close(*weights)


def test_settings_of_some_weights_are_taken() -> None:
    names = ("frozen", "trained")
    parameters = [(name, torch.nn.Parameter(torch.ones(2))) for name in names]

    optimizer = Optimizer.from_params(
        Params({"type": "elmo_adam", "lr": 0.1, "parameter_groups": [[["frozen"], {"lr": 0.0}]]}),
        model_parameters=parameters,
    )
    for _, parameter in parameters:
        parameter.grad = torch.ones(2)
    optimizer.step()

    assert [parameter[0].item() == 1 for _, parameter in parameters] == [True, False]
