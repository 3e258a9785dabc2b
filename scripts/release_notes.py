"""
Prints the notes of a release: the section of CHANGELOG.md for the version of the package, or
`[Unreleased]` where the version has none yet. Says on standard error what keeps the release from
being uploaded.

    python -m scripts.release_notes > build/release_notes.md
"""

import re
import sys

from setup import REPOSITORY, ROOT, VERSION, away_from_home

CHANGELOG = ROOT / "CHANGELOG.md"


def main() -> None:
    name, notes = section(CHANGELOG.read_text(encoding="utf-8"), VERSION)
    if name != VERSION:
        print(f"CHANGELOG.md: [Unreleased] is not [{VERSION}] yet", file=sys.stderr)
    if not REPOSITORY:
        print(
            "setup.py: REPOSITORY is empty, so the packages have no links and no pictures: put the "
            "address there before you upload them",
            file=sys.stderr,
        )
    print(f"# elmo-tasks {VERSION}\n\n{away_from_home(CHANGELOG, notes)}")


def section(changelog: str, version: str) -> tuple[str, str]:
    """
    Returns the name and the text of a version's section of a changelog, or else of `Unreleased`.
    Raises `ValueError` if it has neither, or the section is empty.
    """
    parts = re.split(r"^## \[(.+?)\].*$", changelog, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], map(str.strip, parts[2::2])))
    name = version if version in sections else "Unreleased"
    if not sections.get(name):
        raise ValueError(f"CHANGELOG.md has no changes of [{version}], nor [Unreleased] ones")
    return name, sections[name]


if __name__ == "__main__":
    main()
