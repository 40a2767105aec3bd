"""How tools differ on one run: what each preset's tool would print as its mean, side by side."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from touchstone.files.trec import RunFile
from touchstone.measures.definition import Measure
from touchstone.measures.discounts import FloatArray
from touchstone.measures.engine import evaluate_batch
from touchstone.measures.errors import MeasureError
from touchstone.measures.graded_runs import Ordering, Reading, graded_run
from touchstone.measures.grades import Grades
from touchstone.measures.judged_files import JudgedQueries
from touchstone.measures.presets import NDCG_PRESETS, Preset
from touchstone.measures.rankings import BoolArray, GradedRankings
from touchstone.measures.tool_rules import apply, tool_mean

MOST_CUTOFF: Final = 10_000


@dataclass(frozen=True, slots=True)
class PresetMean:
    """What one preset makes of a run.

    mean: None where no query is in it, or where the tool can't read these judgments.
    problem: why it can't; "" where it can.
    """

    preset: str
    mean: float | None
    queries: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class RankReversal:
    """Two of several things of which some presets rank one higher, and some the other.

    first, second: their places in what was given. for_first, for_second: those presets.
    """

    first: int
    second: int
    for_first: tuple[str, ...]
    for_second: tuple[str, ...]


def preset_means(
    judged: JudgedQueries, run: RunFile, cutoff: int, presets: Mapping[str, Preset] = NDCG_PRESETS
) -> tuple[PresetMean, ...]:
    """The mean of nDCG at the cutoff under every preset, in the presets' order.

    To the last bit what `evaluate --preset` says of the same files, each ordering of the run
    being worked out once for all presets that share it. Raises MeasureError where nothing is
    judged.
    """
    meant = {name: preset_measure(chosen, cutoff) for name, chosen in presets.items()}
    by_ordering: dict[Ordering, list[str]] = {}
    result: dict[str, PresetMean] = {}
    for name, measure in meant.items():
        problem = _problem(measure, judged.grades)
        if problem:
            result[name] = PresetMean(name, None, 0, problem)
        else:
            by_ordering.setdefault(measure.ordering, []).append(name)
    own = [[meant[name] for name in names] for names in by_ordering.values()]
    graded = graded_run(judged, run.chunks(), list(map(Reading.of, own)))
    order = _ToolOrder(tuple(graded.order()), graded.query_ids)
    for measures, (ordering, names) in zip(own, by_ordering.items(), strict=True):
        computed = evaluate_batch(measures, graded.rankings[ordering], judged.grades)
        for column, name in enumerate(names):
            values, counted = computed.values[:, column], computed.counted[:, column]
            result[name] = _preset_mean(presets[name], order, values, counted)
    return tuple(result[name] for name in presets)


def preset_measure(chosen: Preset, cutoff: int) -> Measure:
    """nDCG at a cutoff as the preset's tool means it."""
    return apply(chosen, Measure(family="nDCG", cutoff=cutoff))


def places(values: Sequence[float | None]) -> tuple[int | None, ...]:
    """The place of each value, the highest being 1; equal ones share theirs, None has none."""
    known = sorted(value for value in values if value is not None)
    return tuple(
        None if value is None else 1 + len(known) - bisect_right(known, value) for value in values
    )


@dataclass(frozen=True, slots=True)
class RankReversals:
    """pairs: those that split the presets most, the most divided first. count: of all pairs."""

    pairs: tuple[RankReversal, ...]
    count: int


def rank_reversals(
    values: Mapping[str, Sequence[float | None]], most: int | None = None
) -> RankReversals:
    """The pairs whose order depends on the preset; those that split the presets most come first.

    values: by preset, one of each thing compared. Where two are equal, or one is missing, a preset
    takes no side. most: pairs to be named; None: all.
    """
    if not values:
        return RankReversals((), 0)
    names = tuple(values)
    table = np.array(
        [[np.nan if one is None else one for one in values[name]] for name in names], np.float64
    ).reshape(len(names), -1)
    divided: list[tuple[int, int, int]] = []
    count = 0
    for first in range(table.shape[1]):
        own, others = table[:, first, None], table[:, first + 1 :]
        split = np.minimum((own > others).sum(axis=0), (own < others).sum(axis=0))
        result = np.flatnonzero(split)
        count += len(result)
        divided += [(-int(split[at]), first, first + 1 + at) for at in result.tolist()]
        if most is not None and len(divided) > 10 * most:
            divided = sorted(divided)[:most]
    pairs = []
    for _, first, second in sorted(divided)[:most]:
        one, other = table[:, first], table[:, second]
        pairs.append(
            RankReversal(first, second, _named(names, one > other), _named(names, one < other))
        )
    return RankReversals(tuple(pairs), count)


def _named(names: Sequence[str], chosen: BoolArray) -> tuple[str, ...]:
    return tuple(name for name, own in zip(names, chosen.tolist(), strict=True) if own)


def _problem(measure: Measure, grades: Grades) -> str:
    """Why a measure can't be computed with these grades; "" where it can."""
    nothing = GradedRankings(
        np.zeros((0, 0), np.uint8),
        np.zeros(0, np.int64),
        np.zeros((0, len(grades.codes)), np.int64),
        np.zeros((0, 0), np.intp),
    )
    try:
        evaluate_batch([measure], nothing, grades)
    except MeasureError as error:
        return error.message.removeprefix(f"{measure.name}: ")
    return ""


@dataclass(frozen=True, slots=True, eq=False)
class _ToolOrder:
    """Rows of the values as the run has their queries, and every row's query."""

    rows: tuple[int, ...]
    query_ids: tuple[str, ...]


def _preset_mean(
    chosen: Preset, order: _ToolOrder, values: FloatArray, counted: BoolArray
) -> PresetMean:
    rows = [row for row in order.rows if counted[row]]
    mean = tool_mean(chosen, [order.query_ids[row] for row in rows], values[rows])
    return PresetMean(chosen.name, mean, len(rows))
