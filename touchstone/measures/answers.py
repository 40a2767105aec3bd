"""Stored rankings in the order that a measure reads, which may differ from the stored one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from touchstone.measures.definition import Measure
from touchstone.measures.engine import Values, evaluate_batch
from touchstone.measures.grades import Grades
from touchstone.measures.ordering import reordered, rule_of, tie_starts
from touchstone.measures.packing import Documents, Floats, Positions
from touchstone.measures.rankings import GradedRankings, Judgments, judge_rankings


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One run's answer to one query.

    documents, scores: in file order. order: their positions, best first, as they are stored: by
    float32 score, then by descending document id.
    """

    documents: Documents
    scores: Floats
    order: Positions

    def __len__(self) -> int:
        return len(self.documents)

    def places(self, ordering: tuple[str, str]) -> npt.NDArray[np.intp]:
        """The positions in file order, best first, by the rule of `Measure.ordering`."""
        ties, precision = rule_of(ordering)
        return reordered(self.order, self.scores, ties=ties, precision=precision)

    def tie_starts(self, ordering: tuple[str, str]) -> npt.NDArray[np.intp]:
        """For each rank, counted from 0, the first rank of its tie."""
        scores = self.scores[self.places(ordering)]
        return tie_starts(scores, precision=rule_of(ordering)[1])


CELLS: Final = 1 << 22  # of one matrix of ranks: bounds memory


def score_answers(
    measures: Sequence[Measure],
    grades: Grades,
    judgments: Judgments,
    answers: Sequence[Answer],
    *,
    cells: int = CELLS,
) -> Values:
    """Every measure of every run for every query, (n_runs, n_queries, n_measures).

    measures: of one ordering. judgments: a row a query. answers: run after run, each run's queries
    in the order of the judgments. cells: how large a matrix of ranks may become.
    """
    n_queries = len(judgments.lengths)
    values = np.zeros((len(answers), len(measures)))
    counted = np.zeros(values.shape, bool)
    step = max(1, cells // max(1, max(map(len, answers), default=0)))
    for start in range(0, len(answers), step):
        rows = slice(start, start + step)
        graded = judge_answers(
            answers[rows],
            judgments,
            measures[0].ordering,
            n_grades=len(grades.codes),
            queries=np.arange(start, min(start + step, len(answers))) % n_queries,
        )
        result = evaluate_batch(measures, graded, grades)
        values[rows], counted[rows] = result.values, result.counted
    full = (len(answers) // max(1, n_queries), n_queries, len(measures))
    return Values(values.reshape(full), counted.reshape(full))


def judge_answers(
    answers: Sequence[Answer],
    judgments: Judgments,
    ordering: tuple[str, str],
    *,
    n_grades: int,
    queries: Positions | None = None,
) -> GradedRankings:
    """Whole rankings in the order of a rule, with their grades; what ties with what, where asked.

    judgments: of the answers' queries, in the same order; or of those that `queries` gives the
    rows of, for each answer.
    """
    ranked = [answer.documents[answer.places(ordering)] for answer in answers]
    lengths = np.array([len(answer) for answer in answers], np.int64)
    result = judge_rankings(
        np.concatenate([np.zeros(0, np.int32), *ranked]),
        lengths,
        judgments,
        n_grades=n_grades,
        queries=queries,
    )
    if ordering[0] != "averaged":
        return result
    width = result.levels.shape[1]
    ties = np.tile(np.arange(width), (len(answers), 1))
    for row, answer in enumerate(answers):
        ties[row, : len(answer)] = answer.tie_starts(ordering)
    return GradedRankings(result.levels, result.lengths, result.judged, ties)
