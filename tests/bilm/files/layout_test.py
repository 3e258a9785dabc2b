import numpy
import pytest
import torch

from elmo_tasks.bilm import make_bilm
from elmo_tasks.bilm.files.layout import datasets
from elmo_tasks.bilm.files.options import BiLmOptions, num_parameters
from tests.helpers.bilm_examples import SHAPES
from tests.helpers.reference_bilm import make_options, shapes


def test_the_options_of_the_original_model_ask_for_the_parameters_of_its_file() -> None:
    raw = make_options(
        filters=[[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]],
        embedding={"dim": 16},
        projection_dim=512,
        dim=4096,
    )

    found = {dataset.name: dataset.shape for dataset in datasets(BiLmOptions.from_dict(raw))}

    assert found == shapes(raw)
    assert num_parameters(BiLmOptions.from_dict(raw)) == 93_600_848


@pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
def test_the_table_fills_every_number_of_every_parameter_once(shape: dict) -> None:
    options = make_options(**shape)
    filled = {name: torch.zeros(p.shape) for name, p in make_bilm(options).named_parameters()}

    for dataset in datasets(BiLmOptions.from_dict(options)):
        filled[dataset.key][dataset.tensor_rows] += 1

    # Character 0 is padding, which has no weights in the file.
    assert not filled["char_cnn.embedding"][0].any()
    filled["char_cnn.embedding"][0] = 1
    for name, counts in filled.items():
        assert counts.eq(1).all(), name


def test_converting_a_dataset_back_gives_the_dataset() -> None:
    random = numpy.random.RandomState(0)

    for dataset in datasets(BiLmOptions.from_dict(make_options())):
        array = random.uniform(-1, 1, dataset.shape)[dataset.rows]
        reverted = dataset.revert(dataset.convert(array))
        numpy.testing.assert_allclose(reverted, array, atol=1e-12, err_msg=dataset.name)
