from itertools import product

import numpy
import pytest
import torch
from allennlp.data import Instance

from elmo_tasks.models import coref_resolver
from elmo_tasks.modules import antecedent_scorer
from elmo_tasks.modules.antecedent_scorer import Mentions
from elmo_tasks.modules.document_run import DocumentRun
from elmo_tasks.modules.mention_spans import candidate_spans, choose_spans
from tests.helpers.precision import in_dtype
from tests.helpers.task_models import Built, Task

TASK = Task("coref")


@pytest.fixture(scope="module")
def built() -> Built:
    return TASK.build()


def by_parts(built: Built, instance: Instance) -> tuple[torch.Tensor, numpy.ndarray]:
    """
    Returns the kept spans of a document, and s(i, j) with a first column for no antecedent: of
    sentences that are read one by one, by the parts of the model, which have tests of their own.
    """
    model, tensors = built.model, built.tensors([instance])
    about = instance["metadata"].metadata
    lengths = [len(sentence) for sentence in about["sentences"]]
    x, h, start = [], [], 0
    for length in lengths:
        text = {
            name: {key: ids[:, start : start + length] for key, ids in each.items()}
            for name, each in tensors["tokens"].items()
        }
        (embedded,) = model.text_embedder(text)
        x.append(embedded.x[0])
        h.append(embedded.extend(model.encoder(embedded.x, embedded.mask))[0])
        start += length
    spans = candidate_spans(lengths, 10)
    g = model.spans(torch.cat(x), torch.cat(h), spans)
    s_m = model.mention_scores(model.mention_feedforward(g)).squeeze(1)
    kept = choose_spans(spans, s_m, max(10, int(0.4 * start)))
    speakers = [about["speakers"][first] for first, _ in spans[kept].tolist()]
    speaker_ids = torch.tensor([speakers.index(speaker) for speaker in speakers])
    genre = model.genre_embedding.weight[tensors["genre"][0]]
    scores = numpy.full((len(kept), 1 + len(kept)), -numpy.inf)
    for block in model.antecedents(Mentions(g[kept], s_m[kept], speaker_ids, genre)):
        scores[block.rows, 0] = block.scores[:, 0]
        columns = slice(1 + block.columns.start, 1 + block.columns.stop)
        scores[block.rows, columns] = block.scores[:, 1:]
    return spans[kept], scores


def by_all_assignments(scores: numpy.ndarray, labels: list[int]) -> float:
    """
    Returns the negative logarithm of the probability of the right assignments, the sum over all of
    them, as equation (8) of Lee et al. 2017 says.
    """
    num_mentions = len(scores)
    probabilities = numpy.exp(scores) / numpy.exp(scores).sum(axis=1, keepdims=True)
    right = []
    for i in range(num_mentions):
        gold = [
            1 + j for j in range(i) if labels[j] == labels[i] != -1 and scores[i, 1 + j] > -9e99
        ]
        right.append(gold or [0])
    total = sum(
        numpy.prod([probabilities[i, choice] for i, choice in enumerate(choices)])
        for choices in product(*right)
    )
    return -float(numpy.log(total))


@pytest.mark.parametrize(("index", "max_antecedents"), [(0, 250), (1, 250), (2, 250), (1, 3)])
def test_spans_choices_and_loss_are_those_of_sentences_one_by_one(
    built: Built, index: int, max_antecedents: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    instance = built.instances[index]
    # The later blocks of mentions have none of the first ones among their antecedents.
    monkeypatch.setattr(built.model.antecedents, "max_antecedents", max_antecedents)
    monkeypatch.setattr(antecedent_scorer, "_BLOCK", 4)
    with in_dtype(built.model, torch.double), torch.no_grad():
        spans, scores = by_parts(built, instance)
        output = built.model(**built.tensors([instance]))

    assert output["spans"][0].tolist() == [[first, last + 1] for first, last in spans.tolist()]
    assert output["antecedents"][0].tolist() == (scores.argmax(axis=1) - 1).tolist()
    probabilities = numpy.exp(scores) / numpy.exp(scores).sum(axis=1, keepdims=True)
    numpy.testing.assert_allclose(output["probabilities"][0], probabilities.max(axis=1))
    gold = {
        (start, end - 1): number
        for number, cluster in enumerate(instance["metadata"]["clusters"])
        for start, end in cluster
    }
    labels = [gold.get((first, last), -1) for first, last in spans.tolist()]
    assert output["loss"].item() == pytest.approx(by_all_assignments(scores, labels))


def test_loss_is_the_mean_over_the_documents_and_they_may_be_computed_in_parts(
    built: Built, monkeypatch: pytest.MonkeyPatch
) -> None:
    with in_dtype(built.model, torch.double), torch.no_grad():
        each = [built.model(**built.tensors([instance]))["loss"] for instance in built.instances]
        monkeypatch.setattr(coref_resolver, "_MAX_TOKENS", 12)
        monkeypatch.setattr(coref_resolver, "_MAX_SPANS", 7)
        together = built.model(**built.tensors(built.instances))["loss"]

    torch.testing.assert_close(together, torch.stack(each).mean())


def test_training_reads_a_random_run_of_the_sentences() -> None:
    built = TASK.build("{ max_training_sentences: 2, hidden_dim: 2 }")
    instance = built.instances[4]
    lengths = [len(sentence) for sentence in instance["metadata"]["sentences"]]
    runs = [lengths[first : first + 2] for first in range(len(lengths) - 1)]
    read: list[list[int]] = []
    built.model.encoder.register_forward_pre_hook(
        lambda _, inputs: read.append(inputs[1].sum(dim=1).tolist())
    )

    torch.manual_seed(0)
    for _ in range(40):
        built.model.train()(**built.tensors([instance]))
    with torch.no_grad():
        built.model.eval()(**built.tensors([instance]))

    assert all(run in runs for run in read[:-1])
    assert all(run in read for run in runs)
    assert read[-1] == lengths


def test_words_and_speakers_of_a_run_are_those_of_its_place(built: Built) -> None:
    model, instance = built.model, built.instances[1]
    tensors = built.tensors([instance])
    about = instance["metadata"].metadata
    run = DocumentRun.of(about["sentences"], about["speakers"], about["clusters"]).part(2, 4)
    part = built.reader.text_to_instance(
        about["sentences"][2:], about["speakers"][12:], "bc", [[(5, 6), (15, 16)]]
    )
    built.reader.apply_token_indexers(part)

    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        patch.setattr(model, "_run", lambda _: run)
        one = model(**tensors)
    with torch.no_grad():
        other = model(**built.tensors([part]))

    for name in ("spans", "antecedents", "probabilities"):
        torch.testing.assert_close(one[name], other[name])


def test_unknown_genre_is_the_mean_of_the_known_ones(built: Built) -> None:
    weight = built.model.genre_embedding.weight
    before = weight.detach().clone()

    def probabilities(genre: int) -> torch.Tensor:
        tensors = {**built.tensors(built.instances[1:2]), "genre": torch.tensor([genre])}
        return built.model(**tensors)["probabilities"][0]

    with torch.no_grad():
        unknown = probabilities(-1)
        weight[:] = before.mean(dim=0)
        mean = probabilities(1)
        weight[:] = before
    torch.testing.assert_close(unknown, mean)


@pytest.mark.parametrize("sentences", [[["Yes"]], [["Yes"], ["."]], [["Yes", "."]]])
def test_document_of_a_few_words_is_read(built: Built, sentences: list[list[str]]) -> None:
    instance = built.reader.text_to_instance(sentences, clusters=[])
    built.reader.apply_token_indexers(instance)

    output = built.model(**built.tensors([instance]))
    output["loss"].backward()

    spans = candidate_spans([*map(len, sentences)], 10) + torch.tensor([0, 1])
    assert output["spans"][0].tolist() == spans.tolist()
    if len(spans) == 1:
        assert output["loss"] == 0
        assert built.model.make_output_human_readable(output)["clusters"] == [[]]


def test_of_a_short_text_ten_spans_are_kept(built: Built) -> None:
    instance = built.reader.text_to_instance([["Ann", "saw", "her", "dog"], ["It", "slept"]])
    built.reader.apply_token_indexers(instance)

    output = built.model(**built.tensors([instance]))

    assert len(output["spans"][0]) == 10


def test_dropout_is_on_words_and_characters_but_not_on_the_elmo_of_the_input() -> None:
    built = TASK.build("{ elmo_dropout: 0, lexical_dropout: 0.9, dropout: 0 }", "input")
    inputs: list[torch.Tensor] = []
    built.model.encoder.register_forward_pre_hook(lambda _, each: inputs.append(each[0]))
    tensors = built.tensors(built.instances[:1])

    built.model.train()(**tensors)
    built.model.eval()(**tensors)

    width = built.model.text_embedder.words.get_output_dim()
    dropped, whole = inputs
    assert (dropped[..., :width] == 0).float().mean() > 0.8
    torch.testing.assert_close(dropped[..., width:], whole[..., width:])
