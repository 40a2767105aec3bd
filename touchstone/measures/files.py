"""From a qrels file and a run file to values, without a database: what trec_eval does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from touchstone.files.trec import RunFile, RunToRead, of_queries
from touchstone.files.trec_pairs import NonContiguousQueriesError
from touchstone.measures.averages import Average, Groups, averages, reads_traits, sums_of
from touchstone.measures.coverage import coverage, relevant_coverage
from touchstone.measures.definition import Measure
from touchstone.measures.differences import Difference, difference
from touchstone.measures.discounts import FloatArray
from touchstone.measures.engine import count_together, evaluate_batch
from touchstone.measures.errors import MeasureError, ZeroIdealError
from touchstone.measures.explanation import Explanation, explain, value_of
from touchstone.measures.graded_runs import GradedRun, Ordering, Reading, graded_run
from touchstone.measures.judged_files import JudgedQueries, order_of
from touchstone.measures.presets import Preset
from touchstone.measures.rankings import BoolArray, GradedRankings
from touchstone.measures.rounding import rounded_mean
from touchstone.measures.tool_rules import apply, printed, tool_mean
from touchstone.measures.traits import Traits

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
    run: RunFile | RunToRead,
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
    Raises MeasureError, naming the query where one is to blame; FileRefused of a run to be read.
    """
    if isinstance(preset, Preset) or preset is None:
        preset = [preset] * len(measures)
    presets = tuple(preset)
    meant = [
        measure if tool is None else apply(tool, measure)
        for measure, tool in zip(measures, presets, strict=True)
    ]
    _check_traits(judged, meant)
    graded, values, counted, of_run = _worked_out(judged, run, meant, collection_size)
    query_ids = graded.query_ids
    groups = _groups(judged, query_ids)
    result = list(averages(meant, sums_of(meant, values, counted, groups)))
    order = graded.order() if any(presets) else []
    for column, tool in enumerate(presets):
        if tool is not None and meant[column].average == "macro":
            rows = [row for row in order if counted[row, column]]
            mean = tool_mean(tool, [query_ids[row] for row in rows], values[rows, column])
            value = rounded_mean(meant[column], mean)
            result[column] = replace(result[column], value=value)
    for column, (value, n_queries) in of_run.items():
        result[column] = Average(value, None, n_queries)
    segments = {} if groups is None else _by_segment(meant, values, counted, groups)
    for column, tool in enumerate(presets):
        if tool is not None:
            values[:, column] = printed(tool, values[:, column])
    return FileValues(
        run=run.name,
        query_ids=query_ids,
        values=values,
        counted=counted,
        means=tuple(own.value for own in result),
        standard_errors=tuple(own.error for own in result),
        counts=tuple(own.n for own in result),
        segments=segments,
    )


def _check_traits(judged: JudgedQueries, meant: Sequence[Measure]) -> None:
    """MeasureError for a measure that asks for the queries' traits, where nothing says them."""
    asking = [measure.name for measure in meant if reads_traits([measure])]
    if asking and judged.traits is None:
        raise MeasureError(
            f"{asking[0]} needs the queries' weights and segments: pass a file of queries "
            "with --queries"
        )


def _groups(judged: JudgedQueries, query_ids: Sequence[str]) -> Groups | None:
    """The weight and segment of the queries; None where no file says them."""
    if judged.traits is None:
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
    for position, name in enumerate(groups.segments):
        rows = groups.places == position
        if not counted[rows].any():
            continue
        here = Groups(groups.weights[rows], np.zeros(int(rows.sum()), np.int64), (name,))
        result = averages(own, sums_of(own, values[rows], counted[rows], here))
        out[name] = tuple(
            average if measure.is_mean else None
            for average, measure in zip(result, own, strict=True)
        )
    return out


def _worked_out(
    judged: JudgedQueries,
    run: RunFile | RunToRead,
    meant: Sequence[Measure],
    collection_size: int | None,
) -> tuple[GradedRun, FloatArray, BoolArray, dict[int, tuple[float | None, int]]]:
    """The run, values, whether they count, and by column (value, queries) of what is no mean."""
    of_all = [column for column, measure in enumerate(meant) if not measure.kind.per_query]
    if of_all:
        run = run.whole()
    by_ordering = _by_ordering(meant)
    readings = [Reading.of([_as_macro(meant[c]) for c in own]) for own in by_ordering.values()]
    graded = _graded(judged, run, readings)
    values = np.zeros((len(graded.query_ids), len(meant)))
    counted = np.zeros(values.shape, bool)
    of_run = {
        column: _covered(judged, run.whole(), meant[column], collection_size) for column in of_all
    }
    for ordering, columns in by_ordering.items():
        rankings = graded.rankings[ordering]
        try:
            result = evaluate_batch([_as_macro(meant[c]) for c in columns], rankings, judged.grades)
        except ZeroIdealError as error:
            raise MeasureError(f"query {graded.query_ids[error.row]}: {error.message}") from None
        values[:, columns], counted[:, columns] = result.values, result.counted
        for column in columns:
            if not meant[column].is_mean:
                share = count_together(meant[column], rankings, judged.grades).share
                of_run[column] = share, int(counted[:, column].sum())
    return graded, values, counted, of_run


def _graded(
    judged: JudgedQueries, run: RunFile | RunToRead, readings: Sequence[Reading]
) -> GradedRun:
    try:
        return graded_run(judged, run.chunks(), readings)
    except NonContiguousQueriesError:
        return graded_run(judged, run.whole().chunks(), readings)


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
            f"{measure.name} needs the number of documents in the collection: pass "
            "--collection-size, or use Coverage(of='relevant')"
        )
    try:
        result = coverage(documents, lengths, cutoff=k, size=collection_size)
    except ValueError as error:
        raise MeasureError(f"{measure.name}: {error}") from None
    return result.share, n_queries


def explain_file(
    judged: JudgedQueries,
    run: RunFile,
    measures: Sequence[Measure],
    query_id: str,
) -> tuple[Explanation, ...]:
    """Every measure of one query of the run, taken apart.

    Raises MeasureError where neither file has the query.
    """
    _check_known(judged, run, query_id)
    out = []
    for measure in measures:
        if not measure.kind.per_query:
            raise MeasureError(
                f"{measure.name} is computed over a whole run and can't be explained for a query"
            )
        meant = replace(measure, average="macro")
        rankings = _rankings_of(judged, run, query_id, meant.ordering)
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
    _check_known(judged, run, query_id)

    def ranking(ordering: Ordering) -> GradedRankings:
        return _rankings_of(judged, run, query_id, ordering)

    value = value_of(ranking, judged.grades)
    return tuple(difference(one, other, value) for one, other in pairs)


def _check_known(judged: JudgedQueries, run: RunFile, query_id: str) -> None:
    if query_id not in judged.rows and query_id not in run.query_ids:
        raise MeasureError(f"neither {judged.qrels.name} nor {run.name} has query {query_id!r}")


def _rankings_of(
    judged: JudgedQueries, run: RunFile, query_id: str, ordering: Ordering
) -> GradedRankings:
    """The run's ranking of one query, all of it, as one row."""
    graded = graded_run(judged, [of_queries(run, (query_id,))], [Reading(ordering, None)])
    row = graded.query_ids.index(query_id)
    return graded.rankings[ordering].rows(row, row + 1)


def _doc_ids(run: RunFile, query_id: str, ordering: tuple[str, str]) -> list[str]:
    """The run's documents for a query, best first."""
    if query_id not in run.query_ids:
        return []
    span = run.span(run.query_ids.index(query_id))
    return run.ids.at(order_of(run, ordering)[span]).texts()


def _by_ordering(measures: Sequence[Measure]) -> dict[Ordering, list[int]]:
    """The columns of what is worked out query by query, by the order of rankings that it reads."""
    groups: dict[Ordering, list[int]] = {}
    for column, measure in enumerate(measures):
        if measure.kind.per_query:
            groups.setdefault(measure.ordering, []).append(column)
    return groups
