import json
from pathlib import Path
from typing import Any

import pytest
import torch

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo import ElmoMix
from elmo_tasks.elmo.mix_file import read_mix, write_mix

WHOLE = {"layers": "all", "scalar_parameters": [1, 2.5, -3], "gamma": 0.5, "layer_norm": None}


def test_a_file_by_hand_is_read(tmp_path: Path) -> None:
    (tmp_path / "mix.json").write_text(json.dumps(WHOLE))

    mix = read_mix(tmp_path / "mix.json", 3)

    torch.testing.assert_close(mix.weights, torch.tensor([1, 2.5, -3]).softmax(dim=0))
    assert mix.gamma.item() == 0.5 and mix.layer_norm is None


@pytest.mark.parametrize("layers", ["all", "concat", "last", 0])
def test_a_mix_is_read_as_it_was_written(tmp_path: Path, layers: Any) -> None:
    mix = ElmoMix(3, layers, layer_norm="batch")
    for parameter in mix.parameters():
        torch.nn.init.normal_(parameter)

    write_mix(tmp_path / "mix.json", mix)
    again = read_mix(tmp_path / "mix.json", 3)

    assert again.layers == mix.layers and again.layer_norm == "batch"
    torch.testing.assert_close(again.state_dict(), mix.state_dict(), rtol=0, atol=0)


def test_large_integers_are_read(tmp_path: Path) -> None:
    whole = {**WHOLE, "scalar_parameters": [10**38, 0, -(10**38)], "gamma": 10**30}
    (tmp_path / "mix.json").write_text(json.dumps(whole))

    mix = read_mix(tmp_path / "mix.json", 3)

    assert mix.weights.tolist() == [1, 0, 0]
    assert mix.gamma.item() == pytest.approx(1e30)


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
