"""From a qrels file and a run file to values, without a database: what trec_eval does."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from evaluation.averages import Average, Groups, averages, reads_traits, sums_of
from evaluation.measures.coverage import coverage, relevant_coverage
from evaluation.measures.definition import Measure
from evaluation.measures.differences import Difference, difference
from evaluation.measures.discounts import FloatArray
from evaluation.measures.engine import (
    count_together,
    counts_needed,
    depth_needed,
    evaluate_batch,
)
from evaluation.measures.errors import MeasureError, ZeroIdealError
from evaluation.measures.explanation import Explanation, explain, value_of
from evaluation.measures.judged_files import JudgedQueries, order_of
from evaluation.measures.presets import Preset, apply, printed, tool_mean
from evaluation.measures.rankings import (
    BoolArray,
    GradedRankings,
)
from evaluation.measures.rounding import rounded_mean
from judgments.formats.trec import RunFile
from judgments.temporal import Traits

PLAIN: Final = Traits("", 1.0)  # of a query that nothing is said about


@dataclass(frozen=True)
class FileValues:
    """What one run is worth: a row per query, a column per measure.

    query_ids: judged queries as the qrels have them, then those that only the run has.
    means, standard_errors: None where no query (for an error: fewer than two) is in the mean.
    counts: how many queries are in each mean.
    segments: by name, every measure's value over the segment's queries; the nameless one first.
        None of what is no mean over queries. Empty where nothing is known of the queries.
    """

    run: str
    query_ids: tuple[str, ...]
    values: FloatArray
    counted: BoolArray
    means: tuple[float | None, ...]
    standard_errors: tuple[float | None, ...]
    counts: tuple[int, ...]
    segments: Mapping[str, tuple[Average | None, ...]] = field(default_factory=dict)


def evaluate_file(
    judged: JudgedQueries,
    run: RunFile,
    measures: Sequence[Measure],
    preset: Preset | Sequence[Preset | None] | None = None,
    *,
    collection_size: int | None = None,
) -> FileValues:
    """The values of every measure for one run.

    preset: for all measures, or one for each. collection_size: how many documents there are, for
    Coverage of them.
    Without a preset, means are exact (rounded once); with one, they are summed and rounded as its
    tool does, and the measures are what that tool means by them.
    Raises MeasureError, naming the query where one is to blame.
    """
    if isinstance(preset, Preset) or preset is None:
        preset = [preset] * len(measures)
    presets = tuple(preset)
    meant = [
        measure if tool is None else apply(tool, measure)
        for measure, tool in zip(measures, presets, strict=True)
    ]
    query_ids = judged.query_rows(run)
    groups = _groups(judged, meant, query_ids)
    values, counted, of_run = _worked_out(judged, run, meant, collection_size)
    found = list(averages(meant, sums_of(meant, values, counted, groups)))
    order = run_order(run, query_ids) if any(presets) else []
    for column, tool in enumerate(presets):
        if tool is not None and meant[column].average == "macro":
            rows = [row for row in order if counted[row, column]]
            mean = tool_mean(tool, [query_ids[row] for row in rows], values[rows, column])
            value = rounded_mean(meant[column], mean)
            found[column] = replace(found[column], value=value)
    for column, (value, n_queries) in of_run.items():
        found[column] = Average(value, None, n_queries)
    segments = {} if groups is None else _by_segment(meant, values, counted, groups)
    for column, tool in enumerate(presets):
        if tool is not None:
            values[:, column] = printed(tool, values[:, column])
    return FileValues(
        run=run.name,
        query_ids=query_ids,
        values=values,
        counted=counted,
        means=tuple(own.value for own in found),
        standard_errors=tuple(own.error for own in found),
        counts=tuple(own.n for own in found),
        segments=segments,
    )


def _groups(
    judged: JudgedQueries, meant: Sequence[Measure], query_ids: Sequence[str]
) -> Groups | None:
    """The weight and segment of the queries; None where no file says them, and none need be."""
    if judged.traits is None:
        asking = [measure.name for measure in meant if reads_traits([measure])]
        if asking:
            raise MeasureError(
                f"{asking[0]}: what a query weighs and which segment it is in stands in a file of "
                "queries; --queries names it"
            )
        return None
    traits = [judged.traits.get(query_id, PLAIN) for query_id in query_ids]
    return Groups.of([own.weight for own in traits], [own.segment for own in traits])


def _by_segment(
    meant: Sequence[Measure], values: FloatArray, counted: BoolArray, groups: Groups
) -> dict[str, tuple[Average | None, ...]]:
    """Every measure's value over the queries of each segment that has one in any mean."""
    own = [
        replace(measure, average="macro") if measure.average == "segments" else measure
        for measure in meant
    ]
    out: dict[str, tuple[Average | None, ...]] = {}
    for place, name in enumerate(groups.segments):
        rows = groups.places == place
        if not counted[rows].any():
            continue
        here = Groups(groups.weights[rows], np.zeros(int(rows.sum()), np.int64), (name,))
        found = averages(own, sums_of(own, values[rows], counted[rows], here))
        out[name] = tuple(
            average if measure.is_mean else None
            for average, measure in zip(found, own, strict=True)
        )
    return out


def _worked_out(
    judged: JudgedQueries, run: RunFile, meant: Sequence[Measure], collection_size: int | None
) -> tuple[FloatArray, BoolArray, dict[int, tuple[float | None, int]]]:
    """Values, whether they count, and by column (value, queries) of what is no mean."""
    query_ids = judged.query_rows(run)
    values = np.zeros((len(query_ids), len(meant)))
    counted = np.zeros(values.shape, bool)
    of_run: dict[int, tuple[float | None, int]] = {}
    for ordering, columns in _by_ordering(meant):
        by_query = [c for c in columns if meant[c].kind.per_query]
        own = [_as_macro(meant[column]) for column in by_query]
        rankings = judged.rankings(run, ordering, depth_needed(own), returned=counts_needed(own))
        try:
            found = evaluate_batch(own, rankings, judged.grades)
        except ZeroIdealError as error:
            raise MeasureError(f"query {query_ids[error.row]}: {error.message}") from None
        values[:, by_query], counted[:, by_query] = found.values, found.counted
        for column in columns:
            if not meant[column].kind.per_query:
                of_run[column] = _covered(judged, run, meant[column], collection_size)
            elif not meant[column].is_mean:
                share = count_together(meant[column], rankings, judged.grades).share
                of_run[column] = share, int(counted[:, column].sum())
    return values, counted, of_run


def _as_macro(measure: Measure) -> Measure:
    """The measure as a plain mean over queries."""
    return measure if measure.average == "macro" else replace(measure, average="macro")


def _covered(
    judged: JudgedQueries, run: RunFile, measure: Measure, collection_size: int | None
) -> tuple[float | None, int]:
    """Coverage of one run, and how many queries it answers."""
    documents, lengths = judged.ranked(run, measure.ordering)
    k, n_queries = measure.cutoff or 0, int((lengths > 0).sum())
    if measure.of == "relevant":
        relevant = judged.qrels.codes[
            judged.levels[1:] >= max(judged.grades.at_least(measure.rel), 1)
        ]
        return relevant_coverage(documents, lengths, cutoff=k, relevant=relevant).share, n_queries
    if collection_size is None:
        raise MeasureError(
            f"{measure.name}: a run doesn't say how many documents there are; --collection-size "
            "does, and Coverage(of='relevant') needs no such number"
        )
    try:
        found = coverage(documents, lengths, cutoff=k, size=collection_size)
    except ValueError as error:
        raise MeasureError(f"{measure.name}: {error}") from None
    return found.share, n_queries


def explain_file(
    judged: JudgedQueries,
    run: RunFile,
    measures: Sequence[Measure],
    query_id: str,
) -> tuple[Explanation, ...]:
    """Every measure of one query of the run, taken apart.

    Raises MeasureError where neither file has the query.
    """
    row = _row_of(judged, run, query_id)
    out = []
    for measure in measures:
        if not measure.kind.per_query:
            raise MeasureError(f"{measure.name} is about a whole run: there is no query to explain")
        meant = replace(measure, average="macro")
        rankings = judged.rankings(run, meant.ordering, None).rows(row, row + 1)
        doc_ids = _doc_ids(run, query_id, meant.ordering)
        ties = None if rankings.ties is None else rankings.ties[:, : len(doc_ids)]
        whole = replace(rankings, levels=rankings.levels[:, : len(doc_ids)], ties=ties)
        out.append(explain(meant, doc_ids, whole, judged.grades))
    return tuple(out)


def compare_file(
    judged: JudgedQueries, run: RunFile, pairs: Sequence[tuple[Measure, Measure]], query_id: str
) -> tuple[Difference, ...]:
    """Why the two definitions of each pair say different things of one query.

    Raises MeasureError where neither file has the query.
    """
    row = _row_of(judged, run, query_id)

    def ranking(ordering: tuple[str, str]) -> GradedRankings:
        return judged.rankings(run, ordering, None).rows(row, row + 1)

    value = value_of(ranking, judged.grades)
    return tuple(difference(one, other, value) for one, other in pairs)


def _row_of(judged: JudgedQueries, run: RunFile, query_id: str) -> int:
    query_ids = judged.query_rows(run)
    if query_id not in query_ids:
        raise MeasureError(f"neither {judged.qrels.name} nor {run.name} has query {query_id!r}")
    return query_ids.index(query_id)


def _doc_ids(run: RunFile, query_id: str, ordering: tuple[str, str]) -> list[str]:
    """The run's documents for a query, best first."""
    if query_id not in run.query_ids:
        return []
    span = run.span(run.query_ids.index(query_id))
    return run.ids.at(order_of(run, ordering)[span]).texts()


def run_order(run: RunFile, query_ids: Sequence[str]) -> list[int]:
    """The rows as the run has their queries, those that it does not answer last."""
    place = {query_id: number for number, query_id in enumerate(run.query_ids)}
    return sorted(range(len(query_ids)), key=lambda row: place.get(query_ids[row], len(place)))


def _by_ordering(measures: Sequence[Measure]) -> Iterator[tuple[tuple[str, str], list[int]]]:
    groups: dict[tuple[str, str], list[int]] = {}
    for column, measure in enumerate(measures):
        groups.setdefault(measure.ordering, []).append(column)
    yield from groups.items()
