"""A click log in any form that is read: told by how the file begins."""

from touchstone.clicks.csv_log import read_csv
from touchstone.clicks.log import LogBuilder
from touchstone.clicks.parquet_log import MAGIC, read_parquet
from touchstone.clicks.ubi import USUAL_ACTIONS, Actions, read_ubi
from touchstone.files.format_detection import head_of
from touchstone.files.reading import BOM, Progress, Source


def read_click_log(
    source: Source,
    builder: LogBuilder,
    *,
    name: str,
    actions: Actions = USUAL_ACTIONS,
    progress: Progress | None = None,
) -> None:
    """Add the records of a file to a builder: Parquet, NDJSON or CSV, the last two maybe gzipped.

    source: a path or a binary file that can seek. Raises FileRefused.
    """
    head = head_of(source).removeprefix(BOM)
    if head.startswith(MAGIC):
        read_parquet(source, builder, name=name, actions=actions, progress=progress)
    elif head.lstrip().startswith((b"{", b"[")) or not head.strip():
        read_ubi([(source, name)], builder, actions=actions, progress=progress)
    else:
        read_csv(source, builder, name=name, actions=actions, progress=progress)
