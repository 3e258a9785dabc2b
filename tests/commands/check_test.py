import re
from pathlib import Path

import numpy
import pytest

from tests.helpers.command_line import exit_status
from tests.helpers.reference_bilm import (
    FIXTURE_FILES,
    make_options,
    random_files,
    random_weights,
    write_files,
)


def test_a_sound_pair_is_described_and_the_exit_status_is_0(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    files = random_files(tmp_path)

    status = exit_status("elmo-check", *files)

    lines = capsys.readouterr().out.splitlines()
    said = dict(re.split("  +", line, maxsplit=1) for line in lines[: lines.index("")])
    assert status == 0
    assert said["options"] == str(files[0])
    assert said["LSTM layers"] == "2 a direction, memory of 9, output of 6"
    assert lines[-1] == "Sound."


@pytest.mark.parametrize("bilm", ["mini", str(FIXTURE_FILES[0].parent)], ids=["name", "folder"])
def test_a_bilm_is_checked_by_its_name_or_folder(bilm: str, capsys: pytest.CaptureFixture) -> None:
    status = exit_status("elmo-check", bilm)

    assert status == 0
    assert capsys.readouterr().out.endswith("\nSound.\n")


def test_problems_are_listed_and_the_exit_status_is_1(
    tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    arrays = {**random_weights(make_options()), "global_step": numpy.ones(1)}
    files = write_files(tmp_path, make_options(), arrays)

    status = exit_status("elmo-check", *files)

    assert status == 1
    assert capsys.readouterr().out.endswith(
        "\n\nNot sound: 1 problem.\n"
        f"- {files[1]}: has global_step, which the options do not ask for\n"
    )
