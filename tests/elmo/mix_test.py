import json
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from allennlp.common import Params
from allennlp.modules import ScalarMix
from allennlp.nn.regularizers import RegularizerApplicator

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.mix import ElmoMix, read_mix, write_mix

W = [0.3, -1.2, 0.8]
GAMMA = 1.7

every_norm = pytest.mark.parametrize("layer_norm", [None, "batch", "sentence"])


def random_layers(*lengths: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns layers as a biLM gives them, with zeros at padding, and their mask."""
    torch.manual_seed(0)
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    layers = 2 * torch.randn(len(lengths), 3, max(lengths), 4) + 0.5
    return layers * mask[:, None, :, None], mask


def make_mix(**arguments: Any) -> ElmoMix:
    """Makes a mix of three layers, with weights as if it had been trained."""
    mix = ElmoMix(3, **{"dropout": 0.0, **arguments})
    with torch.no_grad():
        mix.gamma.fill_(GAMMA)
        if mix.scalar_parameters is not None:
            mix.scalar_parameters.copy_(torch.tensor(W))
    return mix


def allennlps_mix(do_layer_norm: bool = False) -> ScalarMix:
    mix = ScalarMix(3, do_layer_norm, W)
    mix.gamma.data.fill_(GAMMA)
    return mix


def normed(tensors: torch.Tensor, mask: torch.Tensor) -> numpy.ndarray:
    """
    Normalizes layers by hand: one mean and one population variance per layer, over all features of
    all tokens. Returns shape (batch, num_layers, length, dim), with zeros at padding.
    """
    found = numpy.zeros(tensors.shape)
    for j in range(tensors.size(1)):
        values = tensors[:, j].double().numpy()[mask.numpy()]
        if values.size:
            found[:, j][mask.numpy()] = (values - values.mean()) / values.std()
    return found


@every_norm
@pytest.mark.parametrize("layers", ["all", "concat", "last", 0, 1, 2])
def test_a_mix_is_equation_1_over_the_chosen_layers(
    layers: str | int, layer_norm: str | None
) -> None:
    mix = make_mix(layers=layers, layer_norm=layer_norm)
    tensors, mask = random_layers(5, 3, 0)
    before = tensors.clone()

    elmo = mix(tensors, mask)

    expected = tensors.numpy()
    if layer_norm == "batch":
        expected = normed(tensors, mask)
    elif layer_norm == "sentence":
        rows = [normed(tensors[row : row + 1], mask[row : row + 1]) for row in range(3)]
        expected = numpy.concatenate(rows)
    if layers == "concat":
        s, expected = numpy.ones(3), numpy.concatenate(list(expected.swapaxes(0, 1)), axis=-1)
    elif layers == "all":
        s = numpy.exp(W) / numpy.exp(W).sum()
        expected = numpy.einsum("j,bjkd->bkd", s, expected)
    else:
        index = layers if isinstance(layers, int) else 2
        s, expected = numpy.eye(3)[index], expected[:, index]
    torch.testing.assert_close(
        elmo, torch.from_numpy(GAMMA * expected).float(), atol=1e-5, rtol=1e-5
    )
    assert not elmo[~mask].any() and torch.equal(tensors, before)
    assert mix.weights.tolist() == pytest.approx(s)
    assert mix.get_output_dim(4) == elmo.size(-1) == (12 if layers == "concat" else 4)
    names = ["scalar_parameters", "gamma"] if layers == "all" else ["gamma"]
    assert [name for name, _ in mix.named_parameters()] == names == list(mix.state_dict())


@every_norm
def test_a_mix_and_its_gradients_are_those_of_allennlp(layer_norm: str | None) -> None:
    layers, mask = random_layers(4, 4)
    mix, theirs = make_mix(layer_norm=layer_norm), allennlps_mix(layer_norm is not None)
    rows = [slice(0, 1), slice(1, 2)] if layer_norm == "sentence" else [slice(0, 2)]
    weights = torch.randn(2, 4, 4)

    elmo = mix(layers, mask)
    expected = torch.cat([theirs(list(layers[row].unbind(1)), mask[row]) for row in rows])

    torch.testing.assert_close(elmo, expected, atol=1e-5, rtol=1e-5)
    for each in (elmo, expected):
        (each * weights).sum().backward()
    assert mix.scalar_parameters is not None and mix.scalar_parameters.grad is not None
    w_gradient = torch.cat([parameter.grad for parameter in theirs.scalar_parameters])
    torch.testing.assert_close(mix.scalar_parameters.grad, w_gradient, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(mix.gamma.grad, theirs.gamma.grad, atol=1e-4, rtol=1e-4)


def test_a_new_mix_is_the_average_of_the_layers() -> None:
    layers, mask = random_layers(5, 3)

    torch.testing.assert_close(ElmoMix(3, dropout=0.0)(layers, mask), layers.mean(dim=1))


@every_norm
@pytest.mark.parametrize("layers", ["all", "last"])
def test_a_batch_without_tokens_gives_zeros(layer_norm: str | None, layers: str) -> None:
    mix = make_mix(layer_norm=layer_norm, layers=layers)
    tensors = torch.zeros(2, 3, 4, 5, requires_grad=True)

    elmo = mix(tensors, torch.zeros(2, 4, dtype=torch.bool))
    elmo.sum().backward()

    assert not elmo.any()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in mix.parameters())


@pytest.mark.parametrize("layers", ["all", "last"])
def test_a_fixed_mix_is_not_trained(layers: str) -> None:
    mix = ElmoMix(3, layers=layers, trainable=False)

    assert not any(parameter.requires_grad for parameter in mix.parameters())


@every_norm
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_layers_are_mixed_in_the_dtype_of_the_mix(
    dtype: torch.dtype, layer_norm: str | None
) -> None:
    layers, mask = random_layers(5, 3)
    single, double = make_mix(layer_norm=layer_norm), make_mix(layer_norm=layer_norm).double()

    elmo = (double if dtype == torch.float64 else single)(layers.to(dtype), mask)

    assert elmo.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    exact = double(layers.to(dtype).double(), mask)
    # A step in float32 would leave an error of 1e-7.
    tolerance = 1e-12 if dtype == torch.float64 else 1e-5
    torch.testing.assert_close(elmo.double(), exact, atol=tolerance, rtol=tolerance)


def test_dropout_is_on_elements_and_while_training_only() -> None:
    mask = torch.ones(1, 50, dtype=torch.bool)
    layers = torch.ones(1, 3, 50, 40)
    mix = ElmoMix(3)

    trained = mix.train()(layers, mask)
    evaluated = mix.eval()(layers, mask)

    torch.testing.assert_close(evaluated, torch.ones(1, 50, 40))
    dropped = trained == 0
    torch.testing.assert_close(trained[~dropped], torch.full_like(trained[~dropped], 2.0))
    assert 0.4 < dropped.float().mean() < 0.6
    # Dropout drops neither whole tokens nor whole features.
    assert not dropped.all(dim=1).any() and not dropped.all(dim=2).any()


# Checkpoints.


def test_a_mix_of_a_checkpoint_of_allennlp_is_loaded_in_the_order_of_its_indices() -> None:
    theirs = torch.nn.ModuleDict(
        {"mix": ScalarMix(12, initial_scalar_parameters=[float(j) for j in range(12)])}
    )
    ours, state = torch.nn.ModuleDict({"mix": ElmoMix(12)}), theirs.state_dict()
    keys = list(state)

    ours.load_state_dict(state)

    assert ours["mix"].scalar_parameters.tolist() == list(range(12))
    assert "mix.scalar_parameters.11" in keys == list(state)


# The penalty of the paper, lambda ||w||^2.


def test_the_regularizer_penalizes_w_of_every_mix_and_nothing_else() -> None:
    module = torch.nn.ModuleDict(
        {
            "input": make_mix(),
            "output": make_mix(),
            "last": make_mix(layers="last"),
            "fixed": make_mix(trainable=False),
            "encoder": torch.nn.Linear(2, 2),
        }
    )
    params = Params({"regexes": [["scalar_parameters", {"type": "l2", "alpha": 0.1}]]})

    penalty = RegularizerApplicator.from_params(params)(module)
    penalty.backward()

    torch.testing.assert_close(penalty, torch.tensor(2 * 0.1 * sum(w * w for w in W)))
    for name, parameter in module.named_parameters():
        if name in ("input.scalar_parameters", "output.scalar_parameters"):
            torch.testing.assert_close(parameter.grad, 0.2 * torch.tensor(W))
        else:
            assert parameter.grad is None, name


# Construction and errors.


LAYERS, NORMS = "all, concat, last or an index from 0 to 2, not", "batch or sentence, or left out,"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *(({"layers": each}, f"{LAYERS} {each!r}") for each in ("first", -1, 3, True, None, 1.0)),
        *(({"layer_norm": each}, f"{NORMS} not {each!r}") for each in ("token", True, False)),
    ],
)
def test_unknown_settings_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        ElmoMix(3, **settings)


def test_another_number_of_layers_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="a mix of 3 layers got 2 layers"):
        ElmoMix(3)(torch.zeros(1, 2, 4, 5), torch.ones(1, 4, dtype=torch.bool))


# Files.


WHOLE = {"layers": "all", "scalar_parameters": [1, 2.5, -3], "gamma": 0.5, "layer_norm": None}


# Large integers are numbers, too.
@pytest.mark.parametrize(("w", "gamma"), [([1, 2.5, -3], 0.5), ([10**38, 0, -(10**38)], 10**30)])
def test_a_file_by_hand_is_read(tmp_path: Path, w: list[float], gamma: float) -> None:
    whole = {**WHOLE, "scalar_parameters": w, "gamma": gamma}
    (tmp_path / "mix.json").write_text(json.dumps(whole))

    mix = read_mix(tmp_path / "mix.json", 3)

    torch.testing.assert_close(mix.weights, torch.tensor(w, dtype=torch.float32).softmax(dim=0))
    assert mix.gamma.item() == pytest.approx(gamma) and mix.layer_norm is None


def test_a_setting_that_a_file_lacks_has_its_default(tmp_path: Path) -> None:
    (tmp_path / "mix.json").write_text('{"scalar_parameters": [1, 2.5, -3], "gamma": 0.5}')

    assert read_mix(tmp_path / "mix.json", 3).settings == ElmoMix(3).settings


@pytest.mark.parametrize("layers", ["all", "concat", "last", 0])
def test_a_mix_is_read_as_it_was_written(tmp_path: Path, layers: Any) -> None:
    mix = ElmoMix(3, layers, layer_norm="batch")
    for parameter in mix.parameters():
        torch.nn.init.normal_(parameter)

    write_mix(tmp_path / "mix.json", mix)
    again = read_mix(tmp_path / "mix.json", 3)

    assert again.layers == mix.layers and again.layer_norm == "batch"
    torch.testing.assert_close(again.state_dict(), mix.state_dict(), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "must be an object with gamma, layer_norm, layers, scalar_parameters"),
        ({**WHOLE, "more": 1}, "must be an object with"),
        ({**WHOLE, "layers": 3}, "layers of a mix"),
        ({**WHOLE, "layer_norm": "token"}, "layer_norm of a mix must be"),
        *(
            ({**WHOLE, "scalar_parameters": w}, "3 numbers as scalar")
            for w in ([1, 2], "abc", None)
        ),
        ({**WHOLE, "layers": 1}, "0 numbers as scalar_parameters, and a number as gamma"),
        *(({**WHOLE, "gamma": each}, "a number as gamma") for each in (None, [1], 10**400)),
        *((json.dumps(WHOLE).replace("0.5", x), "float32 can") for x in ("NaN", "1e400", "1e39")),
        ({**WHOLE, "scalar_parameters": [1e300, 0, 0]}, "numbers that float32 can hold"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "mix.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))

    with pytest.raises(ConfigurationError, match=message):
        read_mix(path, 3)
