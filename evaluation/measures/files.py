"""From a qrels file and a run file to values, without a database: what trec_eval does."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evaluation.exact import counts, exact_sums, means, standard_errors
from evaluation.measures.definition import Measure
from evaluation.measures.discounts import FloatArray
from evaluation.measures.engine import depth_needed, evaluate_batch
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
        spans = {query_id: run.span(row) for row, query_id in enumerate(run.query_ids)}
        numbers = self._numbers(run)
        parts, lengths = [np.empty(0, np.int64)], []
        query_ids = query_rows(self.qrels, run)
        for query_id in query_ids:
            span = spans.get(query_id, slice(0, 0))
            parts.append(numbers[run.codes[span]][_order(run, span, ordering)])
            lengths.append(len(parts[-1]))
        judged = self.judgments
        unjudged_queries = len(query_ids) - len(judged.lengths)
        padded = np.concatenate((judged.lengths, np.zeros(unjudged_queries, np.int64)))
        graded = judge_rankings(
            np.concatenate(parts),
            np.array(lengths, np.int64),
            Judgments(judged.documents, judged.levels, padded),
            n_grades=len(self.grades.codes),
            width=width,
        )
        if ordering[0] != "averaged":
            return graded
        spans_of_rows = [spans.get(query_id, slice(0, 0)) for query_id in query_ids]
        return replace(graded, ties=_ties(run, spans_of_rows, ordering, graded.levels.shape[1]))

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
    judged: JudgedQueries, run: RunFile, measures: Sequence[Measure], preset: Preset | None = None
) -> FileValues:
    """The values of every measure for one run.

    Without a preset, means are exact (rounded once); with one, they are summed and rounded as its
    tool does, and the measures are what that tool means by them.
    Raises MeasureError, naming the query where one is to blame.
    """
    meant = [measure if preset is None else apply(preset, measure) for measure in measures]
    query_ids = query_rows(judged.qrels, run)
    values = np.zeros((len(query_ids), len(meant)))
    counted = np.zeros(values.shape, bool)
    for ordering, columns in _by_ordering(meant):
        own = [meant[column] for column in columns]
        rankings = judged.rankings(run, ordering, depth_needed(own))
        try:
            found = evaluate_batch(own, rankings, judged.grades)
        except ZeroIdealError as error:
            raise MeasureError(f"query {query_ids[error.row]}: {error.message}") from None
        values[:, columns], counted[:, columns] = found.values, found.counted
    sums = exact_sums(values, counted)
    file_means = means(sums)
    if preset is not None:
        file_means = _means_of_tool(preset, run, query_ids, values, counted)
        values = printed(preset, values.ravel()).reshape(values.shape)
    return FileValues(
        run=run.name,
        query_ids=query_ids,
        values=values,
        counted=counted,
        means=tuple(file_means),
        standard_errors=tuple(standard_errors(sums)),
        counts=tuple(counts(sums)),
    )


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
    query_ids = query_rows(judged.qrels, run)
    if query_id not in query_ids:
        raise MeasureError(f"neither {judged.qrels.name} nor {run.name} has query {query_id!r}")
    row = query_ids.index(query_id)
    out = []
    for measure in measures:
        meant = measure if preset is None else apply(preset, measure)
        rankings = judged.rankings(run, meant.ordering, None).rows(row, row + 1)
        doc_ids = _doc_ids(run, query_id, meant.ordering)
        ties = None if rankings.ties is None else rankings.ties[:, : len(doc_ids)]
        whole = replace(rankings, levels=rankings.levels[:, : len(doc_ids)], ties=ties)
        out.append(explain(meant, doc_ids, whole, judged.grades))
    return tuple(out)


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
