from collections.abc import Sequence


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns a Markdown table with names aligned to the left and numbers to the right."""
    widths = [max(map(len, column)) for column in zip(columns, *rows)]
    return "\n".join(
        f"| {' | '.join(_align(cell, width) for cell, width in zip(line, widths))} |"
        for line in (columns, ["-" * width for width in widths], *rows)
    )


def layer_name(index: int) -> str:
    """Returns a layer's name in tables and charts."""
    return f"LSTM {index}" if index else "tokens"


def _align(cell: str, width: int) -> str:
    is_number = cell[:1].isdigit() or cell[:1] == "-" and cell[1:2].isdigit()
    return cell.rjust(width) if is_number else cell.ljust(width)
