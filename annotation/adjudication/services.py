"""Deciding a pair: a lead's word wins over every label."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django.db import transaction
from django.db.models import F

from annotation.adjudication.queue import list_near
from annotation.consolidation.services import commit_conclusions, conclude, lock_list
from annotation.models import Adjudication, Campaign, OneMoreLabel, Pair, Reopening
from annotation.overlap_requests.queries import find_obstacle
from annotation.permissions import check_may_run, is_own
from annotation.seats.services import balance_seats, lock_pairs
from judgments.audit import services as audit
from judgments.models import JudgmentList
from judgments.permissions import Access, NotFound, may_lead
from judgments.storage.side_texts import keep_text
from touchstone.errors import DomainError
from touchstone.scales import Scale

MAX_REASON_CHARACTERS: Final = 4_000


class AdjudicationRefused(DomainError):
    """The pair can't be decided like this."""


def check_may_adjudicate(access: Access, pair: Pair) -> None:
    """Leads decide pairs of campaigns that have begun.

    A pair that is open in a later campaign of the list is decided there.
    """
    if not is_own(access, pair.campaign) or not may_lead(access):
        raise NotFound("pair")
    if pair.campaign.state == Campaign.State.DRAFT:
        raise AdjudicationRefused("campaign_draft", "The campaign has not been opened yet.")
    elsewhere = Pair.objects.filter(
        list=pair.list_id, query=pair.query_id, document=pair.document_id, is_open=True
    ).exclude(pk=pair.pk)
    other = elsewhere.values_list("campaign__name", flat=True).first()
    if other is not None:
        raise AdjudicationRefused(
            "pair_open_elsewhere",
            f"This pair is open in the campaign {other}. Adjudicate it there.",
        )


def adjudicate(
    *, access: Access, pair: Pair, grade: int, reason: str, at: datetime
) -> Adjudication:
    """Decide a pair; a live campaign's list has the grade when this returns.

    The newest decision holds, regardless of earlier or later labels. Raises
    AdjudicationRefused without a reason, as everything here does.
    """
    check_may_adjudicate(access, pair)
    if not Scale.from_json(pair.list.scale).contains(grade):
        raise AdjudicationRefused("grade_unknown", f"The scale has no grade {grade}.")
    return _decide(access, pair.campaign, {pair.pk: grade}, _words(reason), at)[0]


def decide_alike(
    *, access: Access, campaign: Campaign, takes_better: bool, reason: str, at: datetime
) -> list[Adjudication]:
    """Decide all disputed pairs whose labels are at most a step apart, at once; for leads.

    takes_better: the better of the two grades, else the worse one. The list gets one version.
    Raises AdjudicationRefused where there is none.
    """
    check_may_run(access, campaign)
    result = list_near(access=access, campaign=campaign)
    if not result:
        raise AdjudicationRefused(
            "nothing_near", "No disputed pair has labels that are one grade apart."
        )
    grades = {pair: better if takes_better else worse for pair, worse, better in result}
    return _decide(access, campaign, grades, _words(reason), at)


def reopen(*, access: Access, pair: Pair, reason: str, at: datetime) -> None:
    """Take the newest decision of a pair back: it follows from its labels again; for leads.

    Raises AdjudicationRefused where no decision holds.
    """
    check_may_adjudicate(access, pair)
    with transaction.atomic():
        judgment_list = lock_list(pair.list_id)
        Pair.objects.select_for_update(no_key=True).get(pk=pair.pk)
        newest = Adjudication.objects.filter(pair=pair).order_by("-pair_seq").first()
        if newest is None or hasattr(newest, "reopening"):
            raise AdjudicationRefused("not_decided", "This pair is not adjudicated.")
        why = keep_text(_words(reason))
        Reopening.objects.create(
            adjudication=newest, reason_text=why, reopened_at=at, reopened_by=access.user
        )
        Pair.objects.filter(pk=pair.pk).update(label_seq=F("label_seq") + 1)
        _conclude(judgment_list, pair.campaign, [pair.pk], at)
        _record(
            access,
            at,
            "pair.reopened",
            pair,
            before={"grade": newest.grade},
            after={"reason": _words(reason)},
        )


def ask_one_more(*, access: Access, pair: Pair, reason: str, at: datetime) -> None:
    """Request one more label of a pair instead of adjudicating it; for leads.

    Raises AdjudicationRefused where there is an obstacle (`find_obstacle`): no one is left who has
    not labelled it, say, or someone has been asked already.
    """
    check_may_adjudicate(access, pair)
    with transaction.atomic():
        judgment_list = lock_list(pair.list_id)
        lock_pairs(Pair.objects.filter(pk=pair.pk))
        obstacle = find_obstacle(pair)
        if obstacle is not None:
            raise AdjudicationRefused(obstacle.code, obstacle.message)
        why = keep_text(_words(reason))
        OneMoreLabel.objects.create(pair=pair, reason_text=why, asked_at=at, asked_by=access.user)
        Pair.objects.filter(pk=pair.pk).update(label_seq=F("label_seq") + 1)
        balance_seats(pair_ids=[pair.pk], overlap=pair.campaign.overlap)
        _conclude(judgment_list, pair.campaign, [pair.pk], at)
        _record(access, at, "pair.one_more_asked", pair, after={"reason": _words(reason)})


def _words(reason: str) -> str:
    words = reason.replace("\0", "").strip()[:MAX_REASON_CHARACTERS]
    if not words:
        raise AdjudicationRefused("reason_missing", "Give a reason; a few words are enough.")
    return words


def _decide(
    access: Access, campaign: Campaign, grades: Mapping[int, int], reason: str, at: datetime
) -> list[Adjudication]:
    """Store a decision for each pair and conclude them together."""
    newest = campaign.guideline.revisions.order_by("-number").first()
    assert newest is not None  # a guideline begins with a revision
    with transaction.atomic():
        judgment_list = lock_list(campaign.list_id)
        pair_ids = lock_pairs(campaign.pairs.filter(pk__in=grades))
        Pair.objects.filter(pk__in=pair_ids).update(label_seq=F("label_seq") + 1)
        pairs_qs = Pair.objects.select_related("query", "document").filter(pk__in=pair_ids)
        decided, kept = [], keep_text(reason)
        for pair in pairs_qs.order_by("pk"):
            grade = grades[pair.pk]
            adjudication = Adjudication.objects.create(
                pair=pair,
                grade=grade,
                reason_text=kept,
                guideline_revision=newest,
                content_hash=pair.document.content_hash,
                decided_at=at,
                decided_by=access.user,
                pair_seq=pair.label_seq,
            )
            decided.append(adjudication)
            _record(
                access,
                at,
                "pair.adjudicated",
                pair,
                before={"grade": pair.grade, "state": pair.state},
                after={"grade": grade, "reason": reason},
            )
        _conclude(judgment_list, campaign, pair_ids, at)
    return decided


def _conclude(
    judgment_list: JudgmentList, campaign: Campaign, pair_ids: Sequence[int], at: datetime
) -> None:
    due_qs = Pair.objects.filter(pk__in=pair_ids)
    concluded = conclude(judgment_list=judgment_list, due_qs=due_qs)
    if campaign.commit == Campaign.Commit.LIVE:
        commit_conclusions(judgment_list=judgment_list, concluded=concluded, by=None, at=at)


def _record(access: Access, at: datetime, action: str, pair: Pair, **values: Any) -> None:
    audit.record_by(access, at, action, f"{pair.query.qid} {pair.document.docid}", **values)
