"""The tables that `benchmarks.gpu` writes."""

from typing import Any


def table(found: dict[str, Any]) -> str:
    """
    Returns, in Markdown, a table for each part of `gpu.json`. Each row is compared with the first.
    """
    lines = [found["machine"]]
    for name, rows in found["parts"].items():
        first = rows[0].get("tokens_per_second")
        lines += ["", f"| {name} | tokens/s | times the first | largest error |"]
        lines += ["| --- | ---: | ---: | ---: |"]
        for row in rows:
            speed = row.get("tokens_per_second")
            if speed is None:
                lines.append(f"| {row['what']} | failed: {row['failed']} | | |")
                continue
            times = f"{speed / first:.1f}" if first else ""
            error = f"{row['error']:.0e}" if "error" in row else ""
            lines.append(f"| {row['what']} | {speed:,.0f} | {times} | {error} |")
    return "\n".join(lines)
