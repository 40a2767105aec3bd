"""Whether a change reached the queries that it was meant for, and left the others alone."""

from dataclasses import dataclass

from evaluation.comparison.ranking_changes import RankingChanges, get_ranking_changes
from evaluation.runs.selection import (
    ChosenRuns,
    ComparedRun,
    Differences,
    differences_of,
    get_compared,
)


@dataclass(frozen=True)
class ChangedPart:
    """Some queries, and how many of them differ between two runs: in rankings, and in values."""

    name: str
    changes: RankingChanges | None
    values: int

    @property
    def queries(self) -> int:
        return self.changes.queries if self.changes else 0

    @property
    def changed(self) -> int:
        """Queries whose first ranks differ."""
        return self.changes.queries - self.changes.same_top if self.changes else 0


@dataclass(frozen=True)
class Intended:
    """The queries of a saved set, and all the others."""

    inside: ChangedPart
    outside: ChangedPart
    k: int

    @property
    def parts(self) -> tuple[ChangedPart, ChangedPart]:
        return self.inside, self.outside

    @property
    def words(self) -> str:
        """How many queries changed inside the set and outside it."""
        changed = self.inside.changed + self.outside.changed
        if not changed:
            return f"The first {self.k} are the same on every query."
        return (
            f"The first {self.k} differ on {changed:,} quer{'y' if changed == 1 else 'ies'}: "
            f"{self.inside.changed:,} in “{self.inside.name}”, {self.outside.changed:,} outside it."
        )


def get_intended(
    *, chosen: ChosenRuns, baseline: ComparedRun, other: ComparedRun, segment: str, k: int
) -> Intended | None:
    """What differs between two runs inside the chosen set and outside it; None without a set.

    segment: where the page is about one, the others are its other queries.
    """
    saved_set = chosen.sets.chosen
    if saved_set is None:
        return None
    every = get_compared(
        runs=[baseline.run, other.run],
        judgment_list=chosen.list,
        version=chosen.version,
        measure=chosen.asked.measure,
        segment=segment,
    )
    inside = differences_of(baseline, other)
    outside = differences_of(*every).without(inside.query_ids)

    def part(of: str, found: Differences) -> ChangedPart:
        changes = get_ranking_changes(
            first=baseline.run, second=other.run, query_ids=found.query_ids.tolist(), k=k
        )
        return ChangedPart(of, changes, int((found.values != 0).sum()))

    return Intended(part(saved_set.name, inside), part("all others", outside), k)
