from pathlib import Path

import pytest

from scripts import mutants
from scripts.mutants import Mutant, differs, report, run

SOURCE = "def double(x: int | float) -> float:\n    return 2 * x\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Makes a project of one function and its test, which needs the file of AllenNLP's plugins."""
    files = {
        "pack/room/double.py": SOURCE,
        "tests/room/double_test.py": "from pathlib import Path\n"
        "from pack.room.double import double\n\n\n"
        "def test_two_is_doubled() -> None:\n"
        "    assert Path('.allennlp_plugins').exists() and double(2) == 4\n",
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(content)
    (tmp_path / ".allennlp_plugins").write_text("pack\n")
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    monkeypatch.setattr(mutants, "HEAVY", [])
    return tmp_path


def mutant_of(old: str, new: str) -> Mutant:
    return Mutant("pack/room/double.py", 2, "Operator", SOURCE.replace(old, new))


def test_a_mutant_that_no_test_notices_survives(project: Path) -> None:
    caught, survives = mutant_of("2 * x", "3 * x"), mutant_of("2 * x", "2 ** x")

    results = list(run([caught, survives]))
    text = report(list(zip([caught, survives], results)))

    assert "double_test.py::test_two_is_doubled" in results[0]["caught"]
    assert results[1]["caught"] == ""
    assert results[1]["diff"] == ["- return 2 * x", "+ return 2 ** x"]
    assert (project / "pack/room/double.py").read_text() == SOURCE
    assert "| room | 2 | 1 | 50.0% |" in text
    assert "pack/room/double.py:2" in text and "3 * x" not in text


def test_tests_that_fail_without_a_mutant_are_refused(project: Path) -> None:
    (project / "pack/room/double.py").write_text(SOURCE.replace("2", "5"))

    with pytest.raises(SystemExit, match="without a mutant, tests/room fails: FAILED .*doubled"):
        list(run([mutant_of("2", "3")]))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [("2 * x", "2 / x", True), ("int | float", "int & float", False), ("2 * x", "* x", False)],
)
def test_an_annotation_and_what_is_no_python_make_no_mutant(
    old: str, new: str, expected: bool
) -> None:
    assert differs(SOURCE, SOURCE.replace(old, new)) == expected
