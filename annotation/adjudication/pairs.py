"""Single pairs for leads: where people disagree, and everything that was said about one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from types import MappingProxyType
from uuid import UUID

from django.core.paginator import Page
from django.db.models import QuerySet

from annotation.adjudication.filters import Narrowing
from annotation.campaigns.queries import Extremes, get_pair, list_extremes
from annotation.consolidation.overlap import overlap_grades
from annotation.gold.queries import find_gold
from annotation.labelling.preferences import get_preferences
from annotation.models import (
    Adjudication,
    Assignment,
    Campaign,
    GoldItem,
    Label,
    Pair,
    PoolEntry,
)
from annotation.pages.keys import KeyedGrade, keyed_grades
from annotation.permissions import check_may_watch
from annotation.quality.assessment import name_segment
from judgments.lists.queries import GradeShown, get_list, show_grade
from judgments.models import Document, Judgment, JudgmentList, JudgmentVersion, Query, User
from judgments.pages.paging import paginate
from judgments.permissions import Access, NotFound, check_may_see_people
from touchstone.scales import Scale

SHOWS: Mapping[str, str] = MappingProxyType(
    {
        "all": "All",
        "differ": "Disagreements",
        "tied": "Needs adjudication",
        "open": "Not yet complete",
        "complete": "Complete",
        "adjudicated": "Adjudicated",
    }
)


@dataclass(frozen=True)
class PairRow:
    """A pair in a table. grades: of its current labels, worst first. grade: what they come to."""

    pair_id: int
    qid: str
    query_text: str
    docid: str
    title: str
    grades: tuple[GradeShown, ...]
    state: str
    state_name: str
    grade: GradeShown | None


@dataclass(frozen=True)
class PairsPage:
    """The pairs of a campaign. show: which of them, a key of SHOWS. choices: all of those.

    narrowing: by what was said of them. said: the same in words.
    """

    campaign: Campaign
    show: str
    choices: tuple[tuple[str, str], ...]
    qid: str
    narrowing: Narrowing
    said: tuple[str, ...]
    rows: "Page[PairRow]"

    @property
    def is_closed(self) -> bool:
        return self.campaign.state == Campaign.State.CLOSED


@dataclass(frozen=True)
class Statement:
    """One label with who made it. is_current: it holds; outside the overlap: a surplus.
    is_aside: it counts no longer, because of checks that went wrong."""

    id: UUID
    annotator: str
    outcome: str
    outcome_name: str
    grade: GradeShown | None
    reason: str
    note: str
    guideline_revision: int
    seconds: float | None
    made_at: datetime
    is_current: bool
    is_in_overlap: bool
    is_aside: bool
    is_blind: bool
    is_of_this_text: bool


@dataclass(frozen=True)
class Decision:
    """One adjudication, and who took it back and why, if somebody did."""

    person: str
    grade: GradeShown
    reason: str
    decided_at: datetime
    reopened_by: str
    reopened_why: str


@dataclass(frozen=True)
class Holding:
    """A grade that the list holds or held for the pair: from which version to before which."""

    grade: GradeShown
    since: int
    until: int | None
    source_name: str
    who: str
    reason: str
    committed_at: datetime


@dataclass(frozen=True)
class PairPage:
    """The lead's page of one pair.

    sources: (ranker, run, rank) of every pool that brought it. holdings: the newest first.
    next_id: the next pair to decide, None where there is no other. left: how many there are.
    gold: the right answer, from worst to best accepted grade, where the pair is gold now.
    """

    pair: Pair
    grade: GradeShown | None
    grades: tuple[KeyedGrade, ...]
    statements: tuple[Statement, ...]
    decisions: tuple[Decision, ...]
    sources: tuple[tuple[str, str, int], ...]
    holdings: tuple[Holding, ...]
    next_id: int | None
    left: int
    gold: GoldItem | None


@dataclass(frozen=True)
class Asked:
    """What one campaign made of a query and a document, as its pair's page says it."""

    pair: Pair
    statements: tuple[Statement, ...]
    decisions: tuple[Decision, ...]
    sources: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True)
class History:
    """A judgment's blame. holdings: its grades in the list, the newest first.

    asked: every campaign that asked about it, the newest first.
    """

    list: JudgmentList
    query: Query
    document: Document
    holdings: tuple[Holding, ...]
    asked: tuple[Asked, ...]

    @property
    def qid(self) -> str:
        return self.query.qid

    @property
    def docid(self) -> str:
        return self.document.docid


def list_widest(
    *, access: Access, campaign: Campaign, extremes: Iterable[Extremes], limit: int
) -> list[PairRow]:
    """The first of the pairs whose grades differ: undecided ones, the widest apart first."""
    check_may_watch(access, campaign)
    ranked = _rank(campaign, extremes)[:limit]
    return _show_pairs(campaign, [pk for _, _, pk in ranked])


def get_next_pair_id(*, access: Access, pair: Pair) -> int | None:
    """The pair to decide after this one; None if there is no other."""
    check_may_watch(access, pair.campaign)
    return next(iter(_list_to_decide(pair)), None)


def get_pairs_page(
    *, access: Access, campaign: Campaign, show: str, qid: str, narrowing: Narrowing, page: str
) -> PairsPage:
    """The pairs of a campaign by query, or those that differ by how far; for leads and admins."""
    check_may_watch(access, campaign)
    show = show if show in SHOWS else "all"
    pairs_qs = campaign.pairs.order_by("query", "pk")
    if show not in ("all", "differ"):
        pairs_qs = pairs_qs.filter(state=show)
    if qid:
        pairs_qs = pairs_qs.filter(query__qid=qid)
    pairs_qs = narrowing.of(pairs_qs)
    ids: Sequence[int] | QuerySet[Pair, int] = pairs_qs.values_list("pk", flat=True)
    if show == "differ":
        meant = set(ids) if qid or narrowing else None
        ranked = _rank(campaign, list_extremes(campaign))
        ids = [pk for _, _, pk in ranked if meant is None or pk in meant]
    rows = paginate(ids, page=page, show=partial(_show_pairs, campaign))
    said = tuple(_narrowed(campaign, narrowing))
    return PairsPage(campaign, show, tuple(SHOWS.items()), qid, narrowing, said, rows)


def _narrowed(campaign: Campaign, narrowing: Narrowing) -> Iterator[str]:
    """By what the pairs are narrowed, in words."""
    if narrowing.segment is not None:
        yield name_segment(narrowing.segment)
    people = {
        user.username: str(user) for user in User.objects.filter(username__in=narrowing.people)
    }
    yield from (f"a label by {people.get(name, name)}" for name in narrowing.people)
    if narrowing.grade is not None:
        scale = Scale.from_json(campaign.list.scale)
        grade = show_grade(scale, narrowing.grade) if scale.contains(narrowing.grade) else None
        yield f"the grade “{grade.name if grade else narrowing.grade}”"
    if narrowing.revision is not None:
        yield f"revision {narrowing.revision} of the guideline"
    for word, moment in (("from", narrowing.since), ("until", narrowing.until)):
        if moment is not None:
            yield f"{word} {moment:%Y-%m-%d %H:%M} UTC"


def get_pair_page(*, access: Access, pair_id: int) -> PairPage:
    """Everything that was said and decided about a pair, oldest first; for leads and admins."""
    pair = get_pair(access=access, pair_id=pair_id)
    scale = Scale.from_json(pair.list.scale)
    asked = _asked(pair, scale)
    to_decide = _list_to_decide(pair)
    return PairPage(
        pair=pair,
        grade=None if pair.grade is None else show_grade(scale, pair.grade),
        grades=list_decidable(access, pair),
        statements=asked.statements,
        decisions=asked.decisions,
        sources=asked.sources,
        holdings=tuple(_list_holdings(pair.list_id, pair.query_id, pair.document_id, scale)),
        next_id=to_decide[0] if to_decide else None,
        left=len(to_decide),
        gold=find_gold(access=access, pair=pair),
    )


def find_pair_id(*, access: Access, list_slug: str, qid: str, docid: str) -> int | None:
    """The pair of the newest campaign that asked about a query and a document of a list, if any."""
    check_may_see_people(access)
    pairs_qs = Pair.objects.filter(
        list__collection=access.collection,
        list__slug=list_slug,
        query__qid=qid,
        document__docid=docid,
    )
    return pairs_qs.order_by("-pk").values_list("pk", flat=True).first()


def get_history(*, access: Access, list_slug: str, qid: str, docid: str) -> History:
    """Where the judgment of a query and a document came from; for leads and admins."""
    check_may_see_people(access)
    judgment_list = get_list(access=access, slug=list_slug)
    query = Query.objects.filter(collection=access.collection, qid=qid).first()
    document = Document.objects.filter(collection=access.collection, docid=docid).first()
    if query is None or document is None:
        raise NotFound("pair")
    scale = Scale.from_json(judgment_list.scale)
    pairs_qs = Pair.objects.select_related("campaign", "query", "document").filter(
        list=judgment_list, query=query, document=document
    )
    return History(
        list=judgment_list,
        query=query,
        document=document,
        holdings=tuple(_list_holdings(judgment_list.pk, query.pk, document.pk, scale)),
        asked=tuple(_asked(pair, scale) for pair in pairs_qs.order_by("-pk")),
    )


def _asked(pair: Pair, scale: Scale) -> Asked:
    labels_qs = pair.labels.select_related(
        "annotator",
        "assignment",
        "guideline_revision",
        "superseded_by",
        "timing",
        "reason_text",
        "note_text",
    )
    adjudications_qs = Adjudication.objects.filter(pair=pair).select_related(
        "decided_by", "reason_text", "reopening__reopened_by", "reopening__reason_text"
    )
    return Asked(
        pair=pair,
        statements=tuple(_statement(pair, scale, one) for one in labels_qs.order_by("pair_seq")),
        decisions=tuple(_decision(one, scale) for one in adjudications_qs.order_by("pair_seq")),
        sources=tuple(_list_sources(pair)),
    )


def _rank(campaign: Campaign, extremes: Iterable[Extremes]) -> list[tuple[bool, int, int]]:
    """The pairs that differ: whether decided, minus the spread, the id; in that order."""
    step = {code: number for number, code in enumerate(Scale.from_json(campaign.list.scale).codes)}
    return sorted(
        (state == Pair.State.ADJUDICATED, step[worst] - step[best], pk)
        for pk, state, worst, best in extremes
    )


def list_decidable(access: Access, pair: Pair) -> tuple[KeyedGrade, ...]:
    """The grades that a pair can be decided as, with the keys that the viewer labels by."""
    newest = pair.campaign.guideline.revisions.latest("number")
    return keyed_grades(newest.grades, get_preferences(viewer=access.user).keys)


def _list_to_decide(pair: Pair) -> list[int]:
    """The other pairs of the campaign that differ and are undecided, from this one on."""
    ranked = _rank(pair.campaign, list_extremes(pair.campaign))
    own = next(((spread, pk) for _, spread, pk in ranked if pk == pair.pk), None)
    others = [(spread, pk) for decided, spread, pk in ranked if not decided and pk != pair.pk]
    if own is not None:
        others.sort(key=lambda one: (one < own, one))
    return [pk for _, pk in others]


def _show_pairs(campaign: Campaign, pair_ids: Sequence[int]) -> list[PairRow]:
    scale = Scale.from_json(campaign.list.scale)
    pairs_qs = Pair.objects.select_related("query", "document").defer(
        "document__body", "document__clean_html"
    )
    by_pk = pairs_qs.in_bulk(list(pair_ids))
    grades = _list_grades(list(pair_ids))
    return [_pair_row(by_pk[pk], scale, grades[pk]) for pk in pair_ids]


def _pair_row(pair: Pair, scale: Scale, grades: list[int]) -> PairRow:
    return PairRow(
        pair_id=pair.pk,
        qid=pair.query.qid,
        query_text=pair.query.text,
        docid=pair.document.docid,
        title=pair.document.title,
        grades=tuple(show_grade(scale, code) for code in sorted(grades)),
        state=pair.state,
        state_name=pair.get_state_display(),
        grade=None if pair.grade is None else show_grade(scale, pair.grade),
    )


def _list_grades(pair_ids: list[int]) -> dict[int, list[int]]:
    grades: dict[int, list[int]] = {pk: [] for pk in pair_ids}
    labels_qs = overlap_grades().filter(pair__in=pair_ids)
    for pair_id, grade in labels_qs.order_by().values_list("pair_id", "grade"):
        if grade is not None:
            grades[pair_id].append(grade)
    return grades


def _decision(one: Adjudication, scale: Scale) -> Decision:
    reopening = getattr(one, "reopening", None)
    return Decision(
        person=str(one.decided_by),
        grade=show_grade(scale, one.grade),
        reason=one.reason,
        decided_at=one.decided_at,
        reopened_by=str(reopening.reopened_by) if reopening else "",
        reopened_why=reopening.reason if reopening else "",
    )


def _statement(pair: Pair, scale: Scale, label: Label) -> Statement:
    seat = label.assignment
    return Statement(
        id=label.pk,
        annotator=str(label.annotator),
        outcome=label.outcome,
        outcome_name=label.get_outcome_display(),
        grade=None if label.grade is None else show_grade(scale, label.grade),
        reason=label.reason,
        note=label.note,
        guideline_revision=label.guideline_revision.number,
        seconds=label.seconds,
        made_at=label.made_at,
        is_current=not hasattr(label, "superseded_by"),
        is_in_overlap=label.assignment_id is not None,
        is_aside=bool(seat and seat.state == Assignment.State.ASIDE),
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


def _list_holdings(list_id: int, query_id: int, document_id: int, scale: Scale) -> list[Holding]:
    rows_qs = Judgment.objects.filter(list=list_id, query=query_id, document=document_id)
    rows = list(rows_qs.order_by("-since"))
    versions_qs = JudgmentVersion.objects.filter(
        list=list_id, number__in=[row.since for row in rows]
    )
    versions = {one.number: one for one in versions_qs.select_related("author", "reason_text")}
    return [
        Holding(
            grade=show_grade(scale, row.grade),
            since=row.since,
            until=row.until,
            source_name=versions[row.since].get_source_display(),
            who=str(versions[row.since].author or ""),
            reason=versions[row.since].reason,
            committed_at=versions[row.since].created_at,
        )
        for row in rows
    ]
