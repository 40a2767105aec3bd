"""A data set as the library's plan of its evaluation."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from evaluation.data_sets.places import Place, find_files, find_place
from touchstone.bulk.errors import BulkRefused, check_pyarrow
from touchstone.bulk.plan import Plan

FOOTERS: Final = 20  # of the first files: what is read before a data set is registered


@dataclass(frozen=True)
class Columns:
    """Where a data set is, what its columns are, and what is computed; as `models.DataSet`."""

    rankings: str
    judgments: str
    query: tuple[str, ...]
    document: str
    score: str
    grade: str
    signals: str
    measures: str
    segments: tuple[str, ...]
    day: str

    @property
    def plan(self) -> Plan:
        """What is computed: by day and segment, a query on two days being two queries.

        Raises MeasureError, SignalsRefused, BulkRefused.
        """
        day = (self.day,) if self.day else ()
        return Plan.of(
            query=(*self.query, *day),
            document=self.document,
            score=self.score,
            grade=self.grade,
            measures=self.measures,
            by=(*day, *self.segments),
            signals=self.signals,
        )


def check_columns(columns: Columns, places: Sequence[Place]) -> None:
    """Read the first files' footers and the first rows, which say most of what can be wrong.

    Raises PlaceRefused, MeasureError, SignalsRefused, and BulkRefused, which names file and row.
    """
    find_place(columns.rankings, places)
    check_pyarrow()
    from touchstone.bulk.data_sets import (  # noqa: PLC0415  (needs an extra)
        DataSet,
        Portion,
        read_files,
        read_portion,
    )
    from touchstone.bulk.local import check_alike  # noqa: PLC0415

    plan = columns.plan

    def begun(address: str, *, judgments: bool | None) -> DataSet:
        found = find_files(address, places)
        paths = [file.path for file in found.files[:FOOTERS]]
        own = read_files(paths, plan, judgments=judgments, filesystem=found.filesystem)
        filled = next((file for file in own.files if file.rows), None)
        if filled is not None:
            group = next(number for number, rows in enumerate(filled.groups) if rows)
            for _ in islice(read_portion(Portion(filled, (group,), judgments), plan), 1):
                pass
        return own

    if columns.judgments:
        check_alike(
            plan,
            begun(columns.rankings, judgments=False),
            begun(columns.judgments, judgments=True),
        )
    else:
        begun(columns.rankings, judgments=None)


def check_comparable(left: Columns, right: Columns) -> None:
    """Raises BulkRefused where queries of two data sets can't be told to be the same, or where
    their values can't be compared.
    """
    check_pyarrow()
    from touchstone.bulk.paired import common_plan  # noqa: PLC0415  (needs an extra)

    for what, one, other in (
        ("number of query columns", str(len(left.query)), str(len(right.query))),
        ("day column", "yes" if left.day else "no", "yes" if right.day else "no"),
        ("segment columns", ", ".join(left.segments), ", ".join(right.segments)),
        ("grades of a raw signal", left.signals, right.signals),
    ):
        if one != other:
            raise BulkRefused(
                f"The data sets have a different {what}: {one or 'none'} and {other or 'none'}. "
                "Their queries can't be compared"
            )
    common_plan(left.plan, right.plan)
