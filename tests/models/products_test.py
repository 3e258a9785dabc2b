"""
Tests that no product of a training or of a prediction is slow because of how its operands lie in
memory. oneDNN takes a thousand times as long for a weight with gaps.
"""

import pytest
import torch

from elmo_tasks.kernels.frozen_product import has_onednn
from tests.helpers.configs import TASKS
from tests.helpers.products import Products
from tests.helpers.task_models import Task

# Widths of the models that come with the package, and texts repeated to a batch.
SIZES = """{
  bilm:: 'mini', bilm_dtype:: 'auto', word_vectors:: { embedding_dim: 100 },
  hidden_dim:: 100, feedforward_dim:: 100, feature_dim:: 20, hidden_dims:: [400, 200],
}"""


@pytest.mark.parametrize("task", TASKS)
def test_operands_of_a_task_model_do_not_make_a_product_slow(task: str) -> None:
    built = Task(task).build(SIZES)
    # A document is as much as several sentences.
    number = 2 if task == "coref" else 8
    instances = (number * built.instances)[:number]

    with Products() as products:
        built.model.train()(**built.tensors(instances))["loss"].backward()
        with torch.no_grad():
            built.model.eval()(**built.tensors(instances))

    assert products.found
    assert products.slow() == []


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_operands_of_pre_training_do_not_make_a_product_slow(dtype: str) -> None:
    sizes = "{ cell_dim:: 512, projection_dim:: 128, filters:: [[1, 32], [2, 64], [3, 160]] }"
    built = Task("bilm").build(f"{sizes} + {{ dtype:: '{dtype}', num_samples:: 16 }}", "base")

    with Products() as products:
        built.model.train()(**built.tensors(built.instances[:8]))["loss"].backward()
        with torch.no_grad():
            built.model.eval()(**built.tensors(built.instances[:8]))

    assert products.found
    assert products.slow() == []


@pytest.mark.skipif(not has_onednn(torch.float32), reason="needs oneDNN")
def test_a_weight_with_gaps_is_found_to_be_slow() -> None:
    x, weight = torch.randn(16, 100), torch.randn(100, 150)[:, :100]

    with Products() as products:
        torch.ops.mkldnn._linear_pointwise(x, weight, None, "none", [], "")
        torch.ops.mkldnn._linear_pointwise(x, weight.contiguous(), None, "none", [], "")
        x.mm(weight)

    assert products.num_calls == 3
    (slow,) = products.slow()
    assert slow == (
        "mkldnn::_linear_pointwise of [('torch.float32', (16, 100), (100, 1)), "
        "('torch.float32', (100, 100), (150, 1))]"
    )
