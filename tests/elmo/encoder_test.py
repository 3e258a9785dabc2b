import copy
import io
import math
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from allennlp.data import Token

import elmo_tasks.elmo.sentence_layers
from elmo_tasks import ElmoEncoder
from elmo_tasks.bilm import BiLm, make_bilm
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.elmo import ElmoMix
from elmo_tasks.readers.tokenizers import ElmoSpacyTokenizer
from tests.helpers.archives import FIXTURE, classifier, language_model, set_mixes, sst
from tests.helpers.bilm_examples import ids_of
from tests.helpers.reference_bilm import FIXTURE_FILES, ReferenceBiLm, random_files

TEXT = ["The boat left the bank .", "Banks lend", "", "It 's na\u00efve !", "A"]
TOKENS = [line.split() for line in TEXT]

close = {"atol": 1e-5, "rtol": 0}


@pytest.fixture(scope="module")
def bilm() -> BiLm:
    return make_bilm(*FIXTURE_FILES).eval()


@pytest.fixture(scope="module")
def encoder(bilm: BiLm) -> ElmoEncoder:
    return ElmoEncoder(bilm)


def assert_alike(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert list(one) == list(other)
    for name in one:
        torch.testing.assert_close(one[name], other[name], msg=name, **close)


# Outputs.


def test_outputs_have_the_names_and_shapes_of_the_module_on_tensorflow_hub(
    encoder: ElmoEncoder,
) -> None:
    outputs = encoder(TEXT)

    assert {name: tuple(output.shape) for name, output in outputs.items()} == {
        "word_emb": (5, 6, 16),
        "lstm_outputs1": (5, 6, 32),
        "lstm_outputs2": (5, 6, 32),
        "elmo": (5, 6, 32),
        "default": (5, 32),
        "mask": (5, 6),
    }
    assert outputs["mask"].sum(dim=1).tolist() == [6, 2, 0, 4, 1]
    assert not any(output.requires_grad for output in outputs.values())


def test_outputs_are_the_layers_that_the_paper_defines(encoder: ElmoEncoder) -> None:
    reference = ReferenceBiLm(*FIXTURE_FILES)
    # Shape: (num_layers, length, 2 * projection_dim)
    layers, _ = reference.layers(TOKENS[3], reference.snapshot())

    as_numpy = ElmoEncoder(encoder.bilm, as_numpy=True)
    outputs, (_, one) = as_numpy(TEXT), as_numpy.iterate(TEXT[2:4])

    assert all(isinstance(output, numpy.ndarray) for output in outputs.values())
    assert outputs["elmo"].dtype == numpy.float32 and outputs["mask"].dtype == bool
    numpy.testing.assert_allclose(one["elmo"], outputs["elmo"][3, :4], atol=1e-5)
    for name, expected in {
        "word_emb": layers[0, :, :16],
        "lstm_outputs1": layers[1],
        "lstm_outputs2": layers[2],
        "elmo": layers.mean(axis=0),
    }.items():
        numpy.testing.assert_allclose(outputs[name][3, :4], expected, atol=1e-5)
    mean = layers.mean(axis=(0, 1))
    numpy.testing.assert_allclose(outputs["default"][3], mean, atol=1e-5)


def test_there_may_be_three_lstm_layers(tmp_path: Path) -> None:
    bilm = make_bilm(*random_files(tmp_path, n_layers=3)).eval()

    outputs = ElmoEncoder(bilm)(TEXT[:1])

    torch.testing.assert_close(outputs["lstm_outputs3"], bilm(ids_of(TOKENS[:1])).layers[:, 3])


def test_there_may_be_no_sentences_or_none_with_tokens(encoder: ElmoEncoder) -> None:
    assert encoder([])["elmo"].shape == (0, 0, 32)
    assert encoder(["", " "])["lstm_outputs1"].shape == (2, 0, 32)
    assert encoder([""])["default"].tolist() == [[0] * 32]
    assert list(encoder.iterate([])) == []
    [one] = encoder.iterate(["dog"])
    torch.testing.assert_close(one["default"], one["elmo"][0])


# Streams.


def test_a_stream_is_read_only_as_far_as_its_outputs_are_asked_for(
    encoder: ElmoEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elmo_tasks.elmo.sentence_layers, "WINDOW_TOKENS", 40)
    read = 0

    def endless() -> Any:
        nonlocal read
        while True:
            read += 1
            yield TEXT[read % len(TEXT)]

    outputs = encoder.iterate(endless())

    for num_sentences in range(1, 100):
        assert next(outputs)["elmo"].shape == (len(TOKENS[num_sentences % len(TEXT)]), 32)
        assert read <= num_sentences + 40


def test_iterate_gives_each_sentence_without_padding(encoder: ElmoEncoder) -> None:
    together = encoder(TEXT)

    for row, (words, outputs) in enumerate(
        zip(TOKENS, encoder.iterate(io.StringIO("\n".join(TEXT))))
    ):
        assert_alike(
            outputs,
            {
                name: output[row] if name == "default" else output[row, : len(words)]
                for name, output in together.items()
            },
        )


# Inputs.


def test_all_ways_to_give_the_same_sentences_give_the_same_outputs(encoder: ElmoEncoder) -> None:
    strings = encoder(TEXT)
    longest = max(map(len, TOKENS))
    padded = [words + [""] * (longest - len(words)) for words in TOKENS]
    lengths = [len(words) for words in TOKENS]

    for form in (
        encoder(TOKENS),
        encoder(padded),
        encoder(padded, lengths),
        encoder(numpy.array(padded).tolist(), numpy.array(lengths)),
        encoder(padded, torch.tensor(lengths)),
        encoder([f" {line}  \n" for line in TEXT]),
    ):
        assert_alike(form, strings)


def test_lengths_say_what_is_padding(encoder: ElmoEncoder) -> None:
    outputs = encoder([["A", "", "x"], ["It", "is", "?"]], lengths=[1, 2])

    # The outputs are as long as the padded sentences.
    assert outputs["mask"].tolist() == [[True, False, False], [True, True, False]]
    layers = encoder.bilm(ids_of([["It", "is"]])).layers
    torch.testing.assert_close(outputs["lstm_outputs2"][1:, :2], layers[:, 2], **close)


def test_strings_are_cut_by_a_tokenizer_if_one_is_given(bilm: BiLm, encoder: ElmoEncoder) -> None:
    by_rules = ElmoEncoder(bilm, tokenizer=ElmoSpacyTokenizer())

    assert by_rules.tokenize("It's na\u00efve!\n") == ["It", "'s", "na\u00efve", "!"]
    assert_alike(by_rules(["It's na\u00efve!"]), encoder(["It 's na\u00efve !"]))
    # Tokens are not cut again, and white space cuts a text by default.
    assert_alike(by_rules([["It's"]]), encoder([" It's\t"]))
    # A function may be a tokenizer, and its tokens may be objects with a text.
    for cut in (lambda text: iter(text.split("-")), lambda text: map(Token, text.split("-"))):
        assert ElmoEncoder(bilm, tokenizer=cut).tokenize("a-c") == ["a", "c"]


# BiLMs and mixes.


def test_the_bilm_is_base_by_default() -> None:
    base, default = ElmoEncoder.from_pretrained("base"), ElmoEncoder.from_pretrained()

    assert base(TEXT)["elmo"].shape == (5, 6, 256)
    assert default.bilm.fingerprint() == base.bilm.fingerprint()


def test_anything_with_a_bilm_is_given_to_from_pretrained(tmp_path: Path, bilm: BiLm) -> None:
    (tmp_path / "task").mkdir()
    archive = language_model(tmp_path)
    sst(tmp_path / "task", "both")
    of_archive = ElmoEncoder.from_pretrained(archive)(TEXT)
    bilm.to_files(tmp_path / "exported")

    assert_alike(ElmoEncoder.from_pretrained(tmp_path)(TEXT), of_archive)
    for folder in (tmp_path / "exported", FIXTURE_FILES[1]):
        assert_alike(ElmoEncoder.from_pretrained(folder)(TEXT), ElmoEncoder(bilm)(TEXT))
    # The folder of a language model's training is that of its biLM.
    bilm.to_files(tmp_path)
    assert ElmoEncoder.from_pretrained(tmp_path).bilm.fingerprint() == bilm.fingerprint()
    of_task = ElmoEncoder.from_pretrained(tmp_path / "task", place="input")
    assert of_task.bilm.fingerprint() == bilm.fingerprint()


def test_no_mix_of_another_bilm_is_left_in_a_folder(tmp_path: Path, bilm: BiLm) -> None:
    ElmoEncoder.from_pretrained("mini", layers="last").save_pretrained(tmp_path)

    bilm.to_files(tmp_path)

    assert_alike(ElmoEncoder.from_pretrained(tmp_path)(TEXT), ElmoEncoder(bilm)(TEXT))
    assert not (tmp_path / "mix.json").exists()


def test_what_cannot_be_written_leaves_the_encoder_that_is_there(
    tmp_path: Path, bilm: BiLm
) -> None:
    encoder = ElmoEncoder(bilm, ElmoMix(3, "last"))
    encoder.save_pretrained(tmp_path)
    large = copy.deepcopy(bilm)
    large.char_cnn.embedding.data[5, 0] = 1e6

    with pytest.raises(ConfigurationError, match="float16"):
        large.to_files(tmp_path, "float16")

    assert_alike(ElmoEncoder.from_pretrained(tmp_path)(TEXT), encoder(TEXT))
    (tmp_path / "encoder.pkl").write_text("mine")
    with pytest.raises(ConfigurationError, match="has encoder.pkl of another biLM; whoever opens"):
        large.to_files(tmp_path)


@pytest.mark.parametrize(
    "settings", [{}, {"layers": "concat"}, {"layers": "last"}, {"layer_norm": "sentence"}], ids=str
)
def test_a_saved_encoder_gives_the_same_vectors(
    tmp_path: Path, bilm: BiLm, settings: dict[str, Any]
) -> None:
    mix = ElmoMix(3, **settings)
    with torch.no_grad():
        mix.gamma.fill_(0.7)
        if mix.scalar_parameters is not None:
            mix.scalar_parameters.copy_(torch.tensor([0.1, -2.0, 3.0]))
    encoder = ElmoEncoder(bilm, mix)

    encoder.save_pretrained(tmp_path / "saved")
    again = ElmoEncoder.from_pretrained(tmp_path / "saved")
    again.save_pretrained(tmp_path / "saved")

    expected = encoder(TEXT)
    for name, output in ElmoEncoder.from_pretrained(tmp_path / "saved")(TEXT).items():
        assert torch.equal(output, expected[name]), name
    mean = ElmoEncoder.from_pretrained(tmp_path / "saved", mix=ElmoMix(3))
    assert_alike(mean(TEXT), ElmoEncoder(bilm)(TEXT))


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(ConfigurationError, match="mini is a biLM without mixes: place must be le"):
        ElmoEncoder.from_pretrained("mini", place="input")
    with pytest.raises(ConfigurationError, match="batch_tokens"):
        ElmoEncoder.from_pretrained("mini", batch_tokens=0)
    with pytest.raises(FileNotFoundError, match="missing.tar.gz"):
        ElmoEncoder.from_pretrained("./missing.tar.gz")


def a_mix(weights: list[float], gamma: float, **settings: Any) -> ElmoMix:
    mix = ElmoMix(3, **settings)
    mix.load_state_dict(
        {"scalar_parameters": torch.tensor(weights).log(), "gamma": torch.tensor([gamma])}
    )
    return mix


def test_the_mix_of_an_archive_is_chosen_by_its_place(tmp_path: Path, encoder: ElmoEncoder) -> None:
    folder = sst(tmp_path, "both").parent
    weights = [[math.log(share) for share in (0.5, 0.25, 0.25)], [0.0, math.log(2), math.log(7)]]
    set_mixes(folder, input_mix=(weights[0], 2.0), output_mix=(weights[1], 1.0))

    outputs = ElmoEncoder.from_pretrained(folder, place="output")(TEXT)

    layers = list(encoder.layers(TOKENS))
    for row, words in enumerate(TOKENS):
        x, h1, h2 = layers[row]
        elmo = 0.1 * x + 0.2 * h1 + 0.7 * h2
        torch.testing.assert_close(outputs["elmo"][row, : len(words)], elmo, **close)
    assert_alike({**outputs, "elmo": 0, "default": 0}, {**encoder(TEXT), "elmo": 0, "default": 0})
    assert ElmoEncoder.from_pretrained(folder, "input").mix.gamma.item() == 2
    mix = a_mix([0.1, 0.2, 0.7], 3.0)
    assert ElmoEncoder.from_pretrained(folder, mix=mix).mix.gamma.item() == 3
    assert ElmoEncoder.from_pretrained(folder, layers="last").mix.weights.tolist() == [0, 0, 1]
    with pytest.raises(ConfigurationError, match="either a mix or its place"):
        ElmoEncoder.from_pretrained(folder, "input", mix=mix)
    for place in (None, "middle"):
        with pytest.raises(ConfigurationError, match=f"places input, output: .* not {place!r}"):
            ElmoEncoder.from_pretrained(folder, place)


def test_the_one_mix_of_an_archive_needs_no_place(tmp_path: Path) -> None:
    elmo = {"type": "elmo_bilm", "bilm": FIXTURE, "mix": {"layers": 1}}
    archive = classifier(tmp_path, elmo=elmo)

    outputs = ElmoEncoder.from_pretrained(archive)(TEXT)

    torch.testing.assert_close(outputs["elmo"], outputs["lstm_outputs1"])
    assert_alike(ElmoEncoder.from_pretrained(archive, "input")(TEXT), outputs)


def test_a_mix_normalizes_each_sentence_alone_and_is_left_as_it_was(bilm: BiLm) -> None:
    mix = a_mix([0.5, 0.2, 0.3], 1.0, layer_norm="batch", dropout=0.5)
    encoder = ElmoEncoder(bilm, mix)

    outputs = encoder(TEXT)
    (alone,) = encoder.iterate(TEXT[:1])

    torch.testing.assert_close(outputs["elmo"][0], alone["elmo"], **close)
    assert mix.layer_norm == "batch" and mix.training
    # The statistics of a batch of one sentence are those of the sentence.
    layers = bilm(ids_of(TOKENS[:1]))
    torch.testing.assert_close(alone["elmo"], mix.eval()(*layers)[0], **close)


@pytest.mark.parametrize(
    ("layers", "output"), [("all", "elmo"), ("last", "lstm_outputs2"), (1, "lstm_outputs1")]
)
def test_vectors_are_the_outputs_of_the_encoder(
    layers: str | int, output: str, encoder: ElmoEncoder
) -> None:
    expected = [each[output] for each in encoder.iterate(TOKENS)]

    chosen = ElmoEncoder.from_pretrained(FIXTURE_FILES, layers=layers)

    for sentences in (TOKENS, TEXT):
        torch.testing.assert_close(list(chosen.vectors(sentences)), expected)
