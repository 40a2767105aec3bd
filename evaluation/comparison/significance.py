"""Significance groups of the runs of a whole leaderboard, as letters."""

import hashlib
from dataclasses import dataclass, field
from typing import Final, get_args

import numpy as np

from evaluation.evaluations.queries import FilterRefused, SetChoice, list_means
from evaluation.evaluations.query_values import KEPT
from evaluation.runs.selection import (
    ChosenRuns,
    RunMean,
    RunsFilters,
    get_chosen_runs,
    get_compared,
)
from judgments.lists.queries import get_version
from judgments.pages.answers import ON_PAGES
from judgments.permissions import Access
from judgments.storage.caches import get_or_compute
from touchstone.statistics.groups import Correction, significance_groups
from touchstone.statistics.paired import FEWEST

MOST: Final = 200  # runs
CORRECTIONS: Final[dict[Correction, str]] = {
    "tukey": "Tukey’s HSD",
    "holm": "paired t, Holm",
}
assert tuple(CORRECTIONS) == get_args(Correction)


@dataclass(frozen=True)
class GroupedRun:
    """A run, its rank by the mean, and its letters. better_than: number of significantly worse
    runs."""

    place: int
    run: RunMean
    letters: str
    better_than: int


@dataclass(frozen=True)
class SignificanceGroups:
    """The runs of a leaderboard, best first. queries: those in the mean of every run.

    left_out: runs of the board beyond the first two hundred, or without a value. rows is empty
    where nothing can be said: of fewer than two runs or six queries.
    """

    chosen: ChosenRuns = field(metadata=ON_PAGES)
    correction: Correction
    queries: int
    left_out: int
    rows: tuple[GroupedRun, ...]

    @property
    def sets(self) -> SetChoice:
        """The saved sets to choose from."""
        return self.chosen.sets

    @property
    def version(self) -> int:
        return self.chosen.version

    @property
    def title(self) -> str:
        """What the numbers are of, for files."""
        chosen = self.chosen
        of = f"{chosen.list.collection.slug}/{chosen.list.slug}, version {chosen.version}"
        where = f", segment {chosen.segment}" if chosen.segment else ""
        where += f", set {chosen.sets.slug}" if chosen.sets.slug else ""
        return f"{of}{where}, {self.queries} queries, {CORRECTIONS[self.correction]} at 5 %"


def get_significance_groups(
    *, access: Access, slug: str, filters: RunsFilters, correction: str
) -> SignificanceGroups:
    """The groups of all runs of the leaderboard, at most two hundred.

    Raises MeasureError or FilterRefused for what can't be asked for, NotFound for a version.
    """
    own = next((one for one in CORRECTIONS if one == (correction or "tukey")), None)
    if own is None:
        message = f"Unknown correction {correction[:60]}. Choose one of: {', '.join(CORRECTIONS)}."
        raise FilterRefused("no_correction", message)
    chosen = get_chosen_runs(access=access, slug=slug, filters=filters)
    if not chosen.version:
        return SignificanceGroups(chosen, own, 0, 0, ())
    measure = chosen.asked.measure
    version = get_version(judgment_list=chosen.list, name=str(chosen.version))
    means = list_means(judgment_list=chosen.list, version=version, measure=measure)
    runs = [run for run, mean in means.items() if mean is not None][:MOST]
    compared = get_compared(
        runs=runs,
        judgment_list=chosen.list,
        version=chosen.version,
        measure=measure,
        segment=chosen.segment,
        saved_set=chosen.sets.chosen,
    )
    compared.sort(key=lambda one: -(one.mean.value or 0.0))
    left_out = len(means) - len(runs)
    if len(compared) < 2:
        return SignificanceGroups(chosen, own, 0, left_out, ())
    everywhere = np.logical_and.reduce([one.values.counted for one in compared])
    table = np.stack([one.values.values[everywhere] for one in compared], axis=1)
    if len(table) < FEWEST:
        return SignificanceGroups(chosen, own, len(table), left_out, ())
    digest = hashlib.sha256(table.tobytes()).hexdigest()
    result = get_or_compute(
        f"groups:1:{own}:{len(compared)}:{digest}",
        list[tuple[str, int]],
        KEPT,
        lambda: _groups(table, own),
    )
    rows = [
        GroupedRun(position, one.shown, letters, better)
        for position, (one, (letters, better)) in enumerate(
            zip(compared, result, strict=True), start=1
        )
    ]
    return SignificanceGroups(chosen, own, len(table), left_out, tuple(rows))


def _groups(table: np.ndarray, correction: Correction) -> list[tuple[str, int]]:
    """Each run's letters, and how many runs it differs from that have a lower mean."""
    result = significance_groups(table, correction=correction)
    means = table.mean(axis=0)
    better = (result.differs & (means[:, None] > means[None])).sum(axis=1)
    return list(zip(result.letters, better.tolist(), strict=True))
