"""One answer to one query under several definitions: each taken apart, and why they differ."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
from django.db.models import Q

from evaluation.diagnosis.selection import RunSelection
from evaluation.evaluations.measure_sets import grades_of
from judgments.lists.queries import GradeShown, show_grade
from judgments.models import Judgment, Query
from judgments.pages.answers import ON_PAGES
from touchstone.measures.answers import Answer, judge_answers
from touchstone.measures.asking import Asked
from touchstone.measures.differences import Difference, Switch, difference
from touchstone.measures.explanation import Explanation, Rank, explain, value_of
from touchstone.measures.grades import Grades
from touchstone.measures.rankings import GradedRankings, Judgments
from touchstone.measures.tool_rules import printed
from touchstone.measures.wording import parameter_words
from touchstone.scales import Scale

SEEN: Final = 0.00005  # what less than that adds changes no digit that is shown


@dataclass(frozen=True)
class Judged:
    """A grade and the version that it came with."""

    grade: GradeShown
    code: int
    since: int


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A measure and the query's value by it. counted: whether the query is in the mean.

    formula: with the query's numbers. dcg, ideal_dcg: null for measures other than nDCG.

    On pages, ranked: the documents in the order in which it reads them. tied: for each rank,
    whether a neighbour has the same score.
    """

    name: str
    definition: str
    preset: str
    caveat: str
    value: float
    counted: bool
    formula: str
    dcg: float | None
    ideal_dcg: float | None
    asked: Asked = field(metadata=ON_PAGES)
    explanation: Explanation = field(metadata=ON_PAGES)
    ranked: tuple[int, ...] = field(metadata=ON_PAGES)
    tied: tuple[bool, ...] = field(metadata=ON_PAGES)

    @property
    def tool(self) -> str:
        """Whose rules these are; "" for the measure itself."""
        return self.asked.preset.tool if self.asked.preset else ""

    @property
    def exactly(self) -> str:
        """The value with all its digits, as the tool prints it."""
        value = self.value
        if self.asked.preset is not None:
            value = float(printed(self.asked.preset, np.array([value]))[0])
        return repr(value)

    @property
    def has_gains(self) -> bool:
        """Whether it knows gains and discounts."""
        return self.dcg is not None

    @cached_property
    def ranks(self) -> dict[int, Rank]:
        """What it makes of each document that it looks at."""
        ranks = self.explanation.ranks
        return {int(rank.document.doc_id): rank for rank in ranks if rank.document is not None}

    @cached_property
    def last(self) -> int:
        """The rank of the last document that it looks at; 0 where there is none."""
        places = enumerate(self.ranked, start=1)
        return max((place for place, pk in places if pk in self.ranks), default=0)


@dataclass(frozen=True)
class Switched:
    """Parameters that go together, switched. share: of the whole difference; None where either
    is 0."""

    part: Switch
    before: str
    after: str
    share: float | None

    @property
    def parameters(self) -> str:
        return ", ".join(self.part.parameters)


@dataclass(frozen=True)
class Apart:
    """Why a definition says something else than the first. switched: the largest part first."""

    name: str
    difference: Difference
    switched: tuple[Switched, ...]

    @property
    def moving(self) -> tuple[Switched, ...]:
        """Those that make a difference for this query that four decimals show."""
        return tuple(one for one in self.switched if abs(one.part.effect) >= SEEN)

    @property
    def idle(self) -> tuple[Switched, ...]:
        """Those that make none, or one in the last digits."""
        return tuple(one for one in self.switched if abs(one.part.effect) < SEEN)

    @property
    def is_seen(self) -> bool:
        """Whether the two values differ in four decimals."""
        return abs(self.difference.total) >= SEEN

    @property
    def is_one_family(self) -> bool:
        """Whether the two are definitions of one measure."""
        return self.difference.one.family == self.difference.other.family


def list_judged(*, selection: RunSelection, query: Query) -> dict[int, Judged]:
    """The query's judgments at the version, by document."""
    scale = Scale.from_json(selection.judgment_list.scale)
    rows = Judgment.objects.filter(
        Q(until=None) | Q(until__gt=selection.version),
        list=selection.judgment_list,
        query=query,
        since__lte=selection.version,
    )
    return {
        document_id: Judged(show_grade(scale, code), code, since)
        for document_id, code, since in rows.values_list("document_id", "grade", "since")
    }


def explain_all(
    *, selection: RunSelection, answer: Answer, judged: Mapping[int, Judged]
) -> tuple[tuple[Definition, ...], tuple[Apart, ...]]:
    """Every definition asked for, and why the others differ from the first."""
    grades = grades_of(selection.judgment_list)
    judgments = _judgments(judged, grades)

    def ranking(ordering: tuple[str, str]) -> GradedRankings:
        return judge_answers([answer], judgments, ordering, n_grades=len(grades.codes))

    definitions = []
    for one in selection.asked:
        places = answer.places(one.measure.ordering)
        ranked = tuple(answer.documents[places].tolist())
        explanation = explain(
            one.measure, list(map(str, ranked)), ranking(one.measure.ordering), grades
        )
        definitions.append(
            Definition(
                name=one.canonical,
                definition=one.measure.name,
                preset=one.preset.name if one.preset else "",
                caveat=selection.caveat_of(one),
                value=explanation.value,
                counted=explanation.counted,
                formula=explanation.formula,
                dcg=explanation.dcg,
                ideal_dcg=explanation.ideal_dcg,
                asked=one,
                explanation=explanation,
                ranked=ranked,
                tied=_tied(answer.tie_starts(one.measure.ordering)),
            )
        )
    value = value_of(ranking, grades)
    first, *rest = selection.asked
    return tuple(definitions), tuple(
        _apart(one.canonical, difference(first.measure, one.measure, value)) for one in rest
    )


def _judgments(judged: Mapping[int, Judged], grades: Grades) -> Judgments:
    codes = np.array([one.code for one in judged.values()], np.int64)
    documents = np.array(list(judged), np.int64)
    return Judgments(documents, grades.levels(codes), np.array([len(judged)]))


def _tied(starts: npt.NDArray[np.intp]) -> tuple[bool, ...]:
    same = np.diff(starts) == 0
    tied = np.append(same, False) | np.append(False, same)
    return tuple(tied[: len(starts)].tolist())


def _apart(name: str, found: Difference) -> Apart:
    switched = tuple(
        Switched(
            part,
            parameter_words(found.one, part.parameters),
            parameter_words(found.other, part.parameters),
            part.effect / found.total if found.total and part.effect else None,
        )
        for part in found.parts
    )
    return Apart(name, found, switched)
