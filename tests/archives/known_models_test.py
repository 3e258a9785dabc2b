from pathlib import Path

import pytest

from elmo_tasks.archives import known_models
from elmo_tasks.archives.known_models import KNOWN_MODELS, model_path, name_archives
from elmo_tasks.common.errors import ConfigurationError


def test_the_first_use_of_a_model_says_what_its_data_forbid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    said = []
    for name in ("ner", KNOWN_MODELS["ner"], "snli", "sst"):
        # As in a new process.
        known_models._say_terms.cache_clear()
        model_path(name)
        said.append(capsys.readouterr().err)

    assert said[0].startswith(
        "ner was learnt from CoNLL-2003, whose text Reuters gives for research alone. Before you "
    )
    assert Path(said[0].split()[-1]).is_file()
    assert said[1:3] == ["", ""]
    assert said[3].startswith("sst was learnt from the Stanford Sentiment Treebank, ")


def test_where_nothing_can_be_written_a_process_says_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    known_models._say_terms.cache_clear()

    model_path("coref")
    model_path("coref")

    assert capsys.readouterr().err.count("coref was learnt from OntoGUM, some of whose") == 1


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["runs/sst/both"], ["both"]),
        (["runs/sst/both/model.tar.gz", "runs/snli/both"], ["sst/both", "snli/both"]),
        (["runs/sst/both", "runs/sst/moved.tar.gz"], ["both", "moved.tar.gz"]),
        (["A=runs/sst/both", "runs/snli/both"], ["A", "snli/both"]),
        (["A=runs/sst/both", "B=runs/sst/both"], ["A", "B"]),
    ],
)
def test_an_archive_is_named_after_its_path_where_the_paths_differ(
    arguments: list[str], names: list[str]
) -> None:
    assert list(name_archives(arguments)) == names


def test_a_path_with_an_equals_sign_is_a_path(tmp_path: Path) -> None:
    folder = tmp_path / "lr=1"
    folder.mkdir()

    assert name_archives([str(folder)]) == {"lr=1": str(folder)}


def test_two_archives_of_one_name_are_refused() -> None:
    with pytest.raises(ConfigurationError, match="a/b and a/b/model.tar.gz .* named b: give NAME="):
        name_archives(["a/b", "a/b/model.tar.gz"])


@pytest.mark.parametrize("name", ["base", "original"])
def test_a_bilm_is_no_trained_model(name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name} is a biLM, not a trained model.* ner, "):
        model_path(name)
