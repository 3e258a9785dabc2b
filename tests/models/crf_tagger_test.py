from collections.abc import Callable

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Token, Vocabulary
from allennlp.data.fields import SequenceLabelField
from allennlp.models import Model

from elmo_tasks.readers.entities import read_entities, write_tags
from tests.helpers.precision import in_dtype
from tests.helpers.task_models import Built, Task

TASK = Task("ner")


@pytest.fixture(scope="module")
def built() -> Built:
    return TASK.build()


def test_logits_are_those_of_one_encoder_after_the_other_and_elmo(built: Built) -> None:
    model, tensors = built.model, built.tensors(built.instances)

    with in_dtype(model, torch.double):
        output = model(**tensors)
        (text,) = model.text_embedder(tensors["tokens"])

        for row, length in enumerate(text.mask.sum(dim=1)):
            h = text.x[row : row + 1, :length]
            for encoder in model.encoders:
                # PyTorch's own LSTM, over one sentence without padding.
                h, _ = encoder._module(h)
            h = torch.cat([h, text.elmo[row : row + 1, :length]], dim=-1)
            logits = h @ model.tag_scores.weight.T + model.tag_scores.bias
            torch.testing.assert_close(output["logits"][row : row + 1, :length], logits)


def test_loss_is_the_sum_of_the_losses_of_the_sentences(built: Built) -> None:
    with in_dtype(built.model, torch.double):
        losses = [built.model(**built.tensors([each]))["loss"] for each in built.instances]
        together = built.model(**built.tensors(built.instances))["loss"]

    torch.testing.assert_close(together, torch.stack(losses).sum())


def test_the_loss_is_over_all_sequences(built: Built) -> None:
    instance = built.reader.text_to_instance([Token("Oslo"), Token("won")], ["U-LOC", "O"])
    built.reader.apply_token_indexers(instance)

    with in_dtype(built.model, torch.double), torch.no_grad():
        output = built.model(**built.tensors([instance]))
        # Shape: (tags, tags)
        scores = output["logits"][0, 0].unsqueeze(1) + built.model.crf.transitions
        scores = scores + output["logits"][0, 1]

    tags = [built.model.vocab.get_token_index(tag, "labels") for tag in ("U-LOC", "O")]
    expected = scores.flatten().logsumexp(dim=0) - scores[tags[0], tags[1]]
    torch.testing.assert_close(output["loss"], expected)


def test_dropout_drops_the_same_of_every_token(built: Built) -> None:
    passed: list[tuple[torch.Tensor, torch.Tensor]] = []
    hook = built.model.dropout.register_forward_hook(lambda _, x, y: passed.append((x[0], y)))
    built.model.train()
    try:
        built.model(**built.tensors(built.instances))
    finally:
        built.model.eval()
        hook.remove()

    # It is on the whole input of each of the two encoders and of the scores, which have ELMo.
    inputs = [*(encoder.get_input_dim() for encoder in built.model.encoders)]
    inputs.append(built.model.tag_scores.in_features)
    assert [x.size(-1) for x, _ in passed] == inputs
    for x, y in passed:
        # Shape: (batch, 1, width)
        kept = (y != 0).any(dim=1, keepdim=True)
        assert 0.3 < kept.float().mean() < 0.7
        torch.testing.assert_close(y, 2 * x * kept)


def with_tags_in_bio() -> Built:
    """Returns the model of a reader of others, whose tags do not mark the ends of entities."""
    built = TASK.build()
    for instance in built.instances:
        tokens, entities = instance["tokens"], read_entities(instance["tags"].labels, "BIOUL")
        tags = write_tags(entities, len(tokens), "BIO")
        instance.fields["tags"] = SequenceLabelField(tags, tokens)
    built.vocab = Vocabulary.from_instances(built.instances)
    built.model = Model.from_params(Params(TASK.config()["model"]), vocab=built.vocab).eval()
    return built


@pytest.mark.parametrize(("scheme", "build"), [("BIOUL", TASK.build), ("BIO", with_tags_in_bio)])
def test_tags_are_always_a_sequence_of_the_scheme(scheme: str, build: Callable[[], Built]) -> None:
    built = build()
    # Scores that would choose anything but for the constraints.
    torch.nn.init.normal_(built.model.tag_scores.weight, std=20)

    answers = built.model.forward_on_instances(built.instances)

    for answer in answers:
        assert answer["entities"] == read_entities(answer["tags"], scheme)
        assert len(answer["tags"]) == len(answer["tokens"])
        assert all(0 < confidence <= 1 for confidence in answer["confidences"])
    assert any(answer["confidences"] for answer in answers)


def test_metrics_are_of_the_best_paths(built: Built) -> None:
    built.model.get_metrics(reset=True)

    answers = built.model.forward_on_instances(built.instances)
    metrics = built.model.get_metrics(reset=True)

    pairs = [
        (set(answer["entities"]), set(read_entities(instance["tags"].labels, "BIOUL")))
        for answer, instance in zip(answers, built.instances)
    ]
    right, found, gold = (sum(map(len, each)) for each in zip(*((p & g, p, g) for p, g in pairs)))
    assert metrics["precision-overall"] == pytest.approx(right / found if found else 0)
    assert metrics["recall-overall"] == pytest.approx(right / gold)
