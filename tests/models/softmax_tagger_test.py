import torch

from elmo_tasks.readers.fields import UNKNOWN_LABEL
from tests.helpers.task_models import Task


def test_a_tag_that_the_training_lacks_is_missed_and_adds_no_loss() -> None:
    built = Task("tag").build(variant="baseline")
    tensors = built.tensors(built.instances[:2])
    with torch.no_grad():
        logits = built.model(**tensors)["logits"]
    tags = logits.argmax(dim=-1)
    built.model.get_metrics(reset=True)
    tags[0, 0] = UNKNOWN_LABEL

    with torch.no_grad():
        loss = built.model(**{**tensors, "tags": tags})["loss"]

    mask = tensors["tokens"]["tokens"]["tokens"] > 0
    assert built.model.get_metrics()["accuracy"] == (mask.sum().item() - 1) / mask.sum().item()
    mask[0, 0] = False
    expected = -logits.log_softmax(dim=-1).max(dim=-1).values[mask].mean()
    torch.testing.assert_close(loss, expected)
