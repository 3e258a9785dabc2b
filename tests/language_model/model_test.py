import copy
import json
import math
import shutil
from collections.abc import Iterable
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from allennlp.commands.evaluate import evaluate_from_archive
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.common.testing import ModelTestCase
from allennlp.data import Vocabulary
from allennlp.models import Model, load_archive
from allennlp.modules.elmo import _ElmoBiLm, batch_to_ids
from allennlp.training.optimizers import DenseSparseAdam
from allennlp.training.util import evaluate

from elmo_tasks.bilm import make_bilm
from elmo_tasks.common.characters import batch_char_ids
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo import ElmoEncoder
from elmo_tasks.language_model.corpus_loader import CorpusLoader, SentenceTensors
from elmo_tasks.language_model.counted_vocabulary import CountedVocabulary
from elmo_tasks.language_model.loaders import SentenceLoader, WindowLoader
from elmo_tasks.language_model.model import ElmoLanguageModel
from elmo_tasks.language_model.prediction import predict
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from elmo_tasks.readers.sentences import SentencesReader
from tests.helpers import grammar
from tests.helpers.bilm_examples import ids_of, sentences
from tests.helpers.command_line import allennlp
from tests.helpers.corpus_loaders import windows
from tests.helpers.language_model_configs import CONFIGS, CORPUS, HELDOUT, ROOT, shrunk
from tests.helpers.reference_bilm import ReferenceBiLm, char_ids, make_options, random_files
from tests.helpers.stored_bilms import fixture_bilm

LINES = [line.split() for line in CORPUS.read_text(encoding="utf-8").splitlines()]
# Sentences of several lengths; one has a single word.
SENTENCES = [LINES[index] for index in (0, 3, 12, 88)]


def make_vocab() -> Vocabulary:
    words = {word for words in LINES for word in words}
    return Vocabulary(tokens_to_add={"tokens": ["</S>", "<S>", *sorted(words)[::2]]})


def make_model(folder: Path, state: str = "reset", **arguments: Any) -> ElmoLanguageModel:
    """Writes two files of random weights to `folder` and returns a model with these weights."""
    files = random_files(folder)
    bilm = make_bilm(*files, state=state, requires_grad=True)
    torch.manual_seed(0)
    model = ElmoLanguageModel(make_vocab(), bilm, **{"dropout": 0.0, **arguments})
    torch.nn.init.normal_(model.softmax.weight)
    torch.nn.init.normal_(model.softmax.bias)
    return model


def tensors(vocab: Vocabulary, sentences: Iterable[list[str]]) -> dict[str, Any]:
    bounded = [["<S>", *words, "</S>"] for words in sentences]
    return {"tokens": SentenceTensors(vocab)(bounded)}


def losses_of(model: ElmoLanguageModel, top: numpy.ndarray, words: Iterable[str]) -> list[float]:
    """Computes the paper's softmax by hand, for the words that the rows of `top` predict."""
    weight, bias = (part.detach().double().numpy() for part in model.softmax.parameters())
    losses = []
    for h, word in zip(top, words, strict=True):
        logits = weight @ h + bias[:, 0]
        # The softmax has no class for padding, which is id 0.
        index = model.vocab.get_token_index(word) - 1
        losses.append(numpy.log(numpy.exp(logits).sum()) - logits[index])
    return losses


class TestConfigs(ModelTestCase):
    @pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
    def test_trains_saves_and_loads(self, path: Path) -> None:
        config_file = self.TEST_DIR / "config.json"
        config_file.write_text(json.dumps(shrunk(path.stem, "{ max_sentences: 30 }")))

        model, loaded = self.ensure_model_can_train_save_and_load(config_file)

        assert isinstance(model, ElmoLanguageModel)
        assert loaded.vocab.num_sentences == 30


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_losses_are_those_of_allennlps_bilm_and_a_softmax_by_hand(
    direction: str, tmp_path: Path
) -> None:
    model = make_model(tmp_path).eval()
    output = _ElmoBiLm(tmp_path / "options.json", tmp_path / "weights.hdf5")(
        batch_to_ids(SENTENCES)
    )
    top = output["activations"][-1].detach().double().numpy()
    dim = model.bilm.options.projection_dim
    losses = []
    for row, words in enumerate(SENTENCES):
        bounded = ["<S>", *words, "</S>"]
        if direction == "forward":
            losses += losses_of(model, top[row, : len(bounded) - 1, :dim], bounded[1:])
        else:
            losses += losses_of(model, top[row, 1 : len(bounded), dim:], bounded[:-1])

    loss = model(**tensors(model.vocab, SENTENCES))["loss"]
    metrics = model.get_metrics(reset=True)

    both = [metrics["forward_perplexity"], metrics["backward_perplexity"]]
    assert metrics[f"{direction}_perplexity"] == pytest.approx(math.exp(numpy.mean(losses)), 1e-5)
    assert metrics["perplexity"] == pytest.approx(sum(both) / 2)
    assert loss.item() == pytest.approx(sum(map(math.log, both)) / 2, rel=1e-5)


def test_a_batch_gives_the_losses_of_its_sentences(tmp_path: Path) -> None:
    model = make_model(tmp_path).eval()
    output = model(**tensors(model.vocab, SENTENCES))
    together = model.get_metrics(reset=True)
    for words in SENTENCES:
        model(**tensors(model.vocab, [words]))

    assert model.get_metrics(reset=True) == pytest.approx(together)
    assert output["num_tokens"] == sum(len(words) + 1 for words in SENTENCES)
    # Without a word every perplexity is 1.
    assert model.get_metrics() == {
        "perplexity": 1, "forward_perplexity": 1, "backward_perplexity": 1, "unknown_tokens": 0,
    }  # fmt: skip


def window_loader(vocab: Vocabulary, rows: int = 3, length: int = 7) -> WindowLoader:
    loader = WindowLoader(SentencesReader(), str(CORPUS), rows, length, shuffle=False)
    loader.index_with(vocab)
    return loader


def vectors(reference: ReferenceBiLm, words: Iterable[str]) -> numpy.ndarray:
    """Returns x^LM of the words, which may be boundaries."""
    special: dict[str, str | int] = {"<S>": 256, "</S>": 257}
    ids = [char_ids(special.get(word, word), 50) for word in words]
    return numpy.stack([reference.token_vector(characters) for characters in ids])


@pytest.mark.parametrize("direction", [0, 1])
def test_windows_that_carry_their_state_are_one_long_sequence(
    direction: int, tmp_path: Path
) -> None:
    model = make_model(tmp_path, state="carry").eval()
    loader = window_loader(model.vocab)
    for batch in islice(loader, 4):
        model(**batch)
    perplexity = list(model.get_metrics().values())[1 + direction]

    # What each row of these four batches reads, and what it predicts.
    field = "backward_tokens" if direction else "tokens"
    batches = [windows(loader, batch, field) for batch in islice(loader, 4)]
    reference = ReferenceBiLm(tmp_path / "options.json", tmp_path / "weights.hdf5")
    losses = []
    for row in zip(*batches):
        read, predicted = zip(*chain.from_iterable(row))
        x = vectors(reference, read)
        layers, _ = reference._stack(direction, x, reference.zeros()[direction])
        losses += losses_of(model, layers[-1], predicted)
    assert len(losses) == 3 * 4 * 7
    assert perplexity == pytest.approx(math.exp(numpy.mean(losses)), rel=1e-5)


def test_neither_training_nor_evaluation_begins_where_the_other_ended(tmp_path: Path) -> None:
    model = make_model(tmp_path, state="carry")
    first, second = islice(window_loader(model.vocab), 2)
    losses = []
    for mode in (model.train, model.eval, model.train):
        mode()
        losses.append((model(**first)["loss"].item(), model(**second)["loss"].item()))

    assert losses[0] == pytest.approx(losses[1]) and losses[0] == pytest.approx(losses[2])
    # Within an epoch the state is carried on.
    assert model(**first)["loss"].item() != pytest.approx(losses[0][0], rel=1e-4)


class Scaled(torch.nn.Module):
    """A dropout with a known mask, the same for all tokens."""

    # Any above 0: the mask counts as drawn.
    p = 0.5

    def __init__(self, mask: numpy.ndarray) -> None:
        super().__init__()
        self.mask = torch.tensor(mask).float()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.mask


def test_dropout_is_on_the_inputs_of_the_lstms_and_on_the_output_of_the_last(
    tmp_path: Path,
) -> None:
    model = make_model(tmp_path)
    inner, outer = numpy.array([[2, 0, 1.5, 2, 0, 1], [1, 2, 0, 2, 1.5, 0]])
    model.dropout = Scaled(outer)
    model.bilm.forward_stack.dropout = model.bilm.backward_stack.dropout = Scaled(inner)
    model(**tensors(model.vocab, SENTENCES[:1]))

    reference = ReferenceBiLm(tmp_path / "options.json", tmp_path / "weights.hdf5")
    for d, name in enumerate(["forward", "backward"]):
        words = ["<S>", *SENTENCES[0], "</S>"][:: -1 if d else 1]
        first, second = (f"RNN_{d}/RNN/MultiRNNCell/Cell{layer}/LSTMCell" for layer in (0, 1))
        zeros = reference.zeros()[d][0]
        h, _ = reference._lstm(first, vectors(reference, words[:-1]) * inner, zeros)
        # The skip path of the second layer sees the dropped input.
        h = reference._lstm(second, h * inner, zeros)[0] + h * inner
        losses = losses_of(model, h * outer, words[1:])
        perplexity = model.get_metrics()[f"{name}_perplexity"]
        assert perplexity == pytest.approx(math.exp(numpy.mean(losses)), rel=1e-5)


@pytest.mark.parametrize("num_samples", [None, 20])
def test_every_parameter_gets_a_gradient(num_samples: int | None, tmp_path: Path) -> None:
    model = make_model(tmp_path, num_samples=num_samples).train()

    model(**tensors(model.vocab, SENTENCES))["loss"].backward()

    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.to_dense().any(), name
    sparse = {
        name for name, p in model.named_parameters() if p.grad is not None and p.grad.is_sparse
    }
    assert sparse == ({"softmax.weight", "softmax.bias"} if num_samples else set())


@pytest.mark.parametrize("num_samples", [None, 20])
def test_bfloat16_is_close_to_float32_in_training_and_not_used_at_evaluation(
    num_samples: int | None, tmp_path: Path
) -> None:
    # Many sentences, because the gradient of a token is another one where rounding changes the sign
    # of a sum before a ReLU.
    sentences = LINES[::4]
    losses, gradients, evaluated = [], [], []
    for dtype in ("float32", "bfloat16"):
        model = make_model(tmp_path, num_samples=num_samples, dtype=dtype).train()
        torch.manual_seed(0)
        loss = model(**tensors(model.vocab, sentences))["loss"]
        loss.backward()
        losses.append(loss.item())
        gradients.append({n: p.grad.to_dense() for n, p in model.named_parameters()})
        assert all(gradient.dtype == torch.float32 for gradient in gradients[-1].values())
        evaluated.append(model.eval()(**tensors(model.vocab, sentences))["loss"].item())

    assert losses[0] == pytest.approx(losses[1], rel=0.01)
    assert losses[0] != losses[1]
    for name, wide in gradients[0].items():
        narrow = gradients[1][name]
        assert torch.cosine_similarity(wide.flatten(), narrow.flatten(), dim=0) > 0.99, name
    assert evaluated[0] == evaluated[1]


@pytest.mark.parametrize("units", [False, True])
def test_training_in_auto_is_in_the_dtype_that_the_device_has_units_for(
    units: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elmo_tasks.kernels.frozen_product.has_bfloat16", lambda _: units)
    losses = {}
    for dtype in ("auto", "float32", "bfloat16"):
        model = make_model(tmp_path, dtype=dtype).train()
        torch.manual_seed(0)
        losses[dtype] = model(**tensors(model.vocab, SENTENCES))["loss"].item()

    assert losses["auto"] == losses["bfloat16" if units else "float32"]
    assert losses["auto"] != losses["float32" if units else "bfloat16"]


def test_the_bilm_is_left_alone_for_exactly_so_many_batches(tmp_path: Path) -> None:
    model = make_model(tmp_path, num_samples=20, num_softmax_batches=3).train()
    optimizer = DenseSparseAdam(list(model.named_parameters()), lr=0.01)
    changed = []
    for index in range(5):
        before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        if index == 2:
            # A recovered training goes on counting its batches; evaluation does not count.
            other = make_model(tmp_path, num_softmax_batches=3)
            other.load_state_dict(model.state_dict())
            assert other.train()._softmax_alone()
            model.eval()(**tensors(model.vocab, SENTENCES))
            model.train()
        optimizer.zero_grad()
        model(**tensors(model.vocab, SENTENCES))["loss"].backward()
        optimizer.step()
        after = model.state_dict()
        changed.append(
            {name.split(".")[0] for name in before if (before[name] != after[name]).any()}
        )

    softmax = {"softmax", "num_batches"}
    assert changed == [softmax, softmax, softmax, {*softmax, "bilm"}, {*softmax, "bilm"}]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"dtype": "float16"}, "dtype must be one of"),
        ({"bilm": make_bilm(make_options())}, "needs requires_grad: true"),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, Any], complaint: str) -> None:
    bilm = arguments.pop("bilm", None) or make_bilm(make_options(), requires_grad=True)

    with pytest.raises(ConfigurationError, match=complaint):
        ElmoLanguageModel(make_vocab(), bilm, **arguments)


def train(config: dict[str, Any], folder: Path) -> Path:
    train_model(Params(config), str(folder))
    return folder / "model.tar.gz"


def heldout_perplexity(archive_file: Path, path: Path) -> float:
    archive = load_archive(archive_file)
    loader = SentenceLoader(SentencesReader(), str(path), shuffle=False)
    loader.index_with(archive.model.vocab)
    return evaluate(archive.model, loader)["perplexity"]


def test_max_sentences_cuts_the_training_text_alone(tmp_path: Path) -> None:
    archive_file = train(shrunk("small", "{ max_sentences: 5 }"), tmp_path / "run")

    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    evaluated = evaluate_from_archive(archive_file, str(HELDOUT))["perplexity"]
    assert load_archive(archive_file).model.vocab.num_sentences == 5
    # A reader without a limit reads the whole text.
    whole = pytest.approx(heldout_perplexity(archive_file, HELDOUT), rel=1e-5)
    assert metrics["best_validation_perplexity"] == whole
    assert evaluated == whole


@pytest.fixture(scope="module")
def first_training(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trains a model from which other trainings go on, and returns its folder."""
    change = """{
      num_samples: null, min_count: 1, num_epochs: 8, dropout: 0,
      optimizer: { type: 'adam', lr: 0.01 }, scheduler: null, trainer+: { num_epochs: 8 },
    }"""
    folder = tmp_path_factory.mktemp("first") / "run"
    train(shrunk("small", change), folder)
    return folder


def from_archive(folder: Path, change: str = "{}") -> dict[str, Any]:
    return shrunk(
        "continue",
        f"""{{
          from_bilm: null,
          from_archive: '{folder}/model.tar.gz',
          options: import '{folder}/options.json',
          num_samples: null,
        }} + {change}""",
    )


def test_a_training_goes_on_from_an_archive_and_needs_it_no_more(
    first_training: Path, tmp_path: Path
) -> None:
    first = tmp_path / "first"
    shutil.copytree(first_training, first)
    other = tmp_path / "other.txt"
    other.write_text("Goats read poems in the harbour .\nThe kite sings to the moon .\n" * 10)
    before = heldout_perplexity(first / "model.tar.gz", other)
    old = load_archive(first / "model.tar.gz").model
    paths = f"train_data_path: '{other}', validation_data_path: '{other}'"
    config = from_archive(first, f"{{ {paths}, dropout: 0, optimizer+: {{ lr: 0.02 }} }}")

    begun = Model.from_params(Params(copy.deepcopy(config["model"])), vocab=old.vocab).state_dict()
    archive_file = train(config, tmp_path / "second")
    shutil.rmtree(first)

    assert begun.pop("num_batches") == 0
    for name, tensor in begun.items():
        torch.testing.assert_close(tensor, old.state_dict()[name], rtol=0, atol=0)
    assert heldout_perplexity(archive_file, other) < 0.9 * before
    vocab = load_archive(archive_file).model.vocab
    words = old.vocab.get_index_to_token_vocabulary("tokens")
    assert vocab.get_index_to_token_vocabulary("tokens") == words
    # The vocabulary counts the new text, not that of the other training.
    assert vocab.num_sentences == 20


REFUSED_ARCHIVES = [
    (
        "{ vocabulary: { type: 'elmo_counted', min_count: { tokens: 2 } } }",
        'another vocabulary; .* "directory": ',
    ),
    (
        "{ options+: { lstm+: { dim: 9 } } }",
        r"another model than .*: .*bilm.*\[32, 4\]\) from checkpoint.* is torch.Size\(\[36, 4\]",
    ),
    (
        "{ options+: { lstm+: { n_layers: 3 } } }",
        "another model than .*: .*bilm.backward_stack.layers.2",
    ),
    (
        "{ model+: { pretrained_file: 'fixtures/archives/sst.tar.gz' } }",
        "sst.tar.gz has another vocabulary",
    ),
]


@pytest.mark.parametrize(("change", "complaint"), REFUSED_ARCHIVES)
def test_an_archive_that_does_not_fit_is_refused(
    change: str, complaint: str, first_training: Path, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        train(from_archive(first_training, change), tmp_path / "second")


def test_own_pair_is_taken() -> None:
    options = f"import '{ROOT}/fixtures/bilm/options.json'"

    config = shrunk(
        "continue", f"{{ from_bilm: {{ options: {options}, pretrained_file: 'w.hdf5' }} }}"
    )

    assert config["model"]["bilm"]["pretrained_file"] == "w.hdf5"


def grammar_loader(path: Path, seed: int, num_sentences: int, **arguments: Any) -> CorpusLoader:
    sentences = islice(grammar.sentences(seed), num_sentences)
    path.write_text("".join(f"{' '.join(words)}\n" for words in sentences), encoding="utf-8")
    return SentenceLoader(SentencesReader(), str(path), **arguments)


def test_perplexity_comes_near_that_of_a_known_grammar(tmp_path: Path) -> None:
    train_loader = grammar_loader(tmp_path / "train", 1, 1800, batch_tokens=192)
    heldout = grammar_loader(tmp_path / "heldout", 2, 1000, shuffle=False)
    vocab = CountedVocabulary.from_corpus(train_loader.iter_instances())
    for loader in (train_loader, heldout):
        loader.index_with(vocab)
    torch.manual_seed(0)
    shape = {"projection_dim": 16, "dim": 32, "filters": [[1, 8], [2, 16]], "n_layers": 1}
    bilm = make_bilm(make_options(**shape), requires_grad=True)
    model = ElmoLanguageModel(vocab, bilm, dropout=0.0)
    optimizer = DenseSparseAdam(list(model.named_parameters()))
    untrained = evaluate(model, heldout)

    num_epochs, rate = 5, 0.02
    num_batches = num_epochs * len(train_loader)
    for index, batch in enumerate(chain.from_iterable(train_loader for _ in range(num_epochs))):
        for group in optimizer.param_groups:
            group["lr"] = rate * max(0.01, 1 - index / num_batches)
        optimizer.zero_grad()
        model.train()(**batch)["loss"].backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.get_metrics(reset=True)

    trained = evaluate(model, heldout)
    for name in ("forward_perplexity", "backward_perplexity"):
        # An untrained model chooses among the words, two boundaries and the unknown word.
        assert untrained[name] == pytest.approx(len(grammar.words()) + 3, rel=0.1)
        assert trained[name] == pytest.approx(grammar.perplexity(), rel=0.05)


def test_a_bilm_of_words_is_trained_exported_read_and_scores(tmp_path: Path) -> None:
    texts = [["the", "sea", "and", "the", "zzz"], ["a", "boat"]]
    run = tmp_path / "run"
    config = "{ filters: null, start_from_vectors: 'fixtures/vectors.txt' }"
    train_model(Params(shrunk("mini", config)), str(run))
    allennlp("elmo-export", run / "model.tar.gz", tmp_path / "exported")
    allennlp("elmo-pack", run / "model.tar.gz", tmp_path / "packed")

    model = load_archive(run / "model.tar.gz").model.eval()
    layers = model.bilm(batch_char_ids(texts)).layers
    for folder in (run, tmp_path / "exported", tmp_path / "packed"):
        bilm = make_bilm(folder / "options.json", folder / "weights.hdf5", state="reset")
        tolerance = 1e-5 if folder != tmp_path / "packed" else 2e-2
        torch.testing.assert_close(
            bilm(batch_char_ids(texts)).layers, layers, atol=tolerance, rtol=tolerance
        )
    scores = LanguageModel.from_pretrained(tmp_path / "packed").score(texts)

    words = (run / "vocab.txt").read_text().splitlines()
    assert words[0] == "<UNK>" and {"<S>", "</S>", "the"} <= set(words)
    # Unknown words share a vector.
    encoder = ElmoEncoder.from_pretrained(run)
    x = encoder([["zzz", "yyy", "the"]])["word_emb"][0]
    assert torch.equal(x[0], x[1]) and not torch.equal(x[0], x[2])
    assert [len(score.forward) for score in scores] == [5, 2]


def test_directions_that_are_read_at_once_have_the_same_outputs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ids = ids_of(sentences(3, 1, 5))
    found = {}
    for divides in (True, False):
        monkeypatch.setattr("elmo_tasks.common.threads._divides", divides)
        with torch.no_grad():
            found[divides], _ = predict(fixture_bilm(), ids)

    for at_once, in_turn in zip(found[True], found[False], strict=True):
        torch.testing.assert_close(at_once, in_turn)
