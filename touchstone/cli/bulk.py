"""`bulk`: measures of rankings in Parquet, too many rows for memory."""

import json
import signal
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NoReturn

from touchstone.bulk.counts import BulkCounts, report
from touchstone.bulk.errors import check_pyarrow
from touchstone.bulk.plan import Plan
from touchstone.cli.running import BadOptionError, Write
from touchstone.tables import aligned

ENGINES: Final = ("local", "celery", "spark")
HELP: Final = (
    "Evaluate rankings in Parquet: files, folders, globs, Hive partitions. Each row is a document "
    "of a query, with its score and grade; grades can also come from a separate data set. Sums are "
    "exact: the result does not depend on how rows are split into files."
)
_SECONDS: Final = 2.0  # between two lines of progress
_INTERRUPTED: Final = 130
_GIB: Final = 2**30


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("paths", nargs="+", metavar="PATH", help="files, folders or globs")
    parser.add_argument(
        "--query",
        action="append",
        required=True,
        metavar="COLUMN",
        help="column with the query id; repeat for a key of several columns",
    )
    parser.add_argument("--document", required=True, metavar="COLUMN")
    parser.add_argument(
        "--score", required=True, metavar="COLUMN", help="column with the score; null: not ranked"
    )
    parser.add_argument(
        "--grade", required=True, metavar="COLUMN", help="column with the grade; null: not judged"
    )
    parser.add_argument("--measures", required=True, help="for example 'nDCG@10 P(rel=2)@5'")
    parser.add_argument("--preset", metavar="NAME", help="use this tool's definitions")
    parser.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="COLUMN",
        help="also report means per value of this column; repeat to group by several columns",
    )
    parser.add_argument(
        "--judgments",
        nargs="+",
        action="extend",
        default=[],
        metavar="PATH",
        help="data set with the grades, joined by query and document",
    )
    parser.add_argument(
        "--signals",
        "--gain",
        default="",
        metavar="TEXT",
        help="how values of the grade column become grades: 'like=2, skip=0' or "
        "'>=60=3, >=10=1, >=0=0'",
    )
    parser.add_argument("--engine", choices=ENGINES, default="local")
    parser.add_argument(
        "--workers", type=int, metavar="N", help="number of processes (default: number of cores)"
    )
    parser.add_argument(
        "--whole",
        action="store_true",
        help="assert that no query is split across files (checked while reading)",
    )
    parser.add_argument(
        "--spill-folder", metavar="DIR", help="folder for temporary files (default: the system's)"
    )
    parser.add_argument(
        "--spill-limit",
        type=float,
        metavar="GIB",
        help="maximum size of temporary files (default: 80 %% of the free space)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def work(options: Mapping[str, Any], say: Write, warn: Write) -> None:
    """Print the values; progress goes to `warn`. Raises BulkRefused, MeasureError, …"""
    _check(options)
    check_pyarrow()
    plan = Plan.of(
        query=options["query"],
        document=options["document"],
        score=options["score"],
        grade=options["grade"],
        measures=options["measures"],
        by=options["by"],
        preset_name=options["preset"],
        signals=options["signals"],
    )
    for caveat in dict.fromkeys(one.caveat for one in plan.asked if one.caveat):
        warn(f"Note: {caveat}")
    evaluate = _on_spark if options["engine"] == "spark" else _here
    with _ended_cleanly(warn):
        result = report(plan, evaluate(plan, options, warn))
    say(json.dumps(result, ensure_ascii=False) if options["json"] else _table(result))


def _check(options: Mapping[str, Any]) -> None:
    if options["engine"] == "celery":
        raise BadOptionError(
            "--engine celery is only available on a Touchstone server; use local or spark here"
        )
    if options["workers"] is not None and options["workers"] < 1:
        raise BadOptionError("--workers must be 1 or more")
    if options["spill_limit"] is not None and not options["spill_limit"] > 0:
        raise BadOptionError("--spill-limit must be above 0, in GiB")
    if options["engine"] == "spark" and (options["whole"] or options["workers"]):
        raise BadOptionError("--whole and --workers only apply to --engine local")


def _here(plan: Plan, options: Mapping[str, Any], warn: Write) -> BulkCounts:
    from touchstone.bulk.local import Spilling, evaluate

    limit = options["spill_limit"]
    return evaluate(
        plan,
        options["paths"],
        judgments=options["judgments"],
        whole=options["whole"],
        processes=options["workers"],
        spilling=Spilling(options["spill_folder"], None if limit is None else int(limit * _GIB)),
        progress=_progress(warn),
    )


def _on_spark(plan: Plan, options: Mapping[str, Any], warn: Write) -> BulkCounts:
    from touchstone.bulk.spark import evaluate_paths

    return evaluate_paths(plan, options["paths"], judgments=options["judgments"])


def _progress(warn: Write) -> Callable[[str, int, int], None]:
    """A line every few seconds, none of what is done sooner."""
    last = time.monotonic()

    def say(what: str, done: int, of: int) -> None:
        nonlocal last
        if time.monotonic() - last >= _SECONDS:
            last = time.monotonic()
            warn(f"bulk: {done:,} of {of:,} {what}")

    return say


@contextmanager
def _ended_cleanly(warn: Write) -> Iterator[None]:
    """Ctrl-C, and a plain kill: temporary files are removed before the process ends."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    except KeyboardInterrupt:
        warn("interrupted; temporary files were removed")
        sys.exit(_INTERRUPTED)
    finally:
        signal.signal(signal.SIGTERM, before)


def _table(result: Mapping[str, Any]) -> str:
    parts = {"all": result, **result["segments"]}
    names = list(result["measures"])
    cells = [["segment", "queries", *(head for name in names for head in (name, "s.e."))]]
    for segment, own in parts.items():
        values = [own["measures"][name][key] for name in names for key in ("mean", "se")]
        shown = ["–" if value is None else f"{value:.4f}" for value in values]
        cells.append([segment or "(none)", f"{own['queries']:,}", *shown])
    counts = f"{result['rows']:,} rows, {result['queries']:,} queries"
    return f"{counts}; s.e.: standard error of the mean\n" + aligned(cells)
