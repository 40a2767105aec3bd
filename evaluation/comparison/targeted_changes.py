"""Whether a change reached the queries that it was meant for, and left the others alone."""

from dataclasses import dataclass, field

from evaluation.comparison.differences import Differences, differences_of
from evaluation.comparison.ranking_changes import get_ranking_changes
from evaluation.runs.selection import ChosenRuns, ComparedRun, get_compared
from judgments.pages.answers import ON_PAGES


@dataclass(frozen=True)
class ChangedPart:
    """A group of queries: on how many the top ranks differ, and on how many the values.

    On pages, overlap: the mean share of the first ranks in common; None without a query.
    """

    queries: int
    changed: int
    values: int
    overlap: float | None = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class Intended:
    """Differences inside and outside the saved set."""

    inside: ChangedPart
    outside: ChangedPart

    @property
    def changed(self) -> int:
        """On how many queries the first ranks differ."""
        return self.inside.changed + self.outside.changed


def get_intended(
    *, chosen: ChosenRuns, baseline: ComparedRun, other: ComparedRun
) -> Intended | None:
    """What differs between two runs inside the chosen set and outside it; None without a set.

    Where the comparison is about a segment, the others are its other queries.
    """
    if chosen.sets.chosen is None:
        return None
    every = get_compared(
        runs=[baseline.run, other.run],
        judgment_list=chosen.list,
        version=chosen.version,
        measure=chosen.asked.measure,
        segment=chosen.segment,
    )
    inside = differences_of(baseline, other)
    outside = differences_of(*every).without(inside.query_ids)

    def part(paired: Differences) -> ChangedPart:
        changes = get_ranking_changes(
            first=baseline.run,
            second=other.run,
            query_ids=paired.query_ids.tolist(),
            k=chosen.depth,
        )
        values = int((paired.values != 0).sum())
        if changes is None:
            return ChangedPart(0, 0, values, None)
        n = changes.queries
        return ChangedPart(n, n - changes.same_top, values, changes.overlap)

    return Intended(part(inside), part(outside))
