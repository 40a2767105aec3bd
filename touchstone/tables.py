"""Tables of text for a terminal."""

from collections.abc import Sequence

Cells = Sequence[Sequence[str]]


def aligned(rows: Cells) -> str:
    """Columns of even width: the first to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
