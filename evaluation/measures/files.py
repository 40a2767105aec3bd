"""From a qrels file and a run file to values, without a database: what trec_eval does."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evaluation.exact import counts, exact_sums, means, standard_errors
from evaluation.measures.coverage import coverage, relevant_coverage
from evaluation.measures.definition import Measure
from evaluation.measures.differences import Difference, difference
from evaluation.measures.discounts import FloatArray
from evaluation.measures.engine import count_together, depth_needed, evaluate_batch
from evaluation.measures.errors import MeasureError, ZeroIdealError
from evaluation.measures.explanation import Explanation, explain
from evaluation.measures.grades import MOST_GRADES, Grades
from evaluation.measures.ordering import Precision, Ties, rank_order, tie_starts
from evaluation.measures.presets import Preset, apply, printed, tool_mean
from evaluation.measures.rankings import BoolArray, GradedRankings, Judgments, judge_rankings
from judgments.formats.trec import QrelsFile, RunFile


@dataclass(frozen=True)
class FileValues:
    """What one run is worth: a row per query, a column per measure.

    query_ids: judged queries as the qrels have them, then those that only the run has.
    means, standard_errors: None where no query (for an error: fewer than two) is in the mean.
    counts: how many queries are in each mean.
    """

    run: str
    query_ids: tuple[str, ...]
    values: FloatArray
    counted: BoolArray
    means: tuple[float | None, ...]
    standard_errors: tuple[float | None, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class JudgedQueries:
    """A qrels file, ready to judge any number of runs."""

    qrels: QrelsFile

    @cached_property
    def grades(self) -> Grades:
        """The grades that occur in the file, each worth what it says."""
        found = np.unique(self.qrels.grades).tolist()
        if len(found) > MOST_GRADES:
            raise MeasureError(f"{self.qrels.name} has more than {MOST_GRADES} different grades")
        if not found:
            raise MeasureError(f"{self.qrels.name} has no judgment")
        return Grades.integers(found)

    @cached_property
    def judgments(self) -> Judgments:
        """The judgments, query after query, with the file's own document numbers."""
        levels = self.grades.levels(self.qrels.grades)
        return Judgments(self.qrels.codes, levels, np.diff(self.qrels.starts))

    @cached_property
    def document_numbers(self) -> dict[str, int]:
        """The number of each document of the file."""
        return {doc_id: number for number, doc_id in enumerate(self.qrels.documents)}

    def rankings(
        self, run: RunFile, ordering: tuple[str, str], width: int | None
    ) -> GradedRankings:
        """The run's rankings of `query_rows`, in the order of a tie rule, with their grades."""
        documents, lengths = self.ranked(run, ordering)
        judged = self.judgments
        unjudged_queries = len(lengths) - len(judged.lengths)
        padded = np.concatenate((judged.lengths, np.zeros(unjudged_queries, np.int64)))
        graded = judge_rankings(
            documents,
            lengths,
            Judgments(judged.documents, judged.levels, padded),
            n_grades=len(self.grades.codes),
            width=width,
        )
        if ordering[0] != "averaged":
            return graded
        spans = list(self._spans(run))
        return replace(graded, ties=_ties(run, spans, ordering, graded.levels.shape[1]))

    def ranked(
        self, run: RunFile, ordering: tuple[str, str]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The numbers of the documents, ranking after ranking, and how many each ranking has."""
        numbers = self._numbers(run)
        parts, lengths = [np.empty(0, np.int64)], []
        for span in self._spans(run):
            parts.append(numbers[run.codes[span]][_order(run, span, ordering)])
            lengths.append(len(parts[-1]))
        return np.concatenate(parts), np.array(lengths, np.int64)

    def _spans(self, run: RunFile) -> Iterator[slice]:
        """Where the run has the ranking of each of `query_rows`."""
        spans = {query_id: run.span(row) for row, query_id in enumerate(run.query_ids)}
        for query_id in query_rows(self.qrels, run):
            yield spans.get(query_id, slice(0, 0))

    def _numbers(self, run: RunFile) -> npt.NDArray[np.int64]:
        """A number for each document of the run: the qrels' own, or one that nobody else has."""
        known = self.document_numbers
        new = len(known)
        pairs = enumerate(run.documents)
        return np.array([known.get(doc_id, new + place) for place, doc_id in pairs], np.int64)


def query_rows(qrels: QrelsFile, run: RunFile) -> tuple[str, ...]:
    """The judged queries, then the queries that only the run has."""
    judged = set(qrels.query_ids)
    return qrels.query_ids + tuple(q for q in run.query_ids if q not in judged)


def evaluate_file(
    judged: JudgedQueries,
    run: RunFile,
    measures: Sequence[Measure],
    preset: Preset | None = None,
    *,
    collection_size: int | None = None,
) -> FileValues:
    """The values of every measure for one run.

    collection_size: how many documents there are, for Coverage of them.
    Without a preset, means are exact (rounded once); with one, they are summed and rounded as its
    tool does, and the measures are what that tool means by them.
    Raises MeasureError, naming the query where one is to blame.
    """
    meant = [measure if preset is None else apply(preset, measure) for measure in measures]
    query_ids = query_rows(judged.qrels, run)
    values, counted, of_run = _worked_out(judged, run, meant, collection_size)
    sums = exact_sums(values, counted)
    file_means, errors, sizes = means(sums), standard_errors(sums), counts(sums)
    if preset is not None:
        file_means = _means_of_tool(preset, run, query_ids, values, counted)
        values = printed(preset, values.ravel()).reshape(values.shape)
    for column, (value, n_queries) in of_run.items():
        file_means[column], errors[column], sizes[column] = value, None, n_queries
    return FileValues(
        run=run.name,
        query_ids=query_ids,
        values=values,
        counted=counted,
        means=tuple(file_means),
        standard_errors=tuple(errors),
        counts=tuple(sizes),
    )


def _worked_out(
    judged: JudgedQueries, run: RunFile, meant: Sequence[Measure], collection_size: int | None
) -> tuple[FloatArray, BoolArray, dict[int, tuple[float | None, int]]]:
    """Values, whether they count, and by column (value, queries) of what is no mean."""
    query_ids = query_rows(judged.qrels, run)
    values = np.zeros((len(query_ids), len(meant)))
    counted = np.zeros(values.shape, bool)
    of_run: dict[int, tuple[float | None, int]] = {}
    for ordering, columns in _by_ordering(meant):
        by_query = [c for c in columns if meant[c].kind.per_query]
        own = [replace(meant[column], average="macro") for column in by_query]
        rankings = judged.rankings(run, ordering, depth_needed(own))
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


def _covered(
    judged: JudgedQueries, run: RunFile, measure: Measure, collection_size: int | None
) -> tuple[float | None, int]:
    """Coverage of one run, and how many queries it answers."""
    documents, lengths = judged.ranked(run, measure.ordering)
    k, n_queries = measure.cutoff or 0, int((lengths > 0).sum())
    if measure.of == "relevant":
        own = judged.judgments
        relevant = own.documents[own.levels >= max(judged.grades.at_least(measure.rel), 1)]
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
    preset: Preset | None = None,
) -> tuple[Explanation, ...]:
    """Every measure of one query of the run, taken apart.

    Raises MeasureError where neither file has the query.
    """
    row = _row_of(judged, run, query_id)
    out = []
    for measure in measures:
        meant = measure if preset is None else apply(preset, measure)
        if not meant.kind.per_query:
            raise MeasureError(f"{meant.name} is about a whole run: there is no query to explain")
        meant = replace(meant, average="macro")
        rankings = judged.rankings(run, meant.ordering, None).rows(row, row + 1)
        doc_ids = _doc_ids(run, query_id, meant.ordering)
        ties = None if rankings.ties is None else rankings.ties[:, : len(doc_ids)]
        whole = replace(rankings, levels=rankings.levels[:, : len(doc_ids)], ties=ties)
        out.append(explain(meant, doc_ids, whole, judged.grades))
    return tuple(out)


def compare_file(
    judged: JudgedQueries,
    run: RunFile,
    measures: Sequence[Measure],
    query_id: str,
    preset: Preset | None = None,
) -> tuple[Difference, ...]:
    """Why several definitions say different things of one query: the first against each other one.

    With a preset, each measure as it was asked for against what the preset makes of it.
    Raises MeasureError where neither file has the query.
    """
    row = _row_of(judged, run, query_id)
    by_ordering: dict[tuple[str, str], GradedRankings] = {}

    def value(measure: Measure) -> float:
        if measure.ordering not in by_ordering:
            whole = judged.rankings(run, measure.ordering, None)
            by_ordering[measure.ordering] = whole.rows(row, row + 1)
        counted = replace(measure, queries="all", average="macro")
        found = evaluate_batch([counted], by_ordering[measure.ordering], judged.grades)
        return float(found.values[0, 0])

    if preset is not None:
        return tuple(difference(measure, apply(preset, measure), value) for measure in measures)
    return tuple(difference(measures[0], measure, value) for measure in measures[1:])


def _row_of(judged: JudgedQueries, run: RunFile, query_id: str) -> int:
    query_ids = query_rows(judged.qrels, run)
    if query_id not in query_ids:
        raise MeasureError(f"neither {judged.qrels.name} nor {run.name} has query {query_id!r}")
    return query_ids.index(query_id)


def _doc_ids(run: RunFile, query_id: str, ordering: tuple[str, str]) -> list[str]:
    """The run's documents for a query, best first."""
    if query_id not in run.query_ids:
        return []
    position = run.query_ids.index(query_id)
    doc_ids = run.doc_ids(position)
    return [doc_ids[place] for place in _order(run, run.span(position), ordering).tolist()]


def _means_of_tool(
    preset: Preset,
    run: RunFile,
    query_ids: Sequence[str],
    values: FloatArray,
    counted: BoolArray,
) -> list[float | None]:
    place = {query_id: number for number, query_id in enumerate(run.query_ids)}
    last = len(place)
    order = sorted(range(len(query_ids)), key=lambda row: place.get(query_ids[row], last))
    out = []
    for column in range(values.shape[1]):
        rows = [row for row in order if counted[row, column]]
        out.append(tool_mean(preset, [query_ids[row] for row in rows], values[rows, column]))
    return out


def _by_ordering(measures: Sequence[Measure]) -> Iterator[tuple[tuple[str, str], list[int]]]:
    groups: dict[tuple[str, str], list[int]] = {}
    for column, measure in enumerate(measures):
        groups.setdefault(measure.ordering, []).append(column)
    yield from groups.items()


def _order(run: RunFile, span: slice, ordering: tuple[str, str]) -> npt.NDArray[np.intp]:
    ties, precision = ordering
    documents = run.documents
    doc_ids = [documents[code] for code in run.codes[span].tolist()]
    return rank_order(doc_ids, run.scores[span], ties=_TIES[ties], precision=_PRECISIONS[precision])


def _ties(
    run: RunFile, spans: Sequence[slice], ordering: tuple[str, str], width: int
) -> npt.NDArray[np.intp]:
    """The first rank of each rank's tie, a row per query."""
    out = np.tile(np.arange(width), (len(spans), 1))
    for row, span in enumerate(spans):
        ranked = run.scores[span][_order(run, span, ordering)]
        out[row, : len(ranked)] = tie_starts(ranked, precision=_PRECISIONS[ordering[1]])
    return out


_TIES: dict[str, Ties] = {
    "docid": "docid",
    "docid_asc": "docid_asc",
    "listed": "listed",
    "averaged": "listed",  # in whatever order: the value does not depend on it
}
_PRECISIONS: dict[str, Precision] = {"float32": "float32", "float64": "float64"}
