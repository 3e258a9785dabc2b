from typing import Any

import pytest
import torch
from allennlp.data import Batch, Instance, Token

from elmo_tasks.models import srl_tagger
from elmo_tasks.readers.entities import Entity, read_entities
from elmo_tasks.readers.fields import UNKNOWN_LABEL
from elmo_tasks.readers.srl_file import Predicate
from tests.helpers.precision import in_dtype
from tests.helpers.task_models import Built, Task

TASK = Task("srl")


@pytest.fixture(scope="module")
def built() -> Built:
    return TASK.build()


def test_logits_are_those_of_the_layers_by_turns_the_mark_and_elmo(built: Built) -> None:
    model, tensors = built.model, built.tensors(built.instances)

    with in_dtype(model, torch.double):
        output = model(**tensors)
        (text,) = model.text_embedder(tensors["tokens"])

        for row, length in enumerate(text.mask.sum(dim=1).tolist()):
            mark = torch.zeros(length, dtype=torch.long)
            mark[tensors["predicate"][row, 0]] = 1
            h = torch.cat([text.x[row, :length], model.predicate_embedding(mark)], dim=-1)
            h = one_direction(model.encoder._module.layer_0.cell, h)
            h = one_direction(model.encoder._module.layer_1.cell, h.flip(0)).flip(0)
            h = torch.cat([h, text.elmo[row, :length]], dim=-1)
            logits = h @ model.tag_scores.weight.T + model.tag_scores.bias
            torch.testing.assert_close(output["logits"][row, :length], logits)


def one_direction(cell: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    """Runs AllenNLP's cell over one sentence without padding, token by token."""
    h = c = x.new_zeros(1, cell.lstm_dim)
    states = []
    for token in x:
        h, c = cell(token.unsqueeze(0), (h, c))
        states.append(h)
    return torch.cat(states)


def test_loss_is_the_mean_over_the_tokens_and_then_over_the_sentences(built: Built) -> None:
    tensors = built.tensors(built.instances)
    cross_entropy = torch.nn.functional.cross_entropy
    with in_dtype(built.model, torch.double):
        output = built.model(**tensors)

        of_tags, of_predicates = [], []
        for row, live in enumerate(output["mask"]):
            logits, tags = output["logits"][row, live], tensors["tags"][row, live]
            of_tags.append(cross_entropy(logits, tags))
            marks = tensors["is_predicate"][row, live]
            if marks[0] != UNKNOWN_LABEL:
                of_predicates.append(cross_entropy(output["predicate_logits"][row, live], marks))
        assert 1 < len(of_predicates) < len(of_tags)
        loss = torch.stack(of_tags).mean() + torch.stack(of_predicates).mean()
        torch.testing.assert_close(output["loss"], loss)


def test_finding_predicates_changes_no_gradient_of_the_roles(built: Built) -> None:
    model, tensors = built.model, built.tensors(built.instances)
    marks = tensors.pop("is_predicate")

    model(**tensors)["loss"].backward()
    alone = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()
    model(**tensors, is_predicate=marks)["loss"].backward()
    both = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad()

    assert {name for name in both if name not in alone} == {
        f"predicate_scores.{layer}.{kind}" for layer in (0, 2) for kind in ("weight", "bias")
    }
    for name, gradient in alone.items():
        torch.testing.assert_close(both[name], gradient, rtol=0, atol=0)


@pytest.mark.parametrize("max_tokens", [4096, 20, 1])
def test_raw_text_gets_the_roles_of_the_predicates_that_are_found(
    max_tokens: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(srl_tagger, "_MAX_TOKENS", max_tokens)
    built = finds_some()
    sentences = [instance["tokens"].tokens for instance in built.instances]

    answers = outputs(built, [built.reader.text_to_instance(tokens) for tokens in sentences])

    num_found = sum(len(answer["predicates"]) for answer in answers)
    assert 0 < num_found < sum(map(len, sentences))
    for answer, tokens in zip(answers, sentences, strict=True):
        logits = torch.tensor(answer["predicate_logits"])[: len(tokens)]
        expected = [index for index, (no, yes) in enumerate(logits.tolist()) if yes > no]
        assert [each["predicate"] for each in answer["predicates"]] == expected
        named = outputs(built, built.reader.text_to_instances(tokens, expected))
        for found, other in zip(answer["predicates"], named, strict=True):
            assert found["tags"] == other["tags"]
            assert found["arguments"] == other["arguments"]
            assert found["confidences"] == pytest.approx(other["confidences"], abs=1e-5)


def test_raw_text_without_predicates_has_none() -> None:
    built = TASK.build()
    torch.nn.init.zeros_(built.model.predicate_scores[2].weight)
    torch.nn.init.zeros_(built.model.predicate_scores[2].bias)

    (answer,) = outputs(built, [built.reader.text_to_instance([Token("Rain"), Token("fell")])])

    assert answer["predicates"] == []


def finds_some() -> Built:
    """Builds a model with scores that find some predicates, though nothing was trained."""
    built = TASK.build()
    for layer in (0, 2):
        torch.nn.init.normal_(built.model.predicate_scores[layer].weight, std=20)
    return built


def outputs(built: Built, instances: list[Instance]) -> list[dict[str, Any]]:
    for instance in instances:
        built.reader.apply_token_indexers(instance)
    return built.model.forward_on_instances(instances) if instances else []


def test_predicates_f1_counts_each_sentence_once(built: Built) -> None:
    tensors = built.tensors(built.instances)
    built.model.get_metrics(reset=True)

    output = built.model(**tensors)

    marks, live = tensors["is_predicate"], output["mask"] & (tensors["is_predicate"] >= 0)
    predicted = output["predicate_logits"].argmax(dim=-1)
    hits = int((predicted[live] * marks[live]).sum())
    f1 = 2 * hits / int(predicted[live].sum() + marks[live].sum())
    assert built.model.get_metrics(reset=True)["predicates-f1"] == pytest.approx(f1)


def test_tags_that_the_vocabulary_lacks_have_no_part_in_the_loss(built: Built) -> None:
    tensors = built.tensors(built.instances[:2])
    del tensors["is_predicate"]
    tensors["tags"][0, 2:] = UNKNOWN_LABEL

    output = built.model(**tensors)

    (first, second), (gold, other) = output["logits"], tensors["tags"]
    cross_entropy = torch.nn.functional.cross_entropy
    live = output["mask"][1]
    expected = (cross_entropy(first[:2], gold[:2]) + cross_entropy(second[live], other[live])) / 2
    torch.testing.assert_close(output["loss"], expected)


def test_tags_are_always_a_sequence_of_bio_and_confidences_are_probabilities() -> None:
    built = TASK.build()
    # Scores that would choose anything but for the constraints.
    torch.nn.init.normal_(built.model.tag_scores.weight, std=20)

    answers = built.model.forward_on_instances(built.instances)

    for answer, instance in zip(answers, built.instances, strict=True):
        assert len(answer["tags"]) == len(answer["tokens"]) == len(instance["tokens"])
        assert answer["arguments"] == read_entities(answer["tags"], "BIO")
        assert all(0 < confidence <= 1 for confidence in answer["confidences"])
        assert answer["predicate"] == instance["predicate"].sequence_index
    assert any(answer["confidences"] for answer in answers)


def test_metrics_of_each_role_are_left_out_while_training(built: Built) -> None:
    built.model.get_metrics(reset=True)
    built.model(**built.tensors(built.instances))
    names = {name for name in built.model.get_metrics() if "elmo" not in name}
    built.model.train()
    while_training = {name for name in built.model.get_metrics(reset=True) if "elmo" not in name}
    built.model.eval()

    assert {"f1-measure-R-ARG1", "recall-ARGM-NEG"} <= names
    overall = {f"{of}-overall" for of in ("precision", "recall", "f1-measure")}
    assert while_training == overall | {"predicates-f1"}


def test_arguments_of_an_unknown_role_count_as_missed(built: Built) -> None:
    (instance,) = built.reader._instances(
        [Token("Rain"), Token("fell")], [Predicate(1, [Entity("ARGM-NEW", 0, 1)])], labelled=True
    )
    built.reader.apply_token_indexers(instance)
    batch = Batch([instance])
    batch.index_instances(built.vocab)
    built.model.get_metrics(reset=True)

    built.model(**batch.as_tensor_dict())

    scores = built.model.get_metrics(reset=True)
    assert scores["recall-ARGM-NEW"] == scores["recall-overall"] == 0
    assert "precision-ARGM-NEW" in scores


def test_final_layer_starts_orthogonal() -> None:
    weight = TASK.build("{ hidden_dim: 30, num_layers: 1 }").model.tag_scores.weight

    torch.testing.assert_close(weight @ weight.T, torch.eye(len(weight)), atol=1e-5, rtol=0)
