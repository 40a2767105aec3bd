"""What a list's newest sample says of the runs on its leaderboard."""

from dataclasses import replace

from evaluation.corrected.queries import get_estimates_and_corrections, of_part
from evaluation.evaluations.measure_sets import get_leaderboard as get_kept
from evaluation.evaluations.queries import kept_measures
from evaluation.leaderboards.board import Filters, LeaderboardTable
from evaluation.samples.queries import SampleFilters
from judgments.lists.queries import HEAD
from judgments.permissions import Access


def with_estimates(
    table: LeaderboardTable, *, access: Access, filters: Filters
) -> LeaderboardTable:
    """The table with both readings of its first kept measure beside every run.

    As it is where a sample says nothing: of older versions and measures that are not kept, and
    without a sample of which queries are judged. Of segments and sets, only why means are not
    corrected.
    """
    if filters.version != HEAD:
        return table
    if get_kept(judgment_list=table.list) is None:  # nothing has been evaluated yet
        return table
    kept = kept_measures(table.list)
    shown = [one.asked.measure for one in table.measures if not one.is_judged]
    measure = next((one for one in shown if one in kept), None)
    if measure is None:
        return table
    result = get_estimates_and_corrections(
        access=access, slug=table.list.slug, filters=SampleFilters(measure=measure.name)
    )
    if filters.segment or table.sets.chosen:
        result = of_part(result)
        return replace(table, estimates=result) if result.corrections else table
    if not result.judged:
        return replace(table, estimates=result) if result.corrections else table
    by_run = {one.run: one for one in result.runs}
    return replace(
        table,
        estimates=result,
        runs=tuple(replace(row, estimate=by_run.get(row.name)) for row in table.runs),
        state=table.state + ("~" if result.computing else ""),
    )
