import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from elmo_tasks.commands.new import _KEYWORDS, TASKS, first_config
from elmo_tasks.common.package_data import config_folder
from tests.helpers.command_line import our_command
from tests.helpers.configs import evaluate


def evaluated(text: str) -> dict:
    return evaluate(text.replace("'elmo_tasks/", f"'{config_folder()}/lib/"))


def test_every_task_with_a_library_of_its_own_can_be_begun() -> None:
    assert {"bilm", "classify", "sst", "tag"} < set(TASKS)
    for task in set(TASKS) - {"bilm"}:
        assert (config_folder() / "lib" / f"{task}.libsonnet").exists()


@pytest.mark.parametrize("task", TASKS)
def test_a_first_config_has_a_comment_a_field_and_the_librarys_defaults(
    task: str, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    file = tmp_path / "mine.jsonnet"

    our_command("new", task, file)

    assert f"elmo-tasks train {file}" in capsys.readouterr().out
    text = file.read_text()
    blocks = text.partition("{\n")[2].rstrip("}\n").split("\n\n")
    assert len(blocks) >= 7
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
    assert len(set(named)) == len(named)
    assert "num_epochs" in named and ("bilm" in named or "from_bilm" in named)
    (path,) = re.findall(r"^// (\S+/lib/\w+\.libsonnet) ", text, re.MULTILINE)
    assert Path(path).name == f"{library}.libsonnet" and Path(path).exists()


TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUE = st.recursive(
    TEXT | st.none() | st.booleans() | st.integers(-99, 99),
    lambda part: st.lists(part) | st.dictionaries(TEXT, part),
)


@given(value=VALUE)
@example(value=dict.fromkeys(_KEYWORDS))
def test_jsonnet_reads_each_value_as_it_was_found(value: Any) -> None:
    text = first_config("classify", Path("x.jsonnet"), {"examples": [value]})

    field = text.partition("  examples: ")[2].partition(",\n\n")[0]
    assert evaluate(field) == [value]
