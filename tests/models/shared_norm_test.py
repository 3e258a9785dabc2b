"""Tests of the loss over several paragraphs of a question together."""

import numpy as np
import pytest
import torch
from allennlp.data import Instance
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.helpers.numpy_layers import softmax
from tests.helpers.task_models import Built, Task

TASK = Task("squad")
ENDS = ("start", "end")

# The right paragraph of the first two questions, and others of several lengths.
RIGHT = "Ida Holm kept a diary of every ship in 1856 ."
OTHERS = (
    "The bell is of brass .",
    "Owls",
    "A mill on the hill ground corn until 1920 , when it was sold .",
    "Two ducks and a baker crossed the lake .",
)
QUESTIONS = (("Who kept a diary?", (0, 1)), ("When?", (9, 9)), ("What did she keep ?", (3, 4)))


@pytest.fixture(scope="module")
def built() -> Built:
    made = TASK.build("{ dropout: 0, elmo_dropout: 0, characters+: { dropout: 0 } }")
    made.model.double()
    for parameter in made.model.parameters():
        if parameter.requires_grad:
            parameter.data.add_(0.2 * torch.randn_like(parameter))
    return made


def instance_of(
    built: Built, number: int, others: list[str] | None, right: str = RIGHT
) -> Instance:
    question, span = QUESTIONS[number]
    instance = built.reader.text_to_instance(question, right, span=span, other_passages=others)
    built.reader.apply_token_indexers(instance)
    return instance


def loss_of(built: Built, *instances: Instance, training: bool = True) -> torch.Tensor:
    built.model.train(training)
    try:
        return built.model(**built.tensors(list(instances)))["loss"]
    finally:
        built.model.eval()


def by_hand(built: Built, number: int, others: list[str]) -> float:
    """
    Returns the loss of a question: each paragraph is scored as a passage of its own, and the
    softmax is over the logits of all of them, one after the other.
    """
    loss = 0.0
    logits: dict[str, list[np.ndarray]] = {end: [] for end in ENDS}
    for text in (RIGHT, *others):
        alone = built.reader.text_to_instance(QUESTIONS[number][0], text)
        built.reader.apply_token_indexers(alone)
        with torch.no_grad():
            output = built.model(**built.tensors([alone]))
        for end in ENDS:
            logits[end].append(output[f"{end}_logits"][0].numpy())
    for end, label in zip(ENDS, QUESTIONS[number][1]):
        loss -= float(np.log(softmax(np.concatenate(logits[end]))[label]))
    return loss


@settings(max_examples=8, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.lists(st.sampled_from(OTHERS), max_size=4)),
        min_size=1,
        max_size=3,
    )
)
def test_the_loss_is_of_one_softmax_over_all_paragraphs_of_each_question(
    built: Built, batch: list[tuple[int, list[str]]]
) -> None:
    instances = [instance_of(built, number, others) for number, others in batch]
    expected = np.mean([by_hand(built, number, others) for number, others in batch])

    trained = loss_of(built, *instances)
    validated = loss_of(built, *instances, training=False)

    assert trained.item() == pytest.approx(expected, rel=1e-9)
    assert validated.item() == pytest.approx(expected, rel=1e-9)


@settings(max_examples=3, deadline=None)
@given(st.permutations(OTHERS))
def test_the_order_of_the_other_paragraphs_changes_nothing(built: Built, others: list[str]) -> None:
    loss = loss_of(built, instance_of(built, 1, others))

    assert loss.item() == pytest.approx(by_hand(built, 1, list(OTHERS)), rel=1e-9)


def test_without_others_the_loss_and_its_gradient_are_to_the_bit_those_of_the_passage() -> None:
    built = TASK.build()
    found = []
    choices: tuple[list[str] | None, ...] = (None, [])
    for others in choices:
        torch.manual_seed(5)
        built.model.zero_grad()
        loss_of(built, *(instance_of(built, number, others) for number in range(3))).backward()
        found.append([each.grad for each in built.model.parameters() if each.grad is not None])

    for whole, sampled in zip(*found, strict=True):
        assert torch.equal(whole, sampled)


def test_a_wrong_paragraph_has_a_gradient_that_lowers_its_logits(built: Built) -> None:
    tensors = built.tensors([instance_of(built, 0, list(OTHERS[:1]))])
    num_right = len(RIGHT.split())
    built.model.zero_grad()

    before = built.model(**tensors)
    before["loss"].backward()
    with torch.no_grad():
        for parameter in built.model.parameters():
            if parameter.grad is not None:
                parameter -= 1e-3 * parameter.grad
    after = built.model(**tensors)

    def mass(output: dict[str, torch.Tensor]) -> float:
        """Returns the probability of starts in the wrong paragraph."""
        return output["start_logits"].softmax(dim=1)[0, num_right:].sum().item()

    assert after["loss"] < before["loss"] and mass(after) < mass(before)
