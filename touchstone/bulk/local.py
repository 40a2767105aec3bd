"""The engine of one machine: processes that read Parquet, spill it into buckets and evaluate those.

Memory does not grow with the data: a process holds about `rows_per_bucket` rows, or those of the
largest query where that has more.
"""

import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow.compute as pc

from touchstone.bulk.counts import BulkCounts
from touchstone.bulk.data_sets import DataSet, Portion, portions, read_data_set
from touchstone.bulk.errors import BulkRefused
from touchstone.bulk.ids import Words, hashes
from touchstone.bulk.kernel import evaluate_rows
from touchstone.bulk.plan import Plan
from touchstone.bulk.spill import evaluate_bucket, read_whole, spill
from touchstone.bulk.workers import Progress, Workers, cores, workers

ROWS_PER_BUCKET: Final = 1 << 17
BUCKETS_READ: Final = 4  # as many rows as this many buckets have are read and spilled as one file
MOST_BUCKETS: Final = 1 << 12
LARGEST_WHOLE: Final = 1 << 24  # rows of a file that is evaluated in one piece
_FREE: Final = 0.8  # of the free space: what spilling may take unless a limit is given
_GIB: Final = 2**30


@dataclass(frozen=True)
class Spilling:
    """How rows are brought together on disk.

    folder: where; None: the system's for temporary files. limit: bytes; None: 80 % of what is free
    there. rows_per_bucket: about how many rows a process holds.
    """

    folder: str | None = None
    limit: int | None = None
    rows_per_bucket: int = ROWS_PER_BUCKET


def evaluate(
    plan: Plan,
    paths: Sequence[str],
    *,
    judgments: Sequence[str] = (),
    whole: bool = False,
    processes: int | None = None,
    spilling: Spilling | None = None,
    progress: Progress = lambda *_: None,
) -> BulkCounts:
    """The exact sums over all queries of a data set, whichever rows lie in which file.

    paths: as in `read_data_set`; of rankings alone where `judgments` names the data set of grades.
    whole: every file is said to hold whole queries. Then nothing is spilled, and what was said is
    proved: the files' numbers of different queries add up to that of all files together, or the
    evaluation is refused. processes: None: one a core.
    The same data gives the same integers for any of these.
    Raises BulkRefused, MeasureError. The temporary folder is removed however it ends.
    """
    if whole and judgments:
        raise BulkRefused("--whole can only be used without --judgments")
    spilling = spilling or Spilling()
    rankings = read_data_set(paths, plan, judgments=False if judgments else None)
    graded = read_data_set(judgments, plan, judgments=True) if judgments else None
    rows_read = spilling.rows_per_bucket * (1 if whole else BUCKETS_READ)
    parts = list(portions(rankings, rows=rows_read, whole_files=whole))
    n_rows = rankings.rows
    if graded is not None:
        check_alike(plan, rankings, graded)
        parts += portions(graded, rows=rows_read)
        n_rows += graded.rows
    n_buckets = min(MOST_BUCKETS, -(-n_rows // spilling.rows_per_bucket))
    number = min(processes or cores(), max(n_buckets, 1))
    with workers(number, progress) as own:
        if n_buckets <= 1:
            counts = evaluate_rows(plan, read_whole(plan, [one for part in parts for one in part]))
        elif whole:
            counts = _of_whole_files(plan, parts, own)
        else:
            counts = _of_buckets(plan, parts, n_buckets, own, spilling)
    if sum(segment.rows for segment in counts.segments.values()) != rankings.rows:
        raise BulkRefused("the files changed while they were read")
    return counts


def check_alike(plan: Plan, rankings: DataSet, graded: DataSet) -> None:
    """Raises BulkRefused for rankings and judgments that can't be joined, or have no segments."""
    for name, kind in rankings.kinds.items():
        if graded.kinds[name] != kind:
            raise BulkRefused(
                f"column {name!r} is {kind} in the rankings and {graded.kinds[name]} in the "
                "judgments, so they can't be joined"
            )
    if plan.by and not (rankings.has_segments or graded.has_segments):
        raise BulkRefused(f"neither rankings nor judgments have {', '.join(plan.by)}")


def _of_buckets(
    plan: Plan,
    parts: Sequence[Sequence[Portion]],
    n_buckets: int,
    own: Workers,
    spilling: Spilling,
) -> BulkCounts:
    if spilling.folder is not None and not Path(spilling.folder).is_dir():
        raise BulkRefused(f"{spilling.folder}: no such folder")
    with tempfile.TemporaryDirectory(prefix="touchstone-bulk-", dir=spilling.folder) as name:
        folder = Path(name)
        limit = spilling.limit
        if limit is None:
            limit = int(shutil.disk_usage(folder).free * _FREE)
        files = [folder / f"{position:06}.rows" for position in range(len(parts))]
        spills = [
            partial(spill, plan, part, n_buckets, file)
            for part, file in zip(parts, files, strict=True)
        ]
        size = 0
        for written in own.results("parts read", spills):
            size += written
            if size > limit:
                raise BulkRefused(
                    f"grouping rows by query needs more than {limit / _GIB:.3g} GiB in "
                    f"{folder.parent}: raise --spill-limit, choose another disk with "
                    "--spill-folder, or use --whole if no query is split across files"
                )
        buckets = [
            partial(evaluate_bucket, plan, files, bucket, n_buckets) for bucket in range(n_buckets)
        ]
        return BulkCounts.merge(own.results("buckets evaluated", buckets))


def _of_whole_files(plan: Plan, parts: Sequence[Sequence[Portion]], own: Workers) -> BulkCounts:
    for part in parts:
        if sum(one.rows for one in part) > LARGEST_WHOLE:
            raise BulkRefused(
                f"{part[0].file.path}: {part[0].rows:,} rows in one file are too many for --whole: "
                "run without it"
            )
    tasks = [partial(_of_whole_part, plan, part) for part in parts]
    result = list(own.results("files evaluated", tasks))
    queries = np.concatenate([one for _, one in result])
    different, times = np.unique(queries, return_counts=True)
    if len(different) < len(queries):
        raise BulkRefused(
            f"{int((times > 1).sum()):,} of {len(different):,} queries are split across files: "
            "run without --whole"
        )
    return BulkCounts.merge(counts for counts, _ in result)


def _of_whole_part(plan: Plan, part: Sequence[Portion]) -> tuple[BulkCounts, Words]:
    """The counts of some files, and a hash of each of their queries."""
    table = read_whole(plan, part)
    return evaluate_rows(plan, table), hashes(pc.unique(table.column("query")))
