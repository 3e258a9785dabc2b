from pathlib import Path

import pytest
from allennlp.models import load_archive

from elmo_tasks import ElmoEncoder, LanguageModel
from elmo_tasks.archives.publish import publish
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.language_model.loaders import SentenceLoader
from elmo_tasks.language_model.model import softmax_of
from elmo_tasks.readers.sentences import SentencesReader
from tests.helpers.archives import SENTENCES, language_model
from tests.helpers.command_line import allennlp
from tests.helpers.language_models import limit_words


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return language_model(tmp_path_factory.mktemp("run"))


def test_a_published_language_model_scores_as_the_trained_one(
    archive: Path, tmp_path: Path
) -> None:
    published = publish(archive, tmp_path / "published")

    trained = load_archive(archive).model
    exact = LanguageModel(trained.bilm, softmax_of(trained)).perplexity(SENTENCES)
    model = LanguageModel.from_pretrained(tmp_path / "published")
    found = model.perplexity(SENTENCES)
    assert found.forward == pytest.approx(exact.forward, rel=0.01)
    assert found.backward == pytest.approx(exact.backward, rel=0.01)
    assert found.num_unknown == exact.num_unknown
    assert published.num_words == trained.softmax.num_classes - 1
    names = {path.name for path in (tmp_path / "published").iterdir()}
    assert names == {*("options.json", "weights.hdf5", "softmax.safetensors", "softmax_words.txt")}
    # The folder is that of a biLM, too.
    encoder = ElmoEncoder.from_pretrained(tmp_path / "published")
    assert encoder(["the dog"])["elmo"].shape[:2] == (1, 2)


def test_a_softmax_in_float32_gives_the_perplexities_of_an_evaluation(
    archive: Path, tmp_path: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("\n".join([*SENTENCES, "a zebra saw the dog", ""]))
    model = load_archive(archive).model.eval()
    loader = SentenceLoader(SentencesReader(), str(text), shuffle=False)
    loader.index_with(model.vocab)

    for batch in loader:
        model(**batch)
    metrics = model.get_metrics()
    found = LanguageModel(model.bilm, softmax_of(model)).perplexity(text.read_text().splitlines())

    # Words that the text has once, and the zebra.
    assert found.num_unknown == 6
    assert found.forward == pytest.approx(metrics["forward_perplexity"], rel=1e-5)
    assert found.backward == pytest.approx(metrics["backward_perplexity"], rel=1e-5)
    assert found.mean == pytest.approx(metrics["perplexity"], rel=1e-5)


def test_words_may_be_bounded(archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    allennlp("elmo-pack", archive, tmp_path / "lm", "--max-words", 5)

    model = LanguageModel.from_pretrained(tmp_path / "lm")
    assert len(model.softmax.words) == 6 and "Words: 5." in capsys.readouterr().out
    trained = load_archive(archive).model
    exact = LanguageModel(trained.bilm, limit_words(softmax_of(trained), 5))
    expected, found = exact.perplexity(SENTENCES), model.perplexity(SENTENCES)
    assert found.mean == pytest.approx(expected.mean, rel=0.01)
    assert found.num_unknown == expected.num_unknown


def test_a_language_model_has_its_own_bilm(archive: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="written with its own biLM"):
        publish(archive, tmp_path, bilm="base")
