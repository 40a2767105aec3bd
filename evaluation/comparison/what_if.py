"""What a leaderboard would say if some grades were others; nothing is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.queries import RunSums, chosen_measures, list_run_sums
from evaluation.evaluations.query_values import get_mean, values_under
from evaluation.evaluations.sums import Board, RunSize, chunks, judged_queries
from evaluation.rankings.queries import load_rankings
from evaluation.runs.selection import ComparedRun
from judgments.models import JudgmentList, JudgmentVersion
from judgments.pages.answers import ON_PAGES
from judgments.versions.queries import Judged, get_judged
from touchstone.measures.definition import Measure
from touchstone.measures.scoring import StoredJudgments, score
from touchstone.measures.tool_differences import places
from touchstone.statistics.ranks import kendall_tau

MOST_DRAWS, FEWEST_DRAWS = 40, 12
DRAWN: Final = 200_000  # grades, after which there are fewer draws
MOST_RUNS: Final = 30
MOST_RANKS: Final = 200_000  # of all runs together
Pair = tuple[int, int]  # pks of a query and a document


@dataclass(frozen=True)
class WhatIf:
    """One run's mean of a measure now, and as it would be."""

    ranker: str
    run: str
    measure: str
    before: float
    after: float

    @property
    def shift(self) -> float:
        return self.after - self.before


@dataclass(frozen=True)
class Resolution:
    """The smallest difference of two means that can be detected among so many runs."""

    measure: str
    apart: float
    runs: int


@dataclass(frozen=True)
class Standing:
    """A run's mean and its rank; null if no query is left in the mean.

    On pages, label: what they call the run. place_before: with the grades as they are.
    """

    run: str
    mean: float | None
    place: int | None
    label: str = field(metadata=ON_PAGES)
    place_before: int | None = field(metadata=ON_PAGES)

    @property
    def has_moved(self) -> bool:
        return self.place != self.place_before


@dataclass(frozen=True, kw_only=True)
class OtherBoard:
    """Some compared runs under other grades, in their order.

    tau: Kendall's, of their order with the one as it is; None where either has no order.
    """

    tau: float | None
    runs: tuple[Standing, ...]

    @property
    def moved(self) -> tuple[Standing, ...]:
        """The runs that change places, the best first."""
        own = [one for one in self.runs if one.has_moved]
        return tuple(sorted(own, key=lambda one: (one.place or len(self.runs) + 1, one.label)))


def get_other_board(
    *,
    compared: Sequence[ComparedRun],
    judgment_list: JudgmentList,
    version: int,
    measure: Measure,
    grades: Mapping[Pair, int | None],
) -> OtherBoard:
    """The compared runs with these grades in place of a version's; nothing is written.

    grades: as for `list_what_if`. Means are over the queries of the comparison; one that loses all
    its judgments leaves the mean wherever the measure's mean is over judged queries.
    """
    before = [one.mean.value for one in compared]
    after = list(before)
    if grades:
        touched = np.unique(np.array([query for query, _ in grades], dtype=np.int64))
        judged = get_judged(list_id=judgment_list.pk, version=version, query_ids=touched.tolist())
        held = _changed(judged, grades, set(touched.tolist()))
        for position, one in enumerate(compared):
            renewed = values_under(
                run=one.run,
                judged=held,
                query_ids=np.intersect1d(touched, one.values.query_ids),
                grades=grades_of(judgment_list),
                measure=measure,
            )
            result = one.values.updated(renewed)
            mean = get_mean(
                found=result, judgment_list=judgment_list, version=version, measure=measure
            )
            after[position] = mean.value
    rows = zip(compared, after, places(after), places(before), strict=True)
    is_known = None not in before and None not in after
    orders = np.array([before, after], np.float64)
    return OtherBoard(
        runs=tuple(
            Standing(one.name, mean, position, one.label, was) for one, mean, position, was in rows
        ),
        tau=kendall_tau(orders[0], orders[1]) if is_known else None,
    )


def list_what_if(*, judgment_list: JudgmentList, grades: Mapping[Pair, int | None]) -> list[WhatIf]:
    """Every run's mean of the list's first measure, with these grades in place of the list's.

    grades: a code of the scale by query and document; None takes a judgment away. The best after
    the change come first. Only the queries of the pairs are scored, twice; what is stored is
    left alone. For the worker. Nothing where no evaluation is stored yet.
    """
    known = _known_runs(judgment_list)
    if not known:
        return []
    version, measure = judgment_list.head, known[0].measures[0]
    sums, counts = _shifts(judgment_list, version, measure, known, grades)
    result = []
    for position, one in enumerate(known):
        now = one.averages[0]
        count = now.n + int(counts[position])
        total = (now.value or 0.0) * now.n
        after = (total + float(sums[position])) / count if count else 0.0
        names = (one.run.ranker.name, one.run.name, measure.name)
        result.append(WhatIf(*names, now.value or 0.0, after))
    return sorted(result, key=lambda one: (-one.after, one.ranker, one.run))


def get_resolution(
    *, judgment_list: JudgmentList, chances: Mapping[Pair, Sequence[float]]
) -> Resolution | None:
    """How far apart two of the list's runs must be, so that its labels' errors can't explain it.

    chances: how probable each grade of the scale is, worst first, by query and document. The
    grades are drawn from them again and again; a difference of 1.96 standard deviations, of those
    two runs that it moves most, is told apart. For the worker. None with fewer than two evaluated
    runs, or where so much is ranked that it would take long.
    """
    known = _known_runs(judgment_list)[:MOST_RUNS]
    if len(known) < 2 or not chances or sum(one.run.row_count for one in known) > MOST_RANKS:
        return None
    measure, codes = known[0].measures[0], [grade["code"] for grade in judgment_list.scale]
    pairs = sorted(chances)
    edges = np.cumsum([chances[pair] for pair in pairs], axis=1)
    rng = np.random.default_rng(0)
    means = []
    draws = max(FEWEST_DRAWS, min(MOST_DRAWS, DRAWN // len(pairs)))
    for _ in range(draws):
        thrown = rng.random(len(pairs))[:, None] * edges[:, -1:]
        steps = np.minimum((edges <= thrown).sum(axis=1), len(codes) - 1)
        drawn = {pair: codes[step] for pair, step in zip(pairs, steps.tolist(), strict=True)}
        sums, _ = _shifts(judgment_list, judgment_list.head, measure, known, drawn)
        means.append(sums / max(1, known[0].averages[0].n))
    table = np.array(means)
    apart = (table[:, :, None] - table[:, None, :]).std(axis=0)
    return Resolution(measure.name, float(1.96 * apart.max()), len(known))


def _known_runs(judgment_list: JudgmentList) -> list[RunSums]:
    """The newest run of each ranker with its mean of the list's first measure at the head."""
    measure = next((m for m in chosen_measures(judgment_list, "") if m.average == "macro"), None)
    version = JudgmentVersion.objects.filter(list=judgment_list, number=judgment_list.head).first()
    if measure is None or version is None:
        return []
    result = list_run_sums(
        judgment_list=judgment_list, version=version, measures=[measure], only_newest=True
    )
    return [one for one in result if one.version == version.number and one.averages]


def _shifts(
    judgment_list: JudgmentList,
    version: int,
    measure: Measure,
    known: list[RunSums],
    grades: Mapping[Pair, int | None],
) -> tuple[np.ndarray, np.ndarray]:
    """By how much each run's sum and number of queries change."""
    board = Board(judgment_list.pk, (measure,), grades_of(judgment_list))
    query_ids = np.unique(np.array([query for query, _ in grades], dtype=np.int64))
    sums, counts = np.zeros(len(known)), np.zeros(len(known), dtype=np.int64)
    for chunk in chunks(
        query_ids, [RunSize(one.run.pk, one.run.row_count, one.run.query_count) for one in known]
    ):
        judged = get_judged(list_id=board.list_id, version=version, query_ids=chunk.tolist())
        rankings = load_rankings(run_ids=[one.run.pk for one in known], query_ids=chunk.tolist())
        for sign, held in ((1, _changed(judged, grades, set(chunk.tolist()))), (-1, judged)):
            own: StoredJudgments = judged_queries(held, chunk, board.grades)
            values = score(board.measures, board.grades, own, rankings, n_runs=len(known))
            counted = values.counted[:, :, 0]
            sums += sign * np.where(counted, values.values[:, :, 0], 0.0).sum(axis=1)
            counts += sign * counted.sum(axis=1)
    return sums, counts


def _changed(judged: Judged, grades: Mapping[Pair, int | None], queries: set[int]) -> Judged:
    held: dict[Pair, int | None] = {**judged.pairs()}
    held.update({pair: grade for pair, grade in grades.items() if pair[0] in queries})
    return Judged.of({pair: grade for pair, grade in held.items() if grade is not None})
