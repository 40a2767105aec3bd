"""The values of many runs of a list, query by query: what notebooks and tests of one's own read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from evaluation.evaluations.queries import FilterRefused, chosen_columns
from evaluation.evaluations.query_values import QueryValues, get_query_values
from evaluation.runs.names import list_named_runs, list_newest_runs, name_of
from judgments.collections.queries import list_query_ids
from judgments.lists.queries import HEAD, get_list, get_version
from judgments.permissions import Access, check_may_see_rankings
from judgments.versions.judgment_cache import get_all_judged

MOST_VALUES: Final = 1_000_000  # of one answer: some 90 MB as JSON
COLUMNS: Final[Mapping[str, type]] = {"run": str, "query_id": str, "measure": str, "value": float}

Row = tuple[str, str, str, float | None]


@dataclass(frozen=True)
class ListValues:
    """Every value of some runs by some measures, of every judged query, at one version.

    version: 0 on a list without any; then there are no values. runs, measures: their names, in the
    order asked for. values: by run and measure. query_ids: what the queries in them are called.
    """

    version: int
    runs: tuple[str, ...]
    measures: tuple[str, ...]
    values: dict[tuple[str, str], QueryValues]
    query_ids: dict[int, str]

    def rows(self) -> Iterator[Row]:
        """run, query, measure, value (None where the query is not in the mean).

        Run by run, of each measure by measure, of each the queries in the order they were loaded.
        """
        for (run, measure), result in self.values.items():
            columns = (result.query_ids, result.values, result.counted)
            for pk, value, counted in zip(*(own.tolist() for own in columns), strict=True):
                yield run, self.query_ids[pk], measure, value if counted else None


def get_list_values(
    *, access: Access, slug: str, measures: str, runs: tuple[str, ...], version: str
) -> ListValues:
    """What an address asks for; without runs, the newest of every ranker.

    Raises MeasureError or FilterRefused for what can't be asked for, more than a million values
    among it; NotFound for a version.
    """
    check_may_see_rankings(access)
    judgment_list = get_list(access=access, slug=slug)
    asked = {one.canonical: one.measure for one in chosen_columns(judgment_list, measures)}
    result = list_named_runs(access=access, names=runs) if runs else list_newest_runs(access)
    chosen = {name_of(run): run for run in result}
    if version == HEAD and not judgment_list.head:
        return ListValues(0, tuple(chosen), tuple(asked), {}, {})
    number = get_version(judgment_list=judgment_list, name=version).number
    judged = get_all_judged(list_id=judgment_list.pk, version=number)
    _check_size(len(np.unique(judged.query_ids)) * len(asked) * len(chosen))
    values = {
        (name, one): get_query_values(
            run=run, judgment_list=judgment_list, version=number, measure=measure
        )
        for name, run in chosen.items()
        for one, measure in asked.items()
    }
    own = {pk for one in values.values() for pk in one.query_ids.tolist()}
    names = list_query_ids(collection=access.collection, pks=own)
    return ListValues(number, tuple(chosen), tuple(asked), values, names)


def as_objects(found: ListValues) -> list[dict[str, Any]]:
    """The rows as JSON has them."""
    return [dict(zip(COLUMNS, row, strict=True)) for row in found.rows()]


def _check_size(count: int) -> None:
    if count > MOST_VALUES:
        message = (
            f"{count:,} values exceed the limit of {MOST_VALUES:,} per response. "
            "Request fewer runs or measures."
        )
        raise FilterRefused("too_many_values", message)
