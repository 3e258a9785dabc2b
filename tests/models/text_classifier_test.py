from typing import Any

import pytest
import torch
from allennlp.data import Instance

from elmo_tasks.readers.classify import ClassifyReader
from tests.helpers.largest_tensor import LargestTensor
from tests.helpers.task_models import Built, Task


@pytest.fixture(scope="module")
def built() -> Built:
    return Task("classify").build()


def indexed(reader: ClassifyReader, texts: list[str]) -> Instance:
    made = reader.text_to_instance([reader.sentences.of_text(text) for text in texts])
    reader.apply_token_indexers(made)
    return made


def forward(built: Built, *instances: Instance) -> dict[str, Any]:
    with torch.no_grad():
        return built.model(**built.tensors(list(instances)))


def test_a_text_of_20000_tokens_is_read_in_small_tensors_beside_a_short_one(built: Built) -> None:
    long, short = "The soup came cold and late . " * 2857, "Soup ."
    batch = built.tensors([indexed(built.reader, [long]), indexed(built.reader, [short])])

    with torch.no_grad(), LargestTensor() as largest:
        both = built.model(**batch)

    num_tokens = batch["tokens"]["tokens"]["tokens"].size(1)
    word_dim = built.model.pool_score.in_features
    assert num_tokens >= 19_999
    # The char ids of both texts, padded, are the largest; what is computed is linear in the tokens.
    assert largest.size <= max(2 * 50, word_dim) * num_tokens + 10**6
    alone = forward(built, indexed(built.reader, [short]))
    torch.testing.assert_close(both["logits"][1:], alone["logits"], rtol=0, atol=1e-5)


def test_the_pooling_is_the_maximum_the_mean_and_an_attention(built: Built) -> None:
    y = torch.randn(4, built.model.pool_score.in_features)

    (pooled,) = built.model._pool((y,))

    weights = [torch.exp(score).item() for score in built.model.pool_score(y)]
    attended = sum(weight * row for weight, row in zip(weights, y)) / sum(weights)
    torch.testing.assert_close(pooled, torch.cat([y.max(0).values, y.sum(0) / 4, attended]))


def test_two_texts_are_told_apart() -> None:
    built = Task("classify").build("{ texts: ['text', 'id'] }")
    texts = ["Cold soup.", "Late ferry."]
    instances = [indexed(built.reader, each) for each in (texts, texts[::-1])]

    logits = forward(built, *instances)["logits"]

    assert not torch.allclose(*logits, rtol=0, atol=1e-4)


def test_several_labels_have_a_probability_each() -> None:
    built = Task("classify").build("{ separator: ';' }")
    with torch.no_grad():
        built.model.label_scores.weight.zero_()
        built.model.label_scores.bias.copy_(torch.tensor([1.0, -1.0, 2.0]))

    output = built.model.forward_on_instances(built.instances[:1])[0]

    names = [built.vocab.get_token_from_index(index, "several_labels") for index in range(3)]
    expected = dict(zip(names, torch.sigmoid(torch.tensor([1.0, -1.0, 2.0])).tolist()))
    assert output["probabilities"] == pytest.approx(expected)
    assert output["labels"] == [names[2], names[0]]


def test_f1_of_several_labels_counts_pairs_of_a_text_and_a_label() -> None:
    built = Task("classify").build("{ separator: ';' }")
    gold = [each["label"].labels[0] for each in built.instances]
    name = built.vocab.get_token_from_index(0, "several_labels")
    with torch.no_grad():
        built.model.label_scores.weight.zero_()
        built.model.label_scores.bias.copy_(torch.tensor([1.0, -1.0, -1.0]))

    forward(built, *built.instances)
    metrics = built.model.get_metrics(reset=True)

    share = pytest.approx(gold.count(name) / len(gold))
    assert (metrics["precision"], metrics["recall"], metrics["f1"]) == (share, share, share)
