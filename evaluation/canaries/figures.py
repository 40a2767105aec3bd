"""What a snapshot says of a canary: differences, shares, means, and how its rules stand."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import Any, Final

import numpy as np

from evaluation.canaries.rules import (
    BoardChecked,
    BoardRule,
    Checked,
    QueryRule,
    QueryValue,
    check_rule,
    not_answered,
    of_boards,
    of_queries,
    read_rules,
)
from evaluation.evaluations.measure_sets import get_leaderboard, measures_of
from evaluation.evaluations.query_values import QueryValues, get_query_values
from evaluation.live_rankers.outcomes import ANSWERED
from evaluation.live_rankers.queries import get_snapshot_state
from evaluation.models import Canary, Run, Snapshot
from evaluation.rankings.queries import load_answers
from judgments.models import Document, Query
from touchstone.measures.definition import FAMILIES, Measure
from touchstone.measures.grammar import parse_measure
from touchstone.statistics.monitoring import (
    CLEAR,
    Fall,
    Finding,
    fall_of,
    judge_coverage,
    judge_floor,
    judge_quality,
)
from touchstone.statistics.non_inferiority import LEVEL

COVERAGE: Final = ("Judged", "Unjudged")  # families of measures that are alerts of their own


def get_figures(canary: Canary, snapshot: Snapshot, version: int) -> dict[str, Any]:
    """queries, answered; p95: seconds; and, where there is a run: n, difference, low, high (of the
    mean to the baseline's), judged_high (the same of judged documents alone), judged and
    baseline_judged (shares), mean, judged_mean (of judged documents alone), floor, rules, board.
    """
    state = get_snapshot_state(snapshot=snapshot)
    figures: dict[str, Any] = {
        "queries": state.queries,
        "answered": state.answered,
        "p95": state.p95,
        "has_run": snapshot.run is not None,
    }
    if snapshot.run is None or not version:
        return figures
    both = _all_values(canary, snapshot, parse_measure(canary.measure))
    fall = _fall(both.now, both.base)
    alone = fall if both.alone is None else _fall(*both.alone)
    bounds = {"low": fall.low, "high": fall.high, "judged_high": alone.high}
    figures |= {
        "n": fall.n,
        "difference": fall.difference,
        **{name: value if isfinite(value) else None for name, value in bounds.items()},
        "judged": _judged(both.now),
        "baseline_judged": _judged(both.base),
        "mean": _mean(both.now),
        "judged_mean": None if both.alone is None else _mean(both.alone[0]),
    }
    if canary.floor is not None:
        figures["floor"] = canary.floor
    rules = read_rules(canary.rules)
    if about_queries := of_queries(rules):
        checked = _check_rules(canary, snapshot, about_queries)
        figures["rules"] = [asdict(one) for one in checked]
    if about_boards := of_boards(rules, _board_measures(canary)):
        found = _check_boards(canary, snapshot, about_boards)
        figures["board"] = [asdict(one) for one in found]
    return figures


def _board_measures(canary: Canary) -> list[str]:
    """Those of the list's leaderboard that grades move, so not Judged@k; before its first
    evaluation that of the canary.
    """
    board = get_leaderboard(judgment_list=canary.list)
    if board is None:
        return [canary.measure]
    names = [one.name for one in measures_of(board.measure_set) if one.family not in COVERAGE]
    return names or [canary.measure]


def _check_boards(
    canary: Canary, snapshot: Snapshot, rules: Sequence[BoardRule]
) -> Iterator[BoardChecked]:
    """Each rule for its measure, on the canary's queries.

    Where several are compared with the baseline, each interval is so much wider that all of them
    together keep the level of one (Bonferroni).
    """
    compared = sum(rule.below is not None for rule in rules)
    level = 1 - (1 - LEVEL) / max(compared, 1)
    for rule in rules:
        both = _all_values(canary, snapshot, parse_measure(rule.measure))
        mean = _mean(both.now)
        if mean is None:
            yield BoardChecked(str(rule), "not judged", None)
        elif rule.below is None:
            finding: Finding | None = judge_floor(
                mean,
                floor=rule.at_least or 0.0,
                clear=CLEAR * canary.margin,
                judged_only=None if both.alone is None else _mean(both.alone[0]),
                coverage=find_coverage(canary, _judged(both.now), _judged(both.base)),
            )
            yield BoardChecked(str(rule), f"{mean:.4f}", finding)
        else:
            fall = _fall(both.now, both.base, level=level)
            alone = None if both.alone is None else _fall(*both.alone, level=level)
            # of a single query there is no interval
            finding = (
                judge_quality(fall, margin=rule.below, judged_only=alone)
                if isfinite(fall.high)
                else None
            )
            found = f"{fall.difference:+.4f}, {fall.low:+.4f} to {fall.high:+.4f}"
            yield BoardChecked(str(rule), found, finding)


def _check_rules(canary: Canary, snapshot: Snapshot, rules: Sequence[QueryRule]) -> list[Checked]:
    """Every rule, held against the run of a snapshot; its set of queries plays no part."""
    assert snapshot.run is not None
    collection = canary.list.collection_id
    queries = Query.objects.filter(
        collection=collection, qid__in={rule.query_id for rule in rules}
    ).order_by("pk")
    ids = {query.qid: query.pk for query in queries}
    docids = {rule.document for rule in rules if rule.document}
    documents_qs = Document.objects.filter(collection=collection, docid__in=docids)
    documents = dict(documents_qs.values_list("docid", "pk"))
    answered_qs = snapshot.answers.filter(query__in=ids.values(), outcome__in=ANSWERED)
    answered = set(answered_qs.values_list("query_id", flat=True))
    run_answers = load_answers(run_id=snapshot.run.pk, query_ids=list(ids.values()))
    ranked = {
        query_id: answer.documents[answer.order].tolist()
        for query_id, answer in zip(ids.values(), run_answers, strict=True)
    }
    measure = parse_measure(canary.measure)
    alone = _alone(measure)
    values = [
        _values_of(canary, run, one, list(ids.values()))
        for run, one in (
            (snapshot.run, measure),
            (canary.baseline, measure),
            *((run, alone) for run in (snapshot.run, canary.baseline) if alone),
        )
    ]
    checked = []
    for rule in rules:
        query_id = ids.get(rule.query_id)
        if query_id is None or query_id not in answered:
            checked.append(not_answered(rule))
            continue
        results = ranked[query_id]
        document = documents.get(rule.document)
        checked.append(
            check_rule(
                rule,
                rank=results.index(document) + 1 if document in results else None,
                values=[one.get(query_id) for one in values],
            )
        )
    return checked


def _values_of(
    canary: Canary, run: Run, measure: Measure, query_ids: list[int]
) -> dict[int, QueryValue]:
    """A run's values of some queries that are in the mean."""
    found = get_query_values(
        run=run, judgment_list=canary.list, version=canary.list.head, measure=measure
    ).within(query_ids)
    rows = zip(
        found.query_ids.tolist(),
        found.values.tolist(),
        found.judged.tolist(),
        found.counted,
        strict=True,
    )
    return {
        query_id: QueryValue(value, judged) for query_id, value, judged, counts in rows if counts
    }


@dataclass(frozen=True)
class _Values:
    """now, base: of the run and of the baseline. alone: both with unjudged documents left out;
    None where the measure is about them.
    """

    now: QueryValues
    base: QueryValues
    alone: tuple[QueryValues, QueryValues] | None


def _all_values(canary: Canary, snapshot: Snapshot, measure: Measure) -> _Values:
    alone = _alone(measure)
    return _Values(
        *_both(canary, snapshot, measure),
        alone=None if alone is None else _both(canary, snapshot, alone),
    )


def _alone(measure: Measure) -> Measure | None:
    """The measure with unjudged documents left out; None where it has no such parameter."""
    if "unjudged" not in FAMILIES[measure.family].parameters:
        return None
    return replace(measure, unjudged="condensed")


def _both(canary: Canary, snapshot: Snapshot, measure: Measure) -> tuple[QueryValues, QueryValues]:
    """The values of the run and of the baseline, of the same queries.

    Queries that the engine failed to answer are left out: their values of 0 say nothing.
    """
    now, base = (
        get_query_values(
            run=one, judgment_list=canary.list, version=canary.list.head, measure=measure
        )
        for one in (snapshot.run, canary.baseline)
        if one is not None
    )
    failed = snapshot.answers.exclude(outcome__in=ANSWERED).values_list("query_id", flat=True)
    common = np.setdiff1d(
        np.intersect1d(now.query_ids, base.query_ids), np.array(list(failed), np.int64)
    )
    if canary.saved_set is not None:
        own = canary.saved_set.members.values_list("query_id", flat=True)
        common = np.intersect1d(common, np.array(list(own), np.int64))
    return now.within(common.tolist()), base.within(common.tolist())


def _fall(now: QueryValues, base: QueryValues, *, level: float = LEVEL) -> Fall:
    both = now.counted & base.counted
    return fall_of(now.values[both] - base.values[both], level=level)


def _mean(values: QueryValues) -> float | None:
    counted = values.values[values.counted]
    return float(counted.mean()) if len(counted) else None


def _judged(values: QueryValues) -> float | None:
    answered = values.shown > 0
    return float(values.judged[answered].mean()) if answered.any() else None


def find_coverage(canary: Canary, judged: float | None, baseline: float | None) -> Finding | None:
    """Whether the share of judged documents fell; None where nothing is shown."""
    if judged is None or baseline is None:
        return None
    return judge_coverage(judged, baseline=baseline, margin=canary.coverage_margin)
