import pytest
import torch

from elmo_tasks import ElmoEncoder
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.encoder.elmo_vectors import elmo_vectors, open_encoder
from tests.helpers.reference_bilm import FIXTURE

ARCHIVE = str(FIXTURE.parent / "archives" / "sst.tar.gz")
SENTENCES = [["A", "boat", "left", "."], [], ["It", "works"]]


@pytest.mark.parametrize(
    "layers, output", [("all", "elmo"), ("last", "lstm_outputs2"), (1, "lstm_outputs1")]
)
def test_vectors_are_the_outputs_of_the_encoder(layers: str | int, output: str) -> None:
    expected = [each[output] for each in ElmoEncoder.from_pretrained(FIXTURE).iterate(SENTENCES)]

    vectors = list(elmo_vectors(open_encoder(str(FIXTURE), layers=layers), SENTENCES))

    torch.testing.assert_close(vectors, expected)


@pytest.mark.parametrize("place", ["input", "output"])
def test_all_layers_are_mixed_by_the_mix_of_an_archive(place: str) -> None:
    expected = ElmoEncoder.from_archive(ARCHIVE, place).mix.weights

    assert torch.equal(open_encoder(ARCHIVE, place).mix.weights, expected)
    assert open_encoder(ARCHIVE, place, layers="last").mix.weights.tolist() == [0, 0, 1]


def test_a_place_is_needed_if_there_are_several() -> None:
    with pytest.raises(ConfigurationError, match="places input, output"):
        open_encoder(ARCHIVE)
