"""Single pairs for leads: where people disagree, and everything that was said about one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final, NamedTuple
from uuid import UUID

from django.core.paginator import Page
from django.db.models import Exists, QuerySet

from annotation.adjudication.filters import Narrowing, checks_that_hold
from annotation.campaigns.queries import IN_GOLD, get_pair, rank_disagreements, with_names
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
from annotation.quality.confusion import list_confused
from annotation.questions.queries import QuestionRow, list_pair_questions
from judgments.lists.queries import get_list
from judgments.models import Document, Judgment, JudgmentList, JudgmentVersion, Query, User
from judgments.pages.answers import ON_PAGES
from judgments.pages.paging import paginate
from judgments.permissions import Access, NotFound, check_may_see_people
from judgments.pictures.queries import DocumentPictures, get_document_pictures
from judgments.storage.bulk import Among
from judgments.versions.click_grades import click_words
from judgments.versions.machine_grades import machine_words
from judgments.versions.queries import up_to_head

ALL: Final = "all"
DIFFER: Final = "differ"


class PairRow(NamedTuple):
    """A pair with the grades of its current labels, worst first. gold: what is right, if known."""

    pair: Pair
    grades: list[int]
    gold: GoldItem | None


@dataclass(frozen=True)
class PairsPage:
    """The pairs of a campaign. show: which of them: ALL, those that DIFFER, or a state.

    narrowing: by what was said of them. people: that it names, by user name.
    """

    campaign: Campaign
    show: str
    qid: str
    narrowing: Narrowing
    people: dict[str, User]
    rows: "Page[PairRow]"


@dataclass(frozen=True)
class Statement:
    """A label. grade: null unless the outcome is “graded”.

    is_current: not superseded. is_in_overlap: not too late. is_aside: set aside. is_of_this_text:
    of the document's current text.
    """

    id: UUID
    annotator: str
    outcome: str
    grade: int | None
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
    outcome_name: str = field(metadata=ON_PAGES)


@dataclass(frozen=True)
class Decision:
    """An adjudication, which overrides labels. reopened_by: "" unless reopened."""

    who: str
    grade: int
    reason: str
    decided_at: datetime
    reopened_by: str
    reopened_why: str


@dataclass(frozen=True)
class Holding:
    """A current or earlier grade in the list, valid from version `since` to before `until`.

    until: null if current. source: of the version. who: its author, "" if there is none. evidence:
    what clicks or a machine judge said, in words; "" for a grade of people.
    """

    grade: int
    since: int
    until: int | None
    source: str
    who: str
    reason: str
    evidence: str
    committed_at: datetime


@dataclass(frozen=True, order=True)
class Source:
    """A run that contributed the document to a pool, and its rank."""

    ranker: str
    run: str
    rank: int


@dataclass(frozen=True)
class Asked:
    """A pair in a campaign. grade: after aggregation or adjudication."""

    campaign: UUID
    name: str
    state: str
    grade: int | None
    labels: tuple[Statement, ...]
    decisions: tuple[Decision, ...]
    sources: tuple[Source, ...]


@dataclass(frozen=True)
class PairPage:
    """The lead's page of one pair. judgments: the grades of the list, the newest first.

    next_id: the next pair that needs adjudication, None where there is no other. left: how many do.
    gold: the right answer, from worst to best accepted grade, where the pair is gold now.
    questions: of annotators about the pair.
    """

    pair: Pair
    pictures: DocumentPictures
    grades: tuple[KeyedGrade, ...]
    asked: Asked
    judgments: tuple[Holding, ...]
    next_id: int | None
    left: int
    gold: GoldItem | None
    questions: tuple[QuestionRow, ...]


@dataclass(frozen=True)
class History:
    """judgments: its grades in the list, newest first; empty if it was never judged.

    campaigns: those with this pair, newest first, with its labels, oldest first.
    """

    query_id: str
    doc_id: str
    judgments: tuple[Holding, ...]
    campaigns: tuple[Asked, ...]
    list: JudgmentList = field(metadata=ON_PAGES)
    query: Query = field(metadata=ON_PAGES)
    document: Document = field(metadata=ON_PAGES)


def list_widest(*, access: Access, campaign: Campaign, pair_ids: Sequence[int]) -> list[PairRow]:
    """These pairs, whose grades differ, as the dashboard shows them."""
    check_may_watch(access, campaign)
    return _show_pairs(pair_ids)


def get_next_pair_id(*, access: Access, pair: Pair) -> int | None:
    """The pair to decide after this one; None if there is no other."""
    check_may_watch(access, pair.campaign)
    return next(iter(_list_to_decide(pair)), None)


def get_pairs_page(
    *, access: Access, campaign: Campaign, show: str, qid: str, narrowing: Narrowing, page: str
) -> PairsPage:
    """The pairs of a campaign by query, or those that differ by the distance of their grades.

    For leads and admins. Gold is among all pairs, and in no state: nothing is decided or missing
    of it.
    """
    check_may_watch(access, campaign)
    show = show if show in {DIFFER, *Pair.State.values} else ALL
    pairs_qs = campaign.pairs.order_by("query", "pk")
    if show in Pair.State.values:
        gold = Exists(GoldItem.objects.filter(IN_GOLD))
        pairs_qs = pairs_qs.filter(~gold, state=show)
    if qid:
        pairs_qs = pairs_qs.filter(query__qid=qid)
    pairs_qs = narrowing.of(pairs_qs)
    if narrowing.likely is not None and narrowing.grade is not None and len(narrowing.people) == 1:
        confused = list_confused(
            campaign=campaign,
            username=narrowing.people[0],
            grade=narrowing.grade,
            likely=narrowing.likely,
        )
        pairs_qs = pairs_qs.filter(Among("pk", confused))
    ids: Sequence[int] | QuerySet[Pair, int] = pairs_qs.values_list("pk", flat=True)
    if show == DIFFER:
        meant = set(ids) if qid or narrowing else None
        ranked = rank_disagreements(campaign)
        ids = [pk for _, _, pk in ranked if meant is None or pk in meant]
    users_qs = User.objects.filter(username__in=narrowing.people)
    return PairsPage(
        campaign=campaign,
        show=show,
        qid=qid,
        narrowing=narrowing,
        people={user.username: user for user in users_qs},
        rows=paginate(ids, page=page, show=partial(_show_pairs, of_gold=narrowing.gold)),
    )


def get_pair_page(*, access: Access, pair_id: int) -> PairPage:
    """Everything that was said and decided about a pair, oldest first; for leads and admins."""
    pair = get_pair(access=access, pair_id=pair_id)
    to_decide = _list_to_decide(pair)
    return PairPage(
        pair=pair,
        pictures=get_document_pictures(access=access, document=pair.document),
        grades=list_decidable(access, pair),
        asked=_asked(pair),
        judgments=tuple(_list_holdings(pair.list_id, pair.query_id, pair.document_id)),
        next_id=to_decide[0] if to_decide else None,
        left=len(to_decide),
        gold=find_gold(access=access, pair=pair),
        questions=list_pair_questions(access=access, pair=pair),
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
    pairs_qs = Pair.objects.select_related("campaign", "query", "document").filter(
        list=judgment_list, query=query, document=document
    )
    return History(
        query_id=qid,
        doc_id=docid,
        judgments=tuple(_list_holdings(judgment_list.pk, query.pk, document.pk)),
        campaigns=tuple(map(_asked, pairs_qs.order_by("-pk"))),
        list=judgment_list,
        query=query,
        document=document,
    )


def _asked(pair: Pair) -> Asked:
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
    sources = PoolEntry.objects.filter(pair=pair).values_list("sources", flat=True)
    return Asked(
        campaign=pair.campaign.public_id,
        name=pair.campaign.name,
        state=pair.state,
        grade=pair.grade,
        labels=tuple(_statement(pair, one) for one in labels_qs.order_by("pair_seq")),
        decisions=tuple(map(_decision, adjudications_qs.order_by("pair_seq"))),
        sources=tuple(sorted({Source(*own) for result in sources for own in result})),
    )


def list_decidable(access: Access, pair: Pair) -> tuple[KeyedGrade, ...]:
    """The grades that a pair can be decided as, with the keys that the viewer labels by."""
    newest = pair.campaign.guideline.revisions.latest("number")
    return keyed_grades(newest.grades, get_preferences(viewer=access.user).keys)


def _list_to_decide(pair: Pair) -> list[int]:
    """The other pairs of the campaign that need adjudication, from this one on."""
    tied_qs = pair.campaign.pairs.filter(state=Pair.State.TIED)
    tied = set(tied_qs.values_list("pk", flat=True))
    ranked = rank_disagreements(pair.campaign)
    own = next(((spread, pk) for _, spread, pk in ranked if pk == pair.pk), None)
    others = [(spread, pk) for _, spread, pk in ranked if pk in tied and pk != pair.pk]
    if own is not None:
        others.sort(key=lambda one: (one < own, one))
    return [pk for _, pk in others]


def _show_pairs(pair_ids: Sequence[int], *, of_gold: bool = False) -> list[PairRow]:
    """of_gold: with the labels that were checked."""
    by_pk = with_names(Pair.objects.all()).in_bulk(list(pair_ids))
    gold_qs = GoldItem.objects.filter(pair__in=list(pair_ids), retired_at=None)
    gold = {item.pair_id: item for item in gold_qs}
    rows = [PairRow(by_pk[pk], [], gold.get(pk)) for pk in pair_ids]
    grades = {row.pair.pk: row.grades for row in rows}
    given: Iterable[tuple[int, int | None]]
    if of_gold:
        checks_qs = checks_that_hold().filter(item__pair__in=list(pair_ids))
        given = checks_qs.order_by("label__grade").values_list("item__pair", "label__grade")
    else:
        labels_qs = overlap_grades().filter(pair__in=list(pair_ids))
        given = labels_qs.order_by("grade").values_list("pair_id", "grade")
    for pair_id, grade in given:
        if grade is not None:
            grades[pair_id].append(grade)
    return rows


def _decision(one: Adjudication) -> Decision:
    reopening = getattr(one, "reopening", None)
    return Decision(
        who=str(one.decided_by),
        grade=one.grade,
        reason=one.reason,
        decided_at=one.decided_at,
        reopened_by=str(reopening.reopened_by) if reopening else "",
        reopened_why=reopening.reason if reopening else "",
    )


def _statement(pair: Pair, label: Label) -> Statement:
    seat = label.assignment
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
        is_in_overlap=seat is not None,
        is_aside=bool(seat and seat.state == Assignment.State.ASIDE),
        is_blind=label.is_blind,
        is_of_this_text=label.content_hash == pair.document.content_hash,
    )


def _list_holdings(list_id: int, query_id: int, document_id: int) -> list[Holding]:
    rows_qs = Judgment.objects.filter(
        up_to_head(), list=list_id, query=query_id, document=document_id
    )
    rows = list(rows_qs.select_related("list").order_by("-since"))
    versions_qs = JudgmentVersion.objects.filter(
        list=list_id, number__in=[row.since for row in rows]
    )
    versions = {one.number: one for one in versions_qs.select_related("author", "reason_text")}
    return [
        Holding(
            grade=row.grade,
            since=row.since,
            until=row.until if row.until and row.until <= row.list.head else None,
            source=versions[row.since].get_source_display(),
            who=str(versions[row.since].author or ""),
            reason=versions[row.since].reason,
            evidence=click_words(row.evidence or {}) or machine_words(row.evidence or {}),
            committed_at=versions[row.since].created_at,
        )
        for row in rows
    ]
