"""Half and double precision and autocast of every module: as float32, but for rounding."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.modules import ConditionalRandomField, FeedForward

from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.elmo import Elmo, ElmoEncoder, ElmoMix
from elmo_tasks.language_model.sampled_softmax import SampledSoftmax
from elmo_tasks.modules.alternating_lstm import ElmoAlternatingLstm
from elmo_tasks.modules.antecedent_scorer import AntecedentScorer, Mentions
from elmo_tasks.modules.attention import BidirectionalAttention, SelfAttention
from elmo_tasks.modules.character_cnn import CharacterCnn
from elmo_tasks.modules.crf_paths import CrfPaths
from elmo_tasks.modules.layers import Linear
from elmo_tasks.modules.mention_spans import SpanRepresentation
from elmo_tasks.modules.packed_encoder import ElmoGru, ElmoLstm
from elmo_tasks.modules.text_embedder import ElmoBiLmEmbedder
from tests.helpers.reference_bilm import FIXTURE_FILES

SENTENCES = [["A", "film", "of", "charm", "."], ["It", "is"], ["na\u00efve"]]
IDS = batch_char_ids(SENTENCES)
DIM = 8


def drawn(*shape: int) -> torch.Tensor:
    # Numbers that bfloat16 has, so that the inputs are equal in all dtypes.
    return torch.randn(shape, generator=torch.Generator().manual_seed(0)).bfloat16().float()


X = drawn(3, 7, DIM)
MASK = torch.arange(7) < torch.tensor([7, 3, 1]).unsqueeze(1)
TAGS = torch.randint(0, 5, (3, 7), generator=torch.Generator().manual_seed(0))


def bilm(trains: bool) -> BiLm:
    return make_bilm(*FIXTURE_FILES, state="reset", requires_grad=trains)


def vectors_of_encoder(elmo: torch.nn.Module) -> torch.Tensor:
    assert isinstance(elmo, Elmo) and isinstance(elmo.mixes[0], ElmoMix)
    encoder = ElmoEncoder(elmo.bilm, elmo.mixes[0], as_numpy=True)
    parts = [outputs["elmo"] for outputs in encoder.iterate(SENTENCES)]
    parts += [layers.mean(dim=0).numpy() for layers in encoder.layers(SENTENCES)]
    return torch.cat([torch.from_numpy(part) for part in parts])


def antecedents() -> AntecedentScorer:
    network = FeedForward(3 * DIM + 3 * 2, 2, 6, torch.nn.ReLU())
    return AntecedentScorer(network, DIM, 2, max_antecedents=5)


def pair_scores(scorer: torch.nn.Module, x: torch.Tensor) -> torch.Tensor:
    mentions = Mentions(
        g=x[0], scores=x[0, :, 0], genre=x[0, 0, :2], speakers=torch.tensor([0, 1, 0, 0, 1, 1, 0])
    )
    # The lowest number of a dtype stands for impossible pairs.
    return torch.cat([block.scores.clamp(min=-100).flatten() for block in scorer(mentions)])


def best_path(crf: ConditionalRandomField, x: torch.Tensor) -> torch.Tensor:
    paths = CrfPaths(crf, 3 * x[..., :5], MASK)
    return paths._sums_before().clamp(min=-100)


Case = tuple[Callable[[], torch.nn.Module], Callable[[Any, torch.Tensor], torch.Tensor]]
CASES: dict[str, Case] = {
    "frozen biLM": (lambda: bilm(False), lambda module, x: module(IDS).layers),
    "biLM": (lambda: bilm(True), lambda module, x: module(IDS).layers),
    "Elmo": (lambda: Elmo(bilm(True), dropout=0.0), lambda module, x: module(SENTENCES)[0]),
    "frozen Elmo": (
        lambda: Elmo(bilm(False), dropout=0.0, layer_norm="sentence"),
        lambda module, x: module(SENTENCES)[0],
    ),
    "boundaries": (
        lambda: Elmo(bilm(False), keep_sentence_boundaries=True, dropout=0.0, layers="concat"),
        lambda module, x: module(SENTENCES)[0],
    ),
    "embedder": (lambda: ElmoBiLmEmbedder(bilm(True), {"dropout": 0.0}), lambda m, x: m(IDS)),
    "frozen embedder": (
        lambda: ElmoBiLmEmbedder(bilm(False), {"dropout": 0.0}),
        lambda module, x: module(IDS),
    ),
    "encoder": (
        lambda: Elmo(bilm(False), dropout=0.0),
        lambda module, x: vectors_of_encoder(module),
    ),
    "GRU": (lambda: ElmoGru(DIM, 5), lambda module, x: module(x, MASK)),
    "LSTM": (lambda: ElmoLstm(DIM, 5), lambda module, x: module(x, MASK)),
    "alternating LSTM": (
        lambda: ElmoAlternatingLstm(DIM, 5, 3),
        lambda module, x: module(x, MASK),
    ),
    "self-attention": (lambda: SelfAttention(DIM), lambda module, x: module(x, MASK)),
    "BiDAF's attention": (
        lambda: BidirectionalAttention(DIM),
        lambda module, x: module(x, x[:, :4], MASK, MASK[:, :4]),
    ),
    "linear": (lambda: Linear(DIM, 3), lambda module, x: module(x)),
    "character CNN": (
        lambda: CharacterCnn(
            Vocabulary(tokens_to_add={"token_characters": list("abcdef")}), 4, 5, 3, dropout=0.0
        ),
        lambda module, x: module(TAGS.unsqueeze(2).expand(3, 7, 5) + torch.arange(5) % 3),
    ),
    "CRF": (
        lambda: ConditionalRandomField(5),
        lambda module, x: module(x[..., :5], TAGS, MASK).view(1),
    ),
    "CRF's paths": (
        lambda: ConditionalRandomField(5, include_start_end_transitions=False),
        best_path,
    ),
    "spans": (
        lambda: SpanRepresentation(DIM, DIM, max_width=3, width_dim=2),
        lambda module, x: module(x[0], x[0], torch.tensor([[0, 0], [0, 2], [3, 4], [6, 6]])),
    ),
    "antecedents": (antecedents, pair_scores),
    "softmax": (
        lambda: SampledSoftmax(11, DIM, None),
        lambda module, x: module(x.flatten(0, 1), TAGS.flatten() + 1),
    ),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, "autocast"])
@pytest.mark.parametrize("name", CASES)
def test_a_module_in_another_precision_is_within_its_rounding(name: str, dtype: Any) -> None:
    make, run = CASES[name]
    torch.manual_seed(0)
    expected_of, found_of = make(), make()
    # Weights that bfloat16 has.
    found_of.load_state_dict(
        {key: _rounded(value) for key, value in expected_of.state_dict().items()}
    )
    expected_of.load_state_dict(found_of.state_dict())
    auto = dtype == "autocast"

    expected = run(expected_of, X)
    with torch.autocast("cpu", torch.bfloat16) if auto else nullcontext():
        found = run(found_of, X) if auto else run(found_of.to(dtype), X.to(dtype))

    # Float32, with which it is compared, is rounded as well.
    eps = max(torch.finfo(torch.bfloat16 if auto else dtype).eps, torch.finfo(torch.float32).eps)
    assert found.isfinite().all()
    # A result is the sum of several rounded ones.
    _assert_close(found, expected, 8 * eps, name)
    if not expected.requires_grad:
        return
    factors = drawn(*expected.shape)
    for output in (expected, found):
        (output.float() * factors).sum().backward()
    for (key, one), other in zip(found_of.named_parameters(), expected_of.parameters()):
        assert (one.grad is None) == (other.grad is None), key
        if one.grad is not None and other.grad is not None:
            # Over many steps, roundings add up.
            _assert_close(one.grad, other.grad, 64 * eps, key)


def _rounded(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.bfloat16().to(tensor.dtype) if tensor.is_floating_point() else tensor


def _assert_close(found: torch.Tensor, expected: torch.Tensor, share: float, name: str) -> None:
    """Compares by the largest number, because roundings of large terms remain where they cancel."""
    largest = max(1e-3, expected.detach().abs().max().item())
    error = (found.detach().double() - expected.detach().double()).abs().max().item()
    assert error <= share * largest, f"{name}: {error / largest} > {share}"
