"""Whether a machine judge can be trusted: its labels beside people's, and the boards of both."""

from dataclasses import asdict, dataclass
from datetime import UTC, timedelta
from typing import Final

import numpy as np
from django.core.paginator import Page
from django.db.models import Max, Sum

from annotation.consolidation.overlap import overlap_grades
from annotation.machine_judges.agreement import (
    Bias,
    Drift,
    Figure,
    Graded,
    QueryAgreement,
    Single,
    Trust,
    alpha_with_people,
    bias_of,
    drift_of,
    kappa_of,
    same_of,
    trust_of,
)
from annotation.machine_judges.queries import get_judge
from annotation.models import JudgeRevision, MachineJudge, MachineLabel, Pair
from evaluation.public import TwoBoards, get_two_boards
from judgments.lists.queries import GradeShown, show_grade
from judgments.models import JudgmentList, Query
from judgments.pages.paging import paginate
from judgments.permissions import Access, NotFound
from judgments.storage.caches import get_or_compute
from touchstone.agreement.bootstrap import FEWEST_CLUSTERS
from touchstone.scales import Scale

KEPT: Final = 3600  # seconds
MOST_PAIRS: Final = 100_000
MOST_WEEKS: Final = 12
QUERIES: Final = 10  # on a page
PairKey = tuple[int, int]  # ids of a query and a document


@dataclass(frozen=True)
class SegmentTrust:
    """A judge's agreement with people on the queries of a segment. weighted: Cohen's kappa with
    quadratic weights. same: the share of pairs with the same grade.
    """

    name: str
    alpha: Figure
    weighted: Figure
    same: Figure
    bias: Bias


@dataclass(frozen=True)
class WeekTrust:
    """A judge's agreement with people on the pairs that it labelled in a week. begins: its Monday,
    as 2026-11-23."""

    begins: str
    alpha: Figure
    same: Figure
    bias: Bias


@dataclass(frozen=True)
class Computed:
    """All figures of a judge's revision on a list. boards: None where there are no two runs. weeks:
    the newest first; none where it labelled all in one.

    labels: of the machine on the list's pairs, with or without people's. drift: since the revision
    before that labelled some of these pairs.
    """

    labels: int
    drift: Drift | None
    trust: Trust | None
    segments: tuple[SegmentTrust, ...]
    weeks: tuple[WeekTrust, ...]
    boards: TwoBoards | None

    @property
    def is_thin(self) -> bool:
        """There are too few queries for intervals."""
        return self.trust is not None and self.trust.queries < FEWEST_CLUSTERS


@dataclass(frozen=True)
class TableRow:
    """People's grade, how often the machine gave each, and its bias there."""

    grade: GradeShown
    counts: tuple[int, ...]
    bias: Bias | None


@dataclass(frozen=True)
class QueryRow:
    """A query and the judge's agreement with people on its pairs; see `QueryAgreement`."""

    qid: str
    text: str
    pairs: int
    same: float
    same_low: float
    same_high: float
    bias: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class TrustPage:
    """The page. revisions, lists: that there are labels of, to choose from."""

    judge: MachineJudge
    revision: JudgeRevision | None
    revisions: tuple[int, ...]
    judgment_list: JudgmentList | None
    lists: tuple[JudgmentList, ...]
    found: Computed | None
    grades: tuple[GradeShown, ...]
    table: tuple[TableRow, ...]
    queries: "Page[QueryRow]"


@dataclass(frozen=True)
class AgreementAnswer:
    """A judge's agreement with people on a list. labels: of the revision, on the list's pairs.
    drift: since the revision before that labelled some of them; null without one.

    agreement: null where no pair has both. weeks: by the week in which the machine labelled, the
    newest first. boards: the same runs by people (first) and by the
    machine (second), on the queries of which it graded every pair that people did; null with fewer
    than two evaluated runs. queries: those with the largest bias first.
    """

    revision: int
    list: str
    labels: int
    drift: Drift | None
    agreement: Trust | None
    segments: tuple[SegmentTrust, ...]
    weeks: tuple[WeekTrust, ...]
    boards: TwoBoards | None
    queries: tuple[QueryRow, ...]


def get_agreement(
    *,
    access: Access,
    judge_id: int,
    list_slug: str = "",
    number: int | None = None,
    limit: int = QUERIES,
) -> AgreementAnswer:
    """As `get_trust_page`, as values; of at most `limit` queries.

    Raises NotFound also where the judge has no labels.
    """
    page = get_trust_page(
        access=access, judge_id=judge_id, list_slug=list_slug, number=number, per_page=limit
    )
    if page.revision is None or page.judgment_list is None or page.found is None:
        raise NotFound("agreement")
    return AgreementAnswer(
        revision=page.revision.number,
        list=page.judgment_list.slug,
        labels=page.found.labels,
        drift=page.found.drift,
        agreement=page.found.trust,
        segments=page.found.segments,
        weeks=page.found.weeks,
        boards=page.found.boards,
        queries=tuple(page.queries),
    )


def get_trust_page(
    *,
    access: Access,
    judge_id: int,
    list_slug: str = "",
    number: int | None = None,
    page: str = "",
    per_page: int = QUERIES,
) -> TrustPage:
    """A judge's agreement with people on a list; for leads and admins.

    list_slug: "" for the list that it labelled last. number: None for the newest revision that has
    labels. page: of its queries, as typed in a URL.
    Raises NotFound for a list or a revision without labels.
    """
    judge = get_judge(access=access, judge_id=judge_id)
    revisions = list(judge.revisions.filter(labels__isnull=False).distinct().order_by("-number"))
    own_qs = judge.campaigns.select_related("campaign__list").order_by("-pk")
    lists = {own.campaign.list_id: own.campaign.list for own in own_qs}
    if not revisions or not lists:
        nothing = paginate((), page="", show=_name_queries)
        return TrustPage(judge, None, (), None, (), None, (), (), nothing)
    revision = next((one for one in revisions if number in (None, one.number)), None)
    judgment_list = next((one for one in lists.values() if list_slug in ("", one.slug)), None)
    if revision is None or judgment_list is None:
        raise NotFound("revision")
    result = _get_computed(access, revision, judgment_list)
    scale = Scale.from_json(judgment_list.scale)
    grades = tuple(show_grade(scale, code) for code in scale.codes)
    trust = result.trust
    return TrustPage(
        judge=judge,
        revision=revision,
        revisions=tuple(one.number for one in revisions),
        judgment_list=judgment_list,
        lists=tuple(lists.values()),
        found=result,
        grades=grades,
        table=tuple(map(TableRow, grades, trust.table, trust.by_grade)) if trust else (),
        queries=paginate(
            trust.by_query if trust else (), page=page, show=_name_queries, per_page=per_page
        ),
    )


def _name_queries(rows: list[QueryAgreement]) -> list[QueryRow]:
    known = Query.objects.in_bulk([one.query for one in rows])
    result = []
    for one in rows:
        own, query = asdict(one), known[one.query]
        del own["query"]
        result.append(QueryRow(qid=query.qid, text=query.text, **own))
    return result


def _get_computed(access: Access, revision: JudgeRevision, judgment_list: JudgmentList) -> Computed:
    own_qs = MachineLabel.objects.filter(revision__judge=revision.judge_id)
    newest = own_qs.aggregate(newest=Max("pk"))["newest"] or 0
    said = Pair.objects.filter(list=judgment_list).aggregate(said=Sum("label_seq"))["said"] or 0
    family = revision.judge.family
    state = f"{newest}:{judgment_list.pk}:{judgment_list.head}:{said}:{family}"
    name = f"trust:5:{revision.salt}:{state}"
    return get_or_compute(name, Computed, KEPT, lambda: _compute(access, revision, judgment_list))


def _compute(access: Access, revision: JudgeRevision, judgment_list: JudgmentList) -> Computed:
    machine = list_machine_grades(revision)
    pairs = _list_people(judgment_list)
    on_list = set(Pair.objects.filter(list=judgment_list).values_list("query", "document"))
    both = [(pair, grade, pk) for pair, (grade, pk) in pairs.items() if pair in machine]
    both = sorted(both)[:MOST_PAIRS]
    labels = {pair: grade for pair, grade in machine.items() if pair in on_list}
    scale = Scale.from_json(judgment_list.scale)
    step = {code: position for position, code in enumerate(scale.codes)}
    values = [grade.value for grade in scale.grades]
    drift = _get_drift(revision, labels, step, values)
    if not both:
        return Computed(len(labels), drift, None, (), (), None)
    graded = Graded(
        queries=np.array([pair[0] for pair, _, _ in both], np.int64),
        people=np.array([step[grade] for _, grade, _ in both], np.int64),
        machine=np.array([step[machine[pair]] for pair, _, _ in both], np.int64),
    )
    single = _list_single(judgment_list, [pk for _, _, pk in both], step)
    return Computed(
        labels=len(labels),
        drift=drift,
        trust=trust_of(graded, single, values),
        segments=_by_segment(graded, single, values),
        weeks=_by_week(_list_weeks(revision, both), graded, single, values),
        boards=_get_boards(access, judgment_list, machine, pairs, revision.judge.family),
    )


def _get_drift(
    revision: JudgeRevision, labels: dict[PairKey, int], step: dict[int, int], values: list[float]
) -> Drift | None:
    """Since the revision before that labelled some of these pairs with grades of this scale."""
    before_qs = JudgeRevision.objects.filter(judge=revision.judge_id, number__lt=revision.number)
    for earlier in before_qs.filter(labels__isnull=False).distinct().order_by("-number"):
        grades = list_machine_grades(earlier)
        shared = sorted(pair for pair in labels if grades.get(pair) in step)
        if shared:
            both = Graded(
                queries=np.array([query for query, _ in shared], np.int64),
                people=np.array([step[grades[pair]] for pair in shared], np.int64),
                machine=np.array([step[labels[pair]] for pair in shared], np.int64),
            )
            return drift_of(earlier.number, both, values)
    return None


def list_machine_grades(revision: JudgeRevision) -> dict[PairKey, int]:
    """The newest grade of each pair by a revision."""
    labels_qs = MachineLabel.objects.filter(revision=revision).order_by("pk")
    return {
        (query, document): grade
        for query, document, grade in labels_qs.values_list("query", "document", "grade")
    }


def _list_people(judgment_list: JudgmentList) -> dict[PairKey, tuple[int, int]]:
    """What people concluded of each pair of the list's campaigns, and the pair's id."""
    concluded = (Pair.State.COMPLETE, Pair.State.ADJUDICATED)
    pairs_qs = Pair.objects.filter(
        list=judgment_list, state__in=concluded, grade__isnull=False
    ).order_by("pk")
    rows = pairs_qs.values_list("query", "document", "grade", "pk")
    return {
        (query, document): (grade, pk) for query, document, grade, pk in rows if grade is not None
    }


def _list_single(judgment_list: JudgmentList, pair_ids: list[int], step: dict[int, int]) -> Single:
    """The single labels behind these pairs."""
    place = {pk: number for number, pk in enumerate(pair_ids)}
    labels_qs = overlap_grades().filter(pair__list=judgment_list).order_by("pair", "pk")
    rows = [
        (place[pair], step[grade])
        for pair, grade in labels_qs.values_list("pair", "grade")
        if pair in place and grade in step
    ]
    table = np.array(rows, np.int64).reshape(-1, 2)
    return Single(table[:, 0], table[:, 1])


def _by_segment(graded: Graded, single: Single, values: list[float]) -> tuple[SegmentTrust, ...]:
    """By segment, where there are at least two."""
    ids = np.unique(graded.queries).tolist()
    segments = dict(Query.objects.filter(pk__in=ids).values_list("pk", "segment"))
    names = sorted(set(segments.values()))
    if len(names) < 2:
        return ()
    own = np.array([segments[query] for query in graded.queries.tolist()])
    return tuple(_of_segment(name, own == name, graded, single, values) for name in names)


def _of_segment(
    name: str, chosen: np.ndarray, graded: Graded, single: Single, values: list[float]
) -> SegmentTrust:
    rows, some = _only(chosen, graded, single)
    return SegmentTrust(
        name,
        alpha_with_people(rows, some, values),
        kappa_of(rows, values, "quadratic"),
        same_of(rows, values),
        bias_of(rows),
    )


def _only(chosen: np.ndarray, graded: Graded, single: Single) -> tuple[Graded, Single]:
    kept = chosen[single.pairs]
    place = np.cumsum(chosen) - 1
    return graded.rows(chosen), Single(place[single.pairs[kept]], single.steps[kept])


def _list_weeks(revision: JudgeRevision, both: list[tuple[PairKey, int, int]]) -> np.ndarray:
    """The Monday of the week in which the machine labelled each pair, as text."""
    labels_qs = MachineLabel.objects.filter(revision=revision).order_by("pk")
    rows = labels_qs.values_list("query", "document", "created_at")
    days = {(query, document): at.astimezone(UTC).date() for query, document, at in rows}
    return np.array(
        [str(day - timedelta(day.weekday())) for day in (days[one] for one, *_ in both)]
    )


def _by_week(
    weeks: np.ndarray, graded: Graded, single: Single, values: list[float]
) -> tuple[WeekTrust, ...]:
    names = sorted(set(weeks.tolist()), reverse=True)[:MOST_WEEKS]
    if len(names) < 2:
        return ()
    result = []
    for name in names:
        rows, some = _only(weeks == name, graded, single)
        alpha = alpha_with_people(rows, some, values)
        result.append(WeekTrust(name, alpha, same_of(rows, values), bias_of(rows)))
    return tuple(result)


def _get_boards(
    access: Access,
    judgment_list: JudgmentList,
    machine: dict[PairKey, int],
    people: dict[PairKey, tuple[int, int]],
    family: str,
) -> TwoBoards | None:
    """The boards over the queries of which the machine has graded every pair that people have."""
    without = {query for query, document in people if (query, document) not in machine}
    shared = [pair for pair in people if pair[0] not in without]
    return get_two_boards(
        access=access,
        judgment_list=judgment_list,
        first={pair: people[pair][0] for pair in shared},
        second={pair: machine[pair] for pair in shared},
        family=family,
    )
