import re
from pathlib import Path

import pytest

from elmo_tasks.commands.new import TASKS
from elmo_tasks.common.errors import ConfigurationError
from elmo_tasks.common.package_data import config_folder
from tests.helpers.command_line import our_command
from tests.helpers.configs import SHIPPED, evaluate


def evaluated(text: str) -> dict:
    return evaluate(text.replace("'elmo_tasks/", f"'{config_folder()}/lib/"))


def fields_of(library: str) -> set[str]:
    """Returns the choices of a library, without the fields that follow from them."""
    names = set[str]()
    for name in {library} if library == "language_model" else {"base", library}:
        text = (config_folder() / "lib" / f"{name}.libsonnet").read_text(encoding="utf-8")
        choices = text.partition("// The fields below follow from the choices.")[0]
        names |= set(re.findall(r"^  (\w+):: .*,(?:  //.*)?$", choices, re.MULTILINE))
    return names


def test_every_task_with_a_library_of_its_own_can_be_begun() -> None:
    # A probe is no training, and film reviews are texts of one's own.
    assert set(TASKS) == set(SHIPPED) - {"probe", "imdb"}


@pytest.mark.parametrize("task", TASKS)
def test_a_first_config_has_a_comment_a_field_and_the_librarys_defaults(
    task: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    file = tmp_path / "mine.jsonnet"

    our_command("new", task, file)

    assert f"elmo-tasks train {file}" in capsys.readouterr().out
    text = file.read_text()
    blocks = text.partition("{\n")[2].rstrip("}\n").split("\n\n")
    assert len(blocks) > 10
    for block in blocks:
        *comments, field = block.splitlines()
        assert comments and all(line.startswith("  // ") for line in comments), block
        assert re.match(r"  (// )?\w+: .*,$", field), block
    # The comments on fields that keep their defaults can be removed.
    whole = re.sub(r"^  // (\w+: .*,)$", r"  \1", text, flags=re.MULTILINE)
    assert evaluated(whole) == evaluated(text)
    places = "" if task == "bilm" else "elmo_at: ['input', 'output']"
    library = "language_model" if task == "bilm" else task
    assert evaluated(text) == evaluated(f"(import 'elmo_tasks/{library}.libsonnet') {{{places}}}")
    named = re.findall(r"^  (?:// )?(\w+): .*,$", text, re.MULTILINE)
    assert len(set(named)) == len(named) and fields_of(library) <= set(named)


def test_a_file_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.jsonnet").write_text("mine")

    with pytest.raises(ConfigurationError, match="mine.jsonnet exists; choose another name"):
        our_command("new", "sst", tmp_path / "mine.jsonnet")

    assert (tmp_path / "mine.jsonnet").read_text() == "mine"
