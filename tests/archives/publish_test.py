import json
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.predictors import Predictor
from safetensors.torch import load_file, save_file

import elmo_tasks
from elmo_tasks import ElmoEncoder
from elmo_tasks.archives.elmo_of_model import load_model
from elmo_tasks.archives.known_models import KNOWN_MODELS, model_path
from elmo_tasks.archives.open_archive import open_archive
from elmo_tasks.archives.publish import _write_vocabulary, publish
from elmo_tasks.archives.published_weights import read_published, write_published
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.file_names import PUBLISHED_WEIGHTS
from elmo_tasks.common.hashed_file import write_hashed
from elmo_tasks.elmo.locate import KNOWN_BILMS
from elmo_tasks.language_model.scoring.language_model import LanguageModel
from tests.helpers import archives
from tests.helpers.archives import ROOT, task_model
from tests.helpers.command_line import allennlp, our_command
from tests.helpers.hub_server import serve_hub
from tests.helpers.reference_bilm import FIXTURE_FILES, random_files, random_weights, write_files

TASKS = ("sst", "snli", "squad", "ner")
INPUTS: dict[str, dict[str, Any]] = {
    "sst": {"sentence": "A film of charm."},
    "ner": {"tokens": ["Mary", "lives", "in", "York", "."]},
    "snli": {"premise": "A girl feeds two ducks.", "hypothesis": "She isn't asleep."},
    "squad": {"passage": "An owl sleeps by day.", "question": "When does it sleep?"},
}


@pytest.fixture(scope="module", autouse=True)
def tiny() -> Iterator[None]:
    """Gives the biLM of the fixtures a name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(KNOWN_BILMS, "tiny", str(FIXTURE_FILES[1]))
        yield


@pytest.fixture(scope="module", params=TASKS)
def task(request: pytest.FixtureRequest) -> str:
    return request.param


def make(folder: Path, task: str) -> tuple[Path, Path]:
    """Returns an archive, and the folder to which it was published."""
    (folder / "run").mkdir()
    archive = task_model(folder / "run", task, "both")
    publish(archive, folder / "published", bilm="tiny")
    return archive, folder / "published"


@pytest.fixture(scope="module")
def made(task: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make(tmp_path_factory.mktemp(task), task)


@pytest.fixture(scope="module")
def sst(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make(tmp_path_factory.mktemp("sst"), "sst")


_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")


def halved(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.half().float() if tensor.is_floating_point() else tensor


# What is written.


def test_a_published_model_has_the_weights_in_float16_and_nearly_the_same_answers(
    task: str, made: tuple[Path, Path]
) -> None:
    archive, folder = map(open_archive, made)

    expected, found = archive.model.state_dict(), folder.model.state_dict()
    assert found.keys() == expected.keys()
    for name, tensor in found.items():
        exact = name.startswith("text_embedder.bilm.")
        assert tensor.equal(expected[name] if exact else halved(expected[name])), name
    one, other = (
        json.dumps(Predictor.from_archive(each).predict_json(INPUTS[task]))
        for each in (archive, folder)
    )
    numbers = [[float(number) for number in _NUMBER.findall(text)] for text in (one, other)]
    assert numbers[1] == pytest.approx(numbers[0], abs=0.01)
    assert _NUMBER.sub("", other) == _NUMBER.sub("", one)


def test_the_folder_has_what_loading_needs_and_no_more(sst: tuple[Path, Path]) -> None:
    archive, folder = sst
    files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    config = json.loads((folder / "config.json").read_text())
    bilm = config["model"]["text_embedder"]["bilm"]
    names = set(load_file(folder / PUBLISHED_WEIGHTS))

    assert {name for name in files if not name.startswith("vocabulary/")} == {
        *("config.json", "weights.safetensors")
    }
    assert "vocabulary/tokens.txt" in files and "vocabulary/.lock" not in files
    with tarfile.open(archive) as tar:
        assert (folder / PUBLISHED_WEIGHTS).stat().st_size < tar.getmember("weights.th").size / 2
    assert not {"trainer", "train_data_path", "validation_data_path"} & config.keys()
    assert "pretrained_file" not in bilm and "options" in bilm
    assert names and all(
        name.startswith("text_embedder.bilm.state.") or ".bilm." not in name for name in names
    )


def test_a_bilm_without_a_name_is_written(sst: tuple[Path, Path], tmp_path: Path) -> None:
    archive, _ = sst

    published = publish(archive, tmp_path)

    assert published.bilms == {} and published.written_bilms == ["text_embedder.bilm"]
    found, expected = load_model(tmp_path).state_dict(), load_model(archive).state_dict()
    for name, tensor in found.items():
        assert tensor.equal(halved(expected[name])), name


def test_the_name_in_the_config_is_that_of_the_bilm(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    task_model(tmp_path / "run", "sst", "input")
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    options = json.loads(FIXTURE_FILES[0].read_text())
    bilm = {"options": options, "pretrained_file": "tiny", "store": {"path": "x"}}
    config["model"]["text_embedder"]["bilm"] = bilm
    (tmp_path / "run" / "config.json").write_text(json.dumps(config))

    published = publish(tmp_path / "run", tmp_path / "sst")

    assert [name for name, _ in published.bilms.values()] == ["tiny"]
    written = json.loads((tmp_path / "sst" / "config.json").read_text())["model"]["text_embedder"]
    assert written["bilm"]["pretrained_file"] == "tiny" and "store" not in written["bilm"]


def test_words_may_be_bounded(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    archive = task_model(tmp_path / "run", "sst", "baseline")
    whole = load_model(archive)
    size = whole.vocab.get_vocab_size("tokens")  # type: ignore[operator,union-attr]

    published = publish(archive, tmp_path / "published", max_words=5)

    model: Any = load_model(tmp_path / "published")
    assert size > 9 and published.num_words == 5
    # More words than there are change nothing.
    assert publish(archive, tmp_path / "whole", max_words=10**6).num_words == size - 2
    words = [whole.vocab.get_token_from_index(k, "tokens") for k in range(size)]  # type: ignore
    assert [model.vocab.get_token_from_index(k, "tokens") for k in range(7)] == words[:7]
    assert model.vocab.get_vocab_size("tokens") == 7
    key = "text_embedder.words.token_embedder_tokens.weight"
    assert model.state_dict()[key].equal(halved(whole.state_dict()[key][:7]))
    # What has only these words has the same answer.
    known = {"tokens": [words[3], words[6], words[2]]}
    one, other = (
        elmo_tasks.load(each).predict(known) for each in (archive, tmp_path / "published")
    )
    for name, probability in one.probabilities.items():
        assert other.probabilities[name] == pytest.approx(probability, abs=1e-3)


@pytest.mark.parametrize("max_words", [2, 5])
def test_words_with_any_characters_are_kept(tmp_path: Path, max_words: int) -> None:
    words = ["a\rb", "c\nd", "e\u2028f", "\x85", "g\r\nh"]
    vocab = Vocabulary(tokens_to_add={"tokens": words, "labels": ["x\ry"]})
    vocab.save_to_files(str(tmp_path / "whole"))
    whole = Vocabulary.from_files(tmp_path / "whole").get_index_to_token_vocabulary("tokens")

    _write_vocabulary(vocab, tmp_path / "vocabulary", max_words)

    found = Vocabulary.from_files(tmp_path / "vocabulary")
    kept = {index: word for index, word in whole.items() if index < max_words + 2}
    assert found.get_index_to_token_vocabulary("tokens") == kept
    assert found.get_token_from_index(0, "labels") == "x\ry"


# Ways to load it.


def test_every_command_takes_the_name_of_a_model(
    sst: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setitem(KNOWN_MODELS, "my-sst", str(sst[1]))
    (tmp_path / "in.txt").write_text("A film of charm.\n")
    metrics = []

    for archive in (sst[0], "my-sst"):
        out = tmp_path / "metrics.json"
        our_command(
            *("evaluate", archive, ROOT / "fixtures/sst.txt", "--output-file", out, "--force")
        )
        metrics.append(json.loads(out.read_text()))
    capsys.readouterr()
    our_command("predict", "my-sst", tmp_path / "in.txt")
    allennlp("elmo-mix", "my-sst")
    allennlp("elmo-export", "my-sst", tmp_path / "exported")

    assert metrics[1] == pytest.approx(metrics[0], abs=1e-3)
    assert "\tA film of charm .\n" in capsys.readouterr().out
    exported = ElmoEncoder.from_pretrained(tmp_path / "exported").bilm
    expected = ElmoEncoder.from_pretrained(FIXTURE_FILES).bilm
    for name, tensor in exported.weights().items():
        assert torch.allclose(tensor, expected.weights()[name], atol=1e-6), name
    assert ElmoEncoder.from_pretrained("my-sst", "input").mix.num_layers == 3
    assert ElmoEncoder.from_pretrained("my-sst", "output").mix.num_layers == 3


def test_a_model_comes_from_a_repository(
    sst: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        str(path.relative_to(sst[1])): path.read_bytes()
        for path in sst[1].rglob("*")
        if path.is_file()
    }
    bilm = {path.name: path.read_bytes() for path in FIXTURE_FILES}
    with serve_hub(tmp_path / "cache", monkeypatch) as hub:
        hub.add("owner/bilm", bilm)
        publish(sst[0], tmp_path / "published", bilm="owner/bilm")
        hub.add("owner/sst", {**files, "weights.th": b"x"})
        hub.add(
            "owner/both",
            {**files, PUBLISHED_WEIGHTS: (tmp_path / "published" / PUBLISHED_WEIGHTS).read_bytes()},
        )
        expected = elmo_tasks.load(sst[1]).predict("A film.")

        for name in ("owner/sst", "owner/both@main"):
            assert elmo_tasks.load(name).predict("A film.") == expected
        assert ElmoEncoder.from_pretrained("owner/sst", "input").bilm.num_layers == 3
        assert "weights.th" not in hub.fetched_files()


def test_a_file_or_folder_comes_before_a_name(
    sst: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(KNOWN_MODELS, "here", str(sst[1]))
    # The data of a task may be in a folder of its name.
    (tmp_path / "here").mkdir()
    assert model_path("here") == str(sst[1])

    (tmp_path / "here" / "config.json").write_text("{}")

    assert model_path("here") == "here"


def test_an_unknown_name_is_refused_with_the_known_ones(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(KNOWN_MODELS, "sentiment", str(tmp_path))

    with pytest.raises(ConfigurationError, match="mean 'sentiment'"):
        open_archive("sentimnt")


# What does not fit.


def test_another_bilm_is_refused(
    sst: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other").mkdir()
    options = json.loads(FIXTURE_FILES[0].read_text())
    alike = write_files(tmp_path / "alike", options, random_weights(options))

    for (_, weights), found in (
        (random_files(tmp_path / "other"), "other options"),
        (alike, r"the fingerprint \w{16}"),
    ):
        monkeypatch.setitem(KNOWN_BILMS, "tiny", str(weights))
        message = (
            r"was trained with other weights of the biLM tiny \(fingerprint \w{16}\) than tiny has "
            rf"now \({found}\): "
        )
        with pytest.raises(ConfigurationError, match=message):
            open_archive(sst[1])
    monkeypatch.delitem(KNOWN_BILMS, "tiny")
    with pytest.raises(ConfigurationError, match="needs the biLM 'tiny', which is neither known"):
        open_archive(sst[1])


def test_a_name_that_is_not_that_of_the_bilm_is_refused(
    sst: tuple[Path, Path], tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match="the model has no biLM with the weights of mini"):
        publish(sst[0], tmp_path / "published", bilm="mini")
    with pytest.raises(ConfigurationError, match=f"{FIXTURE_FILES[1]} is not the name of a biLM"):
        publish(sst[0], tmp_path / "published", bilm=str(FIXTURE_FILES[1]))
    with pytest.raises(ConfigurationError, match="max_words"):
        publish(sst[0], tmp_path / "published", max_words=0)
    assert not (tmp_path / "published").exists()
    with pytest.raises(ConfigurationError, match="published has files; choose another folder"):
        publish(sst[0], sst[1])


def test_a_damaged_file_is_refused(sst: tuple[Path, Path], tmp_path: Path) -> None:
    whole = (sst[1] / PUBLISHED_WEIGHTS).read_bytes()
    path = tmp_path / PUBLISHED_WEIGHTS
    positions = [*range(0, 200, 7), *range(200, len(whole), len(whole) // 60)]

    for position in positions:
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0x41]) + whole[position + 1 :])
        with pytest.raises(ConfigurationError, match=f"^{path} "):
            read_published(path, torch.nn.Module())
    for length in (0, 5, 100, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ConfigurationError, match=f"{path} is damaged, or not a safetensors"):
            read_published(path, torch.nn.Module())


def changed(published: Path, path: Path, bilms: Any) -> None:
    """Writes a published file with other biLMs, and with the hash that belongs to them."""
    tensors = dict(sorted(load_file(published / PUBLISHED_WEIGHTS).items()))
    write_hashed(path, tensors, {"bilms": bilms})


_DAMAGED = "is damaged, or was not written by elmo-tasks pack"
_NO_NAME = "which is neither known nor the name of a"

# The biLMs that a file says it has, and words of the message.
BILMS: list[tuple[Any, str]] = [
    ([], _DAMAGED),
    ([1], _DAMAGED),
    ({"a": 1}, _DAMAGED),
    ({"a": {"name": "tiny"}}, _DAMAGED),
    ({"a": {"name": 1, "fingerprint": "0"}}, _NO_NAME),
    # A path in place of a name is not read.
    *(
        ({"text_embedder.bilm": {"name": name, "fingerprint": "0"}}, _NO_NAME)
        for name in (str(FIXTURE_FILES[1]), "https://127.0.0.1/weights.hdf5", "../weights.hdf5")
    ),
]


@pytest.mark.parametrize(("bilms", "words"), BILMS)
def test_a_file_that_does_not_say_its_bilms_is_refused(
    sst: tuple[Path, Path], tmp_path: Path, bilms: Any, words: str
) -> None:
    changed(sst[1], tmp_path / PUBLISHED_WEIGHTS, bilms)

    with pytest.raises(ConfigurationError, match=words):
        read_published(tmp_path / PUBLISHED_WEIGHTS, torch.nn.Module())


def test_a_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    save_file({"a": torch.zeros(3)}, tmp_path / PUBLISHED_WEIGHTS)

    with pytest.raises(ConfigurationError, match=_DAMAGED):
        read_published(tmp_path / PUBLISHED_WEIGHTS, torch.nn.Module())


def test_a_number_too_large_for_float16_is_refused(tmp_path: Path) -> None:
    state = {"a": torch.tensor([1.0]), "b": torch.tensor([70000.0])}

    with pytest.raises(ConfigurationError, match="b has a number that is too large for float16"):
        write_published(tmp_path / PUBLISHED_WEIGHTS, state, {})

    assert not list(tmp_path.iterdir())


# The command.


def test_the_command_says_the_size(sst: tuple[Path, Path], tmp_path: Path, capsys: Any) -> None:
    folder = tmp_path / "published"

    allennlp("elmo-pack", sst[0], folder, "--bilm", "tiny", "--max-words", 3)

    said = capsys.readouterr().out
    assert re.search(rf"Wrote {folder}: \d\.\d\d MB\.", said)
    assert re.search(r"Left out: text_embedder.bilm, the biLM tiny, fingerprint \w{32}\.", said)
    assert len((folder / "vocabulary" / "tokens.txt").read_text().splitlines()) == 4


def test_the_models_of_the_package_are_small_and_whole() -> None:
    for name, path in KNOWN_MODELS.items():
        size = sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())
        assert size <= 12_000_000, name
        assert (Path(path) / "MODEL_CARD.md").exists()


def test_a_language_model_whose_text_has_the_escape_of_a_line_end_is_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        archives, "SENTENCES", [*archives.SENTENCES, "a cat @@NEWLINE@@ sleeps ."] * 2
    )
    archive = archives.language_model(tmp_path)

    publish(archive, tmp_path / "packed")

    words = (tmp_path / "packed" / "softmax_words.txt").read_text().split("\n")
    assert "@@NEWLINE@@" in words and "" not in words[:-1]
    (score,) = LanguageModel.from_pretrained(tmp_path / "packed").score(["a @@NEWLINE@@ ."])
    assert all(score.known)
