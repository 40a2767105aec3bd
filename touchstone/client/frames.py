"""Rows as a frame of pandas or polars, whichever is there."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, Literal, get_args

from touchstone.client.errors import ClientUsageError

Kind = Literal["pandas", "polars", "rows"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

Row = dict[str, Any]


def as_frame(rows: Sequence[Row], columns: Sequence[str], kind: Kind | None = None) -> Any:
    """A frame with these columns, a line for each row.

    kind: "pandas", "polars", or "rows" for a list of dicts; None for the first that is installed.
    Raises ClientUsageError for a kind that does not exist or is not installed.
    """
    if kind is not None and kind not in KINDS:
        raise ClientUsageError(f"there is no frame {kind!r}: {', '.join(KINDS)}")
    listed = [{name: row[name] for name in columns} for row in rows]
    for name in KINDS if kind is None else (kind,):
        if name == "rows":
            break
        try:
            module = import_module(name)
        except ImportError:
            continue
        if name == "pandas":
            return module.DataFrame(listed, columns=list(columns))
        return module.DataFrame(listed, schema=list(columns), infer_schema_length=None)
    if kind in ("pandas", "polars"):
        install = f"pip install 'touchstone-relevance[{kind}]'"
        raise ClientUsageError(f"{kind} is not installed: {install}")
    return listed
