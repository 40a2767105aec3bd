"""What a sample says of runs: both readings of every measure, from the rankings."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.query_values import QueryValues
from evaluation.evaluations.sums import Board, RunSize, compute_values
from evaluation.models import Run
from evaluation.samples.drawn import Drawn, get_judged_of
from touchstone.measures.definition import Measure
from touchstone.measures.engine import Values
from touchstone.sampling.estimation import Floats
from touchstone.sampling.readings import Flags, SampleReading, two_readings

Pair = tuple[SampleReading, SampleReading]


def compute_readings(
    *, drawn: Drawn, version: int, runs: Sequence[Run], measures: Sequence[Measure]
) -> list[list[Pair]]:
    """For each run and measure the means per query and per search at a version."""
    found = _values(drawn, version, runs, measures)
    return [
        [
            two_readings(values[:, place], counted[:, place], drawn.sample)
            for place in range(len(measures))
        ]
        for values, counted in zip(found.values, found.counted, strict=True)
    ]


def readings_of_differences(
    *, drawn: Drawn, baseline: QueryValues, others: Sequence[QueryValues]
) -> list[Pair]:
    """For each other run both readings of its difference from the baseline, query by query."""
    first, first_counted = _of_drawn(drawn, baseline)
    pairs = []
    for one in others:
        values, counted = _of_drawn(drawn, one)
        pairs.append(two_readings(values - first, counted & first_counted, drawn.sample))
    return pairs


def _of_drawn(drawn: Drawn, found: QueryValues) -> tuple[Floats, Flags]:
    """The values of the drawn queries, and which of them count."""
    own = found.within(drawn.query_ids.tolist())
    places = np.searchsorted(drawn.query_ids, own.query_ids)
    values, counted = np.zeros(len(drawn.query_ids)), np.zeros(len(drawn.query_ids), bool)
    values[places], counted[places] = own.values, own.counted
    return values, counted


def _values(drawn: Drawn, version: int, runs: Sequence[Run], measures: Sequence[Measure]) -> Values:
    plan = drawn.plan
    return compute_values(
        board=Board(plan.list_id, tuple(measures), grades_of(plan.list)),
        judged=get_judged_of(drawn, version),
        runs=[RunSize(run.pk, run.row_count, run.query_count) for run in runs],
        query_ids=drawn.query_ids.tolist(),
    )


def count_judged(drawn: Drawn, version: int) -> int:
    """The drawn queries that have a judgment at a version."""
    return len(np.unique(get_judged_of(drawn, version).query_ids))


def to_json(pairs: Sequence[Pair]) -> list[list[dict[str, Any]]]:
    """As they are stored."""
    return [[asdict(one) for one in pair] for pair in pairs]


def from_json(stored: Sequence[Sequence[dict[str, Any]]]) -> list[Pair]:
    """What `to_json` was given."""
    return [(SampleReading(**first), SampleReading(**second)) for first, second in stored]
