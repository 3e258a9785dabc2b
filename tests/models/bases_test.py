import pytest
import torch
from allennlp.data import Vocabulary

from tests.helpers.task_models import Task

CLASSES = ("entailment", "neutral", "contradiction")


@pytest.mark.parametrize("order", [CLASSES, CLASSES[::-1]])
def test_labels_are_named_in_any_order(order: tuple[str, ...]) -> None:
    model = Task("snli").build().model
    model.vocab = Vocabulary.empty()
    model.vocab.add_tokens_to_namespace(order, "labels")
    probabilities = torch.tensor([[0.1, 0.7, 0.2]])

    answer = model.make_output_human_readable({"class_probabilities": probabilities})

    assert answer["label"] == [order[1]]
    assert answer["probabilities"][0] == pytest.approx(dict(zip(order, (0.1, 0.7, 0.2))))


@pytest.mark.parametrize("task", ["sst", "snli"])
def test_accuracy_is_the_share_of_the_right_classes(task: str) -> None:
    built = Task(task).build()
    tensors = built.tensors(built.instances)

    output = built.model(**tensors)

    right = output["logits"].argmax(dim=1) == tensors["label"]
    assert built.model.get_metrics()["accuracy"] == pytest.approx(right.float().mean().item())
    loss = torch.nn.functional.cross_entropy(output["logits"], tensors["label"])
    torch.testing.assert_close(output["loss"], loss)
    torch.testing.assert_close(output["class_probabilities"], output["logits"].softmax(dim=1))
