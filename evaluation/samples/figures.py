"""What a sample says of runs: both readings of every measure, from the rankings."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.query_values import QueryValues
from evaluation.evaluations.sums import Board, RunSize, compute_values
from evaluation.models import Run
from evaluation.samples.drawn import Counted, Drawn, get_totals
from touchstone.measures.definition import Measure
from touchstone.measures.scoring import counts_zero_results
from touchstone.sampling.estimation import Floats
from touchstone.sampling.readings import (
    Flags,
    SampledValues,
    SampleReading,
    post_stratified_readings,
    two_readings,
)

Pair = tuple[SampleReading, SampleReading]
Readings = tuple[SampleReading, ...]


def compute_readings(
    *, drawn: Drawn, counted: Counted, runs: Sequence[Run], measures: Sequence[Measure]
) -> list[list[Readings]]:
    """For each run and measure the means per query and per search over what counts.

    After these two, of a plan with strata, both again post-stratified to the newest traffic.
    """
    plan = drawn.plan
    result = compute_values(
        board=Board(plan.list_id, tuple(measures), grades_of(plan.list)),
        judged=counted.judged,
        runs=[RunSize(run.pk, run.row_count, run.query_count) for run in runs],
        query_ids=drawn.query_ids.tolist(),
    )
    totals = get_totals(plan, counted.traffic) if counted.traffic else None
    return [
        [
            _readings(
                values[:, position],
                own[:, position] | _as_empty(drawn, counted, measure),
                drawn.sample,
                totals,
            )
            for position, measure in enumerate(measures)
        ]
        for values, own in zip(result.values, result.counted, strict=True)
    ]


def _as_empty(drawn: Drawn, counted: Counted, measure: Measure) -> Flags:
    """Which of the drawn queries count as an empty ranking, whose value is 0."""
    if not counts_zero_results(measure):
        return np.zeros(len(drawn.query_ids), bool)
    return np.isin(drawn.query_ids, np.array(counted.zero_results, np.int64))


def _readings(
    values: Floats, counted: Flags, sample: SampledValues, totals: tuple[Floats, Floats] | None
) -> Readings:
    drawn = two_readings(values, counted, sample)
    if totals is None:
        return drawn
    queries, searches = totals
    return *drawn, *post_stratified_readings(
        values, counted, sample, queries=queries, searches=searches
    )


def readings_of_differences(
    *,
    drawn: Drawn,
    counted: Counted,
    measure: Measure,
    baseline: QueryValues,
    others: Sequence[QueryValues],
) -> list[Pair]:
    """For each other run both readings of its difference from the baseline, query by query."""
    first, first_counted = _of_drawn(drawn, baseline)
    empty = _as_empty(drawn, counted, measure)
    pairs = []
    for one in others:
        values, is_counted = _of_drawn(drawn, one)
        both = (is_counted & first_counted) | empty
        pairs.append(two_readings(values - first, both, drawn.sample))
    return pairs


def _of_drawn(drawn: Drawn, found: QueryValues) -> tuple[Floats, Flags]:
    """The values of the drawn queries, and which of them count."""
    own = found.within(drawn.query_ids.tolist())
    places = np.searchsorted(drawn.query_ids, own.query_ids)
    values, counted = np.zeros(len(drawn.query_ids)), np.zeros(len(drawn.query_ids), bool)
    values[places], counted[places] = own.values, own.counted
    return values, counted


def to_json(readings: Sequence[Readings]) -> list[list[dict[str, Any]]]:
    """As they are stored."""
    return [[asdict(one) for one in own] for own in readings]


def from_json(stored: Sequence[Sequence[dict[str, Any]]]) -> list[Readings]:
    """What `to_json` was given."""
    return [tuple(SampleReading(**one) for one in own) for own in stored]
