"""What a sample says of runs: both readings of every measure, from the rankings."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from evaluation.evaluations.measure_sets import grades_of
from evaluation.evaluations.sums import Board, RunSize, compute_values
from evaluation.models import Run
from evaluation.samples.drawn import Drawn, get_judged_of
from touchstone.measures.definition import Measure
from touchstone.measures.engine import Values
from touchstone.sampling.readings import SampleReading, two_readings

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


def compute_differences(
    *, drawn: Drawn, version: int, baseline: Run, others: Sequence[Run], measure: Measure
) -> list[Pair]:
    """For each other run both readings of its difference from the baseline, query by query."""
    found = _values(drawn, version, [baseline, *others], [measure])
    first, *rest = found.values[..., 0]
    counts = found.counted[..., 0]
    return [
        two_readings(values - first, counts[0] & counted, drawn.sample)
        for values, counted in zip(rest, counts[1:], strict=True)
    ]


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
