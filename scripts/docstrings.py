"""
Converts the docstrings of this package, which are Markdown in AllenNLP's style, to reStructuredText
for Sphinx. `docs/conf.py` calls it.
"""

import re
from collections.abc import Iterable, Iterator

# One or several names, a type or default in parentheses, and what is said of them.
_PARAMETER = re.compile(r"(\*{0,2}\w+(?:, \w+)*)((?: \(.*?`\)| \(default no limit\))?(?:: .*)?)")
# A type that is returned or raised, and what is said of it.
_TYPE = re.compile(r"`[^`]+`(: .*)?")


def to_rst(lines: Iterable[str]) -> list[str]:
    """
    Returns the lines of a docstring in reStructuredText: headings such as `# Parameters` become
    bold, the entries below them a list, indented lines and the examples of a command code, and
    tables list tables. Single backticks are left, since `docs/conf.py` makes code of them.
    """
    rst: list[str] = []
    in_section = False
    for block in _blocks(lines):
        if block[0].startswith("# "):
            in_section = True
            rst += [f"**{block[0][2:]}**", ""]
        elif block[0].startswith("|"):
            rst += _table(block)
        elif in_section:
            rst += _entries(block)
        elif block[0].startswith("    "):
            rst += ["::", "", *block, ""]
        elif block[0] == "examples:":
            rst += ["examples::", "", *block[1:], ""]
        else:
            rst += [*block, ""]
    return rst


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yields the lines between blank lines."""
    block: list[str] = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line.rstrip())
        elif block:
            yield block
            block = []


def _entries(block: list[str]) -> list[str]:
    """Makes list items of names and types, with the indented lines below them, and paragraphs."""
    items: list[str] = []
    for line in block:
        if line.startswith("    "):
            items.append(f"  {line[4:]}")
        elif match := _PARAMETER.fullmatch(line):
            items += ["", f"- **{match[1]}**{match[2]}"]
        elif _TYPE.fullmatch(line):
            items += ["", f"- {line}"]
        else:
            items.append(line)
    return [*items, ""]


def _table(rows: list[str]) -> list[str]:
    """Makes a list table of a table in Markdown, whose second row is a line."""
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in [cells[0], *cells[2:]]:
        lines += [f"   {'* -' if index == 0 else '  -'} {cell}" for index, cell in enumerate(row)]
    return [*map(str.rstrip, lines), ""]
