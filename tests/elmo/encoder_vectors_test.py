import pytest
import torch

from elmo_tasks import ElmoEncoder
from elmo_tasks.common.errors import ConfigurationError
from tests.helpers.reference_bilm import FIXTURE

ARCHIVE = str(FIXTURE.parent / "archives" / "sst.tar.gz")
SENTENCES = [["A", "boat", "left", "."], [], ["It", "works"]]


@pytest.mark.parametrize(
    "layers, output", [("all", "elmo"), ("last", "lstm_outputs2"), (1, "lstm_outputs1")]
)
def test_vectors_are_the_outputs_of_the_encoder(layers: str | int, output: str) -> None:
    expected = [each[output] for each in ElmoEncoder.from_pretrained(FIXTURE).iterate(SENTENCES)]

    vectors = list(ElmoEncoder.from_pretrained(FIXTURE, layers=layers).vectors(SENTENCES))

    torch.testing.assert_close(vectors, expected)


def test_one_layer_needs_no_place() -> None:
    assert ElmoEncoder.from_pretrained(ARCHIVE, layers="last").mix.weights.tolist() == [0, 0, 1]
    with pytest.raises(ConfigurationError, match="places input, output"):
        ElmoEncoder.from_pretrained(ARCHIVE)
