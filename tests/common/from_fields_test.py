from typing import Union

import pytest

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.from_fields import from_fields


class Thing:
    def __init__(
        self,
        size: int,
        rate: float = 0.5,
        name: str = None,
        trained: bool = False,
        layers: Union[str, int] = "all",
    ) -> None:
        self.fields = size, rate, name, trained, layers


def test_fields_are_arguments() -> None:
    thing = from_fields(Thing, {"rate": 1, "name": None, "layers": 2}, size=3)

    assert thing.fields == (3, 1, None, False, 2)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"size": "3"}, "size of Thing cannot be '3'"),
        ({"size": True}, "size of Thing cannot be True"),
        ({"size": 1.5}, "size of Thing cannot be 1.5"),
        ({"size": None}, "size of Thing cannot be None"),
        ({"size": 1, "rate": "0.5"}, "rate of Thing cannot be '0.5'"),
        ({"size": 1, "trained": 1}, "trained of Thing cannot be 1"),
        ({"size": 1, "layers": [1]}, "layers of Thing cannot be .1.$"),
    ],
)
def test_a_field_of_another_type_is_refused_by_its_name(fields: dict, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        from_fields(Thing, fields)


def test_a_field_cannot_set_an_argument_that_is_given() -> None:
    with pytest.raises(ConfigurationError, match="Thing has no field size"):
        from_fields(Thing, {"size": 1}, size=2)
