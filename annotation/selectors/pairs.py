"""Single pairs for leads: where people disagree, and everything that was said about one."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from annotation.models import Adjudication, Campaign, Label, Pair, PoolEntry
from annotation.permissions import check_may_watch
from annotation.selectors.campaigns import list_extremes
from judgments.models import Judgment
from judgments.permissions import Access, NotFound, check_may_see_people
from judgments.scales import Scale


@dataclass(frozen=True)
class Disagreement:
    """A pair whose people gave different grades. spread: steps of the scale between them."""

    pair_id: int
    qid: str
    query_text: str
    docid: str
    title: str
    grades: tuple[int, ...]
    spread: int
    state: str
    state_name: str
    grade: int | None


@dataclass(frozen=True)
class Statement:
    """One label with who made it. is_current: it holds; outside the overlap: a surplus."""

    id: UUID
    annotator: str
    outcome: str
    outcome_name: str
    grade: int | None
    reason: str
    note: str
    guideline_revision: int
    seconds: float | None
    made_at: datetime
    is_current: bool
    is_in_overlap: bool
    is_blind: bool
    is_of_this_text: bool


@dataclass(frozen=True)
class Decision:
    """One adjudication."""

    person: str
    grade: int
    reason: str
    decided_at: datetime


@dataclass(frozen=True)
class PairDetail:
    """The lead's page of one pair. sources: (ranker, run, rank) of every pool that brought it."""

    pair: Pair
    statements: tuple[Statement, ...]
    decisions: tuple[Decision, ...]
    sources: tuple[tuple[str, str, int], ...]
    judged: int | None


def list_disagreements(
    *, access: Access, campaign: Campaign, limit: int = 100, offset: int = 0
) -> list[Disagreement]:
    """The pairs whose grades differ, the widest apart first; undecided ones before the others."""
    check_may_watch(access, campaign)
    codes = Scale.from_json(campaign.list.scale).codes
    step = {code: number for number, code in enumerate(codes)}
    ranked = sorted(
        (state == Pair.State.ADJUDICATED, step[worst] - step[best], pk)
        for pk, state, worst, best in list_extremes(campaign)
    )[offset : offset + limit]
    spreads = {pk: -negative for _, negative, pk in ranked}
    pairs = Pair.objects.select_related("query", "document").defer("document__body")
    by_pk = pairs.in_bulk(list(spreads))
    grades = _list_grades(list(spreads))
    return [
        _disagreement(by_pk[pk], tuple(sorted(grades[pk], key=step.__getitem__)), spread)
        for pk, spread in spreads.items()
    ]


def get_pair(*, access: Access, pair_id: int) -> Pair:
    """A pair of the collection with its campaign, query and document; for leads and admins."""
    check_may_see_people(access)
    pairs_qs = Pair.objects.select_related(
        "campaign__list__collection", "campaign__guideline", "list", "query", "document"
    )
    pair = pairs_qs.filter(pk=pair_id, list__collection=access.collection).first()
    if pair is None:
        raise NotFound("pair")
    return pair


def get_pair_detail(*, access: Access, pair_id: int) -> PairDetail:
    """Everything that was said and decided about a pair, oldest first; for leads and admins."""
    pair = get_pair(access=access, pair_id=pair_id)
    labels_qs = pair.labels.select_related("annotator", "guideline_revision", "superseded_by")
    adjudications_qs = Adjudication.objects.filter(pair=pair).select_related("decided_by")
    judged = Judgment.objects.filter(
        list=pair.list_id, query=pair.query_id, document=pair.document_id, until__isnull=True
    )
    return PairDetail(
        pair=pair,
        statements=tuple(_statement(pair, one) for one in labels_qs.order_by("pair_seq")),
        decisions=tuple(
            Decision(str(one.decided_by), one.grade, one.reason, one.decided_at)
            for one in adjudications_qs.order_by("pair_seq")
        ),
        sources=tuple(_list_sources(pair)),
        judged=judged.values_list("grade", flat=True).first(),
    )


def _list_grades(pair_ids: list[int]) -> dict[int, list[int]]:
    grades: dict[int, list[int]] = {pk: [] for pk in pair_ids}
    labels_qs = Label.objects.filter(
        pair__in=pair_ids,
        outcome=Label.Outcome.GRADED,
        superseded_by__isnull=True,
        assignment__isnull=False,
    )
    for pair_id, grade in labels_qs.order_by().values_list("pair_id", "grade"):
        if grade is not None:
            grades[pair_id].append(grade)
    return grades


def _disagreement(pair: Pair, grades: tuple[int, ...], spread: int) -> Disagreement:
    return Disagreement(
        pair_id=pair.pk,
        qid=pair.query.qid,
        query_text=pair.query.text,
        docid=pair.document.docid,
        title=pair.document.title,
        grades=grades,
        spread=spread,
        state=pair.state,
        state_name=pair.get_state_display(),
        grade=pair.grade,
    )


def _statement(pair: Pair, label: Label) -> Statement:
    return Statement(
        id=label.pk,
        annotator=str(label.annotator),
        outcome=label.outcome,
        outcome_name=label.get_outcome_display(),
        grade=label.grade,
        reason=label.reason,
        note=label.note,
        guideline_revision=label.guideline_revision.number,
        seconds=label.seconds,
        made_at=label.made_at,
        is_current=not hasattr(label, "superseded_by"),
        is_in_overlap=label.assignment_id is not None,
        is_blind=label.is_blind,
        is_of_this_text=label.content_hash == pair.document.content_hash,
    )


def _list_sources(pair: Pair) -> list[tuple[str, str, int]]:
    entries_qs = PoolEntry.objects.filter(pair=pair).order_by("pk")
    found = {
        (str(ranker), str(run), int(rank))
        for sources in entries_qs.values_list("sources", flat=True)
        for ranker, run, rank in sources
    }
    return sorted(found)
