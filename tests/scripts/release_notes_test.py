import pytest

from scripts import release_notes

CHANGELOG = """# Changelog

## [Unreleased]

### Added

- Two.

## [0.1.0] - 2026-12-01

### Added

- One ([page](docs/install.md)).
"""


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        ("0.1.0", ("0.1.0", "### Added\n\n- One ([page](docs/install.md)).")),
        ("0.2.0", ("Unreleased", "### Added\n\n- Two.")),
    ],
)
def test_the_notes_are_the_section_of_the_version_or_what_is_unreleased(
    version: str, expected: tuple[str, str]
) -> None:
    assert release_notes.section(CHANGELOG, version) == expected


@pytest.mark.parametrize("changelog", ["# Changelog\n", "## [Unreleased]\n\n## [0.2.0]\n- Two.\n"])
def test_a_release_without_changes_is_refused(changelog: str) -> None:
    with pytest.raises(ValueError, match=r"no changes of \[0.1.0\], nor \[Unreleased\] ones"):
        release_notes.section(changelog, "0.1.0")
