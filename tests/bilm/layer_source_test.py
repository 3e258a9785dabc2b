from tests.helpers.bilm_examples import SENTENCE, ids_of
from tests.helpers.stored_bilms import fixture_bilm


def test_a_bilm_describes_itself_by_its_weights_its_start_state_and_the_shape_of_its_layers() -> (
    None
):
    bilm = fixture_bilm()
    layers = bilm(ids_of([SENTENCE])).layers

    source = bilm.source()

    assert source.fingerprint == bilm.fingerprint()
    assert source.about["state"] == "snapshot"
    # h and c of the two layers of both directions.
    options = bilm.options
    assert source.start.shape == (2 * 2 * (options.projection_dim + options.cell_dim),)
    assert (source.num_layers, source.dim) == (layers.size(1), layers.size(3))


def test_a_bilm_that_starts_from_zeros_has_no_numbers_of_a_start_state() -> None:
    assert fixture_bilm(state="reset").source().start.shape == (0,)
