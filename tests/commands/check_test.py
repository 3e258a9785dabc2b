import pytest

from tests.helpers.command_line import exit_status
from tests.helpers.reference_bilm import FIXTURE_FILES


# The commands of tests/golden have what is found in two files, and the exit status of a problem.
@pytest.mark.parametrize("bilm", ["mini", str(FIXTURE_FILES[0].parent)], ids=["name", "folder"])
def test_a_bilm_is_checked_by_its_name_or_folder(bilm: str, capsys: pytest.CaptureFixture) -> None:
    status = exit_status("elmo-check", bilm)

    assert status == 0
    assert capsys.readouterr().out.endswith("\nSound.\n")
