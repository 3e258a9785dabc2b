import json
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from allennlp.common import Params
from allennlp.modules import ScalarMix
from allennlp.modules.elmo import Elmo
from allennlp.nn.regularizers import RegularizerApplicator

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo.mix import ElmoMix, read_mix, write_mix
from tests.helpers.reference_bilm import FIXTURE_FILES

W = [0.3, -1.2, 0.8]
GAMMA = 1.7


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


def test_a_mix_equals_allennlps() -> None:
    layers, mask = random_layers(5, 3, 0)

    elmo = make_mix()(layers, mask)

    torch.testing.assert_close(elmo, allennlps_mix()(list(layers.unbind(1))))
    assert not elmo[~mask].any()


def test_a_new_mix_is_the_average_of_the_layers() -> None:
    layers, mask = random_layers(5, 3)
    mix = ElmoMix(3, dropout=0.0)

    torch.testing.assert_close(mix(layers, mask), layers.mean(dim=1))
    torch.testing.assert_close(mix.weights, torch.full((3,), 1 / 3))


@pytest.mark.parametrize(("layers", "index"), [("last", 2), (0, 0), (1, 1), (2, 2)])
def test_a_mix_of_one_layer_has_gamma_and_no_w(layers: str | int, index: int) -> None:
    mix = make_mix(layers=layers)
    tensors, mask = random_layers(5, 3)

    assert [name for name, _ in mix.named_parameters()] == ["gamma"]
    assert list(mix.state_dict()) == ["gamma"]
    torch.testing.assert_close(mix(tensors, mask), GAMMA * tensors[:, index])
    assert mix.weights.tolist() == [float(j == index) for j in range(3)]


@pytest.mark.parametrize("layer_norm", [None, "sentence"])
def test_layers_side_by_side_have_gamma_and_no_w(layer_norm: str | None) -> None:
    mix = make_mix(layers="concat", layer_norm=layer_norm)
    tensors, mask = random_layers(5, 3, 0)

    elmo = mix(tensors, mask)

    assert list(mix.state_dict()) == ["gamma"]
    assert elmo.shape == (3, 5, 12) and mix.get_output_dim(4) == 12
    assert mix.weights.tolist() == [1, 1, 1]
    single = [make_mix(layers=j, layer_norm=layer_norm)(tensors, mask) for j in range(3)]
    torch.testing.assert_close(elmo, torch.cat(single, dim=-1))


def layer_by_layer(tensors: torch.Tensor, mask: torch.Tensor) -> numpy.ndarray:
    """
    Normalizes layers by hand: one mean and one population variance per layer, over all features of
    all tokens. Returns shape (batch, num_layers, length, dim), with zeros at padding.
    """
    normed = numpy.zeros(tensors.shape)
    for j in range(tensors.size(1)):
        values = tensors[:, j].double().numpy()[mask.numpy()]
        if values.size:
            normed[:, j][mask.numpy()] = (values - values.mean()) / values.std()
    return normed


@pytest.mark.parametrize("layer_norm", ["batch", "sentence"])
@pytest.mark.parametrize("layers", ["all", "last", 0])
def test_layers_are_normalized_over_the_batch_or_over_each_sentence(
    layers: str | int, layer_norm: str
) -> None:
    tensors, mask = random_layers(5, 3, 0)

    elmo = make_mix(layers=layers, layer_norm=layer_norm)(tensors, mask)

    rows = [slice(0, 3)] if layer_norm == "batch" else [slice(k, k + 1) for k in range(3)]
    normed = numpy.concatenate([layer_by_layer(tensors[row], mask[row]) for row in rows])
    s = numpy.eye(3)[2 if layers == "last" else 0]
    if layers == "all":
        s = numpy.exp(W) / numpy.exp(W).sum()
    expected = torch.from_numpy(GAMMA * (s[:, None, None] * normed).sum(axis=1)).float()
    torch.testing.assert_close(elmo, expected, atol=1e-5, rtol=0)
    assert not elmo[~mask].any()
    if (layers, layer_norm) == ("all", "batch"):
        theirs = allennlps_mix(do_layer_norm=True)(list(tensors.unbind(1)), mask)
        torch.testing.assert_close(elmo, theirs * mask[:, :, None], atol=1e-5, rtol=0)


@pytest.mark.parametrize("layer_norm", [None, "batch", "sentence"])
@pytest.mark.parametrize("layers", ["all", "last"])
def test_a_batch_without_tokens_gives_zeros(layer_norm: str | None, layers: str) -> None:
    mix = make_mix(layer_norm=layer_norm, layers=layers)
    tensors = torch.zeros(2, 3, 4, 5, requires_grad=True)

    elmo = mix(tensors, torch.zeros(2, 4, dtype=torch.bool))
    elmo.sum().backward()

    assert not elmo.any()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in mix.parameters())


@pytest.mark.parametrize("layer_norm", [None, "batch", "sentence"])
def test_w_and_gamma_get_allennlps_gradients(layer_norm: str | None) -> None:
    layers, mask = random_layers(4, 4)
    mix, theirs = make_mix(layer_norm=layer_norm), allennlps_mix(layer_norm is not None)
    rows = [slice(0, 1), slice(1, 2)] if layer_norm == "sentence" else [slice(0, 2)]
    weights = torch.randn(2, 4, 4)

    (mix(layers, mask) * weights).sum().backward()
    for row in rows:
        expected = theirs(list(layers[row].unbind(1)), mask[row])
        (expected * weights[row]).sum().backward()

    assert mix.scalar_parameters is not None and mix.scalar_parameters.grad is not None
    w_gradient = torch.cat([parameter.grad for parameter in theirs.scalar_parameters])
    torch.testing.assert_close(mix.scalar_parameters.grad, w_gradient, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(mix.gamma.grad, theirs.gamma.grad, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("layers", ["all", "last"])
def test_a_fixed_mix_is_not_trained(layers: str) -> None:
    mix = ElmoMix(3, layers=layers, trainable=False)

    assert not any(parameter.requires_grad for parameter in mix.parameters())


def test_layers_in_16_bits_are_mixed_in_the_dtype_of_the_mix() -> None:
    layers, mask = random_layers(5, 3)

    elmo = make_mix(layer_norm="batch")(layers.half(), mask)

    assert elmo.dtype == torch.float32
    expected = make_mix(layer_norm="batch")(layers.half().float(), mask)
    torch.testing.assert_close(elmo, expected)


@pytest.mark.parametrize("layers", ["all", "last"])
def test_a_mix_in_float64_keeps_all_digits(layers: str) -> None:
    tensors = torch.rand(1, 3, 5, 4, dtype=torch.float64)
    mix = make_mix(layers=layers).double()

    elmo = mix(tensors, torch.ones(1, 5, dtype=torch.bool))

    s = torch.eye(3)[2] if mix.scalar_parameters is None else mix.scalar_parameters.softmax(0)
    expected = mix.gamma * (s.double()[:, None, None] * tensors).sum(dim=1)
    torch.testing.assert_close(elmo, expected, atol=1e-12, rtol=0)


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


def test_the_layers_are_not_changed() -> None:
    layers, mask = random_layers(5, 3)
    before = layers.clone()

    for layer_norm in (None, "batch", "sentence"):
        make_mix(layer_norm=layer_norm)(layers, mask)

    assert torch.equal(layers, before)


# Checkpoints.


def test_the_mixes_of_a_checkpoint_of_allennlp_are_loaded() -> None:
    theirs = Elmo(*FIXTURE_FILES, 2)
    for k, value in enumerate((0.5, 2.0)):
        for j, parameter in enumerate(getattr(theirs, f"scalar_mix_{k}").scalar_parameters):
            parameter.data.fill_(value * j)
    state = {key: value for key, value in theirs.state_dict().items() if "scalar_mix" in key}
    assert "scalar_mix_0.scalar_parameters.2" in state
    keys = list(state)

    mixes = torch.nn.ModuleDict({f"scalar_mix_{k}": ElmoMix(3) for k in range(2)})
    mixes.load_state_dict(state)

    for k, value in enumerate((0.5, 2.0)):
        mix = mixes[f"scalar_mix_{k}"]
        assert mix.scalar_parameters.tolist() == [0, value, 2 * value]
    assert list(state) == keys


def test_more_than_ten_scalars_are_loaded_in_the_order_of_their_indices() -> None:
    theirs = ScalarMix(12, initial_scalar_parameters=[float(j) for j in range(12)])
    mix = ElmoMix(12)

    mix.load_state_dict(theirs.state_dict())

    assert mix.scalar_parameters is not None
    assert mix.scalar_parameters.tolist() == list(range(12))


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
        ({**WHOLE, "layers": 3}, "layers of a mix must be all, concat, last or an index"),
        ({**WHOLE, "layer_norm": "token"}, "layer_norm of a mix must be"),
        ({**WHOLE, "scalar_parameters": [1, 2]}, "must have 3 scalar_parameters and a gamma"),
        ({**WHOLE, "scalar_parameters": "abc"}, "must have 3 scalar_parameters and a gamma"),
        ({**WHOLE, "scalar_parameters": [1, 2, True]}, "must have 3 scalar_parameters and a"),
        ({**WHOLE, "layers": 1}, "must have 0 scalar_parameters and a gamma"),
        ({**WHOLE, "gamma": None}, "all of them numbers"),
        (json.dumps(WHOLE).replace("0.5", "NaN"), "all of them numbers"),
        (json.dumps(WHOLE).replace("0.5", "1e400"), "all of them numbers that float32 can hold"),
        ({**WHOLE, "gamma": 1e39}, "all of them numbers that float32 can hold"),
        ({**WHOLE, "gamma": 10**400}, "all of them numbers that float32 can hold"),
        ({**WHOLE, "scalar_parameters": [1e300, 0, 0]}, "all of them numbers that float32 can"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "mix.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))

    with pytest.raises(ConfigurationError, match=message):
        read_mix(path, 3)
