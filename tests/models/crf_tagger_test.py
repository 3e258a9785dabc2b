import pytest
import torch
from allennlp.data import Token

from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.models.crf_tagger import CrfTagger
from elmo_tasks.readers.entities import Entity, read_entities, write_tags
from tests.helpers.task_models import Built, Task, VariantTestCase

TASK = Task("ner")
CHOICES = [
    "{ scheme: 'BIO' }",
    "{ hidden_dims: [4] }",
    "{ elmo_layer_norm: 'sentence' }",
    "{ characters: null }",
]
# A variant and what it is changed by.
CASES = [(variant, "{}") for variant in TASK.variants] + [("both", each) for each in CHOICES]


class TestVariants(VariantTestCase):
    @pytest.mark.parametrize(("variant", "change"), CASES)
    def test_trains_saves_loads_and_is_the_same_in_a_batch(self, variant: str, change: str) -> None:
        self.ensure_works(
            TASK.config(variant, change),
            # AllenNLP compares the batches of two loaders.
            {"data_loader.batch_sampler.padding_noise": 0},
            # The mask of the constraints is a parameter of AllenNLP's CRF.
            gradients_to_ignore={"crf._constraint_mask"},
            # Those of the padding are cut off by the tags.
            keys_to_ignore=("best_tags", "mask", "logits"),
        )


@pytest.fixture(scope="module")
def built() -> Built:
    return TASK.build()


def test_logits_are_those_of_one_encoder_after_the_other_and_elmo(built: Built) -> None:
    tensors = built.tensors(built.instances)
    model = built.model
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
    losses = [built.model(**built.tensors([each]))["loss"] for each in built.instances]
    together = built.model(**built.tensors(built.instances))["loss"]
    torch.testing.assert_close(together, torch.stack(losses).sum())


def test_dropout_drops_the_same_of_every_token(built: Built) -> None:
    passed: list[tuple[torch.Tensor, torch.Tensor]] = []
    hook = built.model.dropout.register_forward_hook(lambda _, x, y: passed.append((x[0], y)))
    built.model.train()
    try:
        built.model(**built.tensors(built.instances))
    finally:
        built.model.eval()
        hook.remove()
    # Before each of the two encoders and before the scores.
    assert len(passed) == 3
    for x, y in passed:
        # Shape: (batch, 1, width)
        kept = (y != 0).any(dim=1, keepdim=True)
        assert 0.3 < kept.float().mean() < 0.7
        torch.testing.assert_close(y, 2 * x * kept)


def test_padding_changes_neither_loss_nor_gradients(built: Built) -> None:
    results = []
    for lengths in ({}, {"tokens": 40, "tags": 40}):
        built.model.zero_grad()
        output = built.model(**built.tensors(built.instances[:3], **lengths))
        output["loss"].backward()
        gradients = [p.grad.clone() for p in built.model.parameters() if p.grad is not None]
        results.append([output["loss"], *gradients])
    for plain, padded in zip(*results, strict=True):
        torch.testing.assert_close(plain, padded, atol=1e-4, rtol=1e-4)


def test_gradients_reach_every_parameter_but_those_that_are_fixed(built: Built) -> None:
    built.model.zero_grad()
    built.model(**built.tensors(built.instances))["loss"].backward()
    without = {n for n, p in built.model.named_parameters() if p.grad is None or not p.grad.any()}
    bilm = {name for name, _ in built.model.named_parameters() if ".bilm." in name}
    assert bilm and without == bilm | {"crf._constraint_mask"}


@pytest.mark.parametrize("scheme", ["BIO", "BIOUL"])
def test_tags_are_always_a_sequence_of_the_scheme(scheme: str) -> None:
    built = TASK.build(f"{{ scheme: '{scheme}' }}")
    assert built.model.scheme == scheme
    # Scores that would choose anything but for the constraints.
    torch.nn.init.normal_(built.model.tag_scores.weight, std=20)
    found = 0
    for answer in built.model.forward_on_instances(built.instances):
        assert answer["entities"] == read_entities(answer["tags"], scheme)
        assert len(answer["tags"]) == len(answer["tokens"])
        assert all(0 < confidence <= 1 for confidence in answer["confidences"])
        found += len(answer["confidences"])
    assert found > 0


def test_confidences_of_disjoint_readings_of_a_token_sum_to_one(built: Built) -> None:
    (answer,) = built.model.forward_on_instances(built.instances[7:8])
    assert answer["tokens"] == ["Rain"]
    paths = built.model.best_paths(torch.as_tensor(answer["logits"]), 10)
    # O, or an entity of one of the four types: the scheme has no other tags for one token.
    assert {tag for path in paths for tag in path.tags} == {
        "O",
        "U-PER",
        "U-LOC",
        "U-ORG",
        "U-MISC",
    }
    assert sum(path.probability for path in paths) == pytest.approx(1)
    assert paths == sorted(paths, key=lambda path: -path.probability)
    assert paths[0].tags == answer["tags"]
    if answer["entities"]:
        assert answer["confidences"] == pytest.approx([paths[0].probability])


def test_sentence_of_two_thousand_tokens_is_trained_on_and_tagged(built: Built) -> None:
    entities = [Entity("LOC", place, place + 3) for place in range(0, 1998, 3)]
    tags = write_tags(entities, 2000, "BIOUL")
    instance = built.reader.text_to_instance([Token("Oslo")] * 2000, tags)
    built.reader.apply_token_indexers(instance)
    short = built.instances[0]
    output = built.model(**built.tensors([instance, short]))
    alone = [built.model(**built.tensors([each]))["loss"] for each in (instance, short)]
    torch.testing.assert_close(output["loss"], sum(alone))
    output["loss"].backward()
    assert all(p.grad.isfinite().all() for p in built.model.parameters() if p.grad is not None)
    answer = built.model.make_output_human_readable(output)
    assert [len(tags) for tags in answer["tags"]] == [2000, 7]


# A sentence, and what is right, predicted and gold of it, as conlleval counts them.
CONLLEVAL = {
    "adjacent entities of one type are two": (
        [Entity("PER", 0, 2), Entity("PER", 2, 4)], [Entity("PER", 0, 4)], (0, 1, 2)
    ),
    "adjacent entities of one type are found one by one": (
        [Entity("PER", 0, 2), Entity("PER", 2, 4)], [Entity("PER", 0, 2), Entity("PER", 2, 3)],
        (1, 2, 2),
    ),
    "the right tokens with the wrong type are wrong": (
        [Entity("LOC", 1, 2)], [Entity("ORG", 1, 2)], (0, 1, 1)
    ),
    "an overlap earns nothing": ([Entity("ORG", 0, 3)], [Entity("ORG", 1, 3)], (0, 1, 1)),
    "an entity ends with its sentence": ([Entity("LOC", 3, 4)], [Entity("LOC", 3, 4)], (1, 1, 1)),
    "nothing found": ([Entity("LOC", 3, 4)], [], (0, 0, 1)),
    "nothing there": ([], [Entity("LOC", 0, 1)], (0, 1, 0)),
}  # fmt: skip


def count(model: CrfTagger, predicted: list[list[Entity]], gold: list[list[Entity]]) -> None:
    """Gives the metric sentences of 4 and, the second, 5 tokens."""
    numbers = {name: number for number, name in model.tag_names.items()}

    def tags(sentences: list[list[Entity]]) -> torch.Tensor:
        rows = [write_tags(each, 4 + row, model.scheme) for row, each in enumerate(sentences)]
        # The padding is an entity in each.
        padded = [[*row, "U-PER"][:5] for row in rows]
        return torch.tensor([[numbers[tag] for tag in row] for row in padded])

    mask = torch.arange(5) < torch.tensor([4, 5][: len(gold)]).unsqueeze(1)
    votes = torch.nn.functional.one_hot(tags(predicted), len(numbers))
    model.span_f1(votes, tags(gold), mask)


def f1(right: int, predicted: int, gold: int) -> list[float]:
    precision = right / predicted if predicted else 0.0
    recall = right / gold if gold else 0.0
    return [precision, recall, 2 * precision * recall / (precision + recall) if right else 0.0]


@pytest.mark.parametrize("case", CONLLEVAL)
def test_f1_is_that_of_conlleval(built: Built, case: str) -> None:
    gold, predicted, counts = CONLLEVAL[case]
    built.model.get_metrics(reset=True)
    count(built.model, [predicted], [gold])
    names = [f"{name}-overall" for name in ("precision", "recall", "f1-measure")]
    metrics = built.model.get_metrics(reset=True)
    assert [metrics[name] for name in names] == pytest.approx(f1(*counts))


def test_f1_is_over_all_types_and_sentences_together(built: Built) -> None:
    built.model.get_metrics(reset=True)
    gold = [[Entity("PER", 0, 1), Entity("LOC", 3, 4)], [Entity("LOC", 0, 1)]]
    # The first sentence ends with an entity, and the second begins with one, of the same type.
    count(built.model, [[Entity("LOC", 3, 4)], [Entity("LOC", 0, 1), Entity("PER", 2, 5)]], gold)
    metrics = built.model.get_metrics(reset=True)
    for type_, counts in {"overall": (2, 3, 3), "LOC": (2, 2, 2), "PER": (0, 1, 1)}.items():
        names = [f"{name}-{type_}" for name in ("precision", "recall", "f1-measure")]
        assert [metrics[name] for name in names] == pytest.approx(f1(*counts))


def test_metrics_are_of_the_best_paths_and_have_the_weights_of_each_place(built: Built) -> None:
    built.model.get_metrics(reset=True)
    built.model(**built.tensors(built.instances))
    answers = built.model.forward_on_instances(built.instances)
    metrics = built.model.get_metrics(reset=True)
    pairs = [
        (set(answer["entities"]), set(read_entities(instance["tags"].labels, "BIOUL")))
        for answer, instance in zip(answers, built.instances)
    ]
    counts = [sum(map(len, sets)) for sets in zip(*((p & g, p, g) for p, g in pairs))]
    assert metrics["f1-measure-overall"] == pytest.approx(f1(*counts)[2])
    weights = [f"elmo_{place}_s{j}" for place in ("input", "output") for j in range(3)]
    assert [metrics[name] for name in weights] == pytest.approx([1 / 3] * 6)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ("{ encoders: [] }", "at least one of encoders"),
        (
            "{ encoders: [super.encoders[0] { input_size: 5 }] }",
            "output of text_embedder must match input of encoder 1",
        ),
        (
            "{ encoders: [super.encoders[0], super.encoders[1] { input_size: 5 }] }",
            "output of encoder 1 must match input of encoder 2.* 16 and 5",
        ),
    ],
)
def test_widths_that_do_not_fit_are_refused_by_their_names(change: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        TASK.build(f"{{ model+: {change} }}")
