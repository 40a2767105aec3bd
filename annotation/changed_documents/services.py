"""Relabelling judgments on changed documents, and what a list does with them until then."""

from dataclasses import dataclass
from datetime import datetime
from uuid import uuid4

from django.db import transaction
from django.db.models import Exists, OuterRef

from annotation.changed_documents.queries import (
    changed_judgments,
    is_on_todays_text,
    list_changed_pairs,
    newest_load,
    taken_out,
)
from annotation.consolidation.services import lock_list
from annotation.models import Campaign, DocumentCheck, Pair
from annotation.overlap_requests.queries import list_askable
from annotation.overlap_requests.services import request_labels
from judgments.audit import services as audit
from judgments.lists.services import check_own_list
from judgments.models import JudgmentList, JudgmentVersion, User
from judgments.models.lists import Takes
from judgments.permissions import Access, check_may_lead
from judgments.versions.queries import at_head
from judgments.versions.services import Change, commit_judgments
from judgments.versions.takes import check_takes_people

REASON = "the documents have changed since they were labelled"
KEPT_REASON = "judgments on changed documents are kept"
Choice = JudgmentList.ChangedDocuments


@dataclass(frozen=True)
class Relabelled:
    """How many pairs get another label, and how many judgments can't: their campaign is closed, or
    no one is left who has not labelled the pair.
    """

    asked: int
    left: int


def relabel_changed(*, access: Access, judgment_list: JudgmentList, at: datetime) -> Relabelled:
    """Request one more label, on today's text, of every pair that can still be labelled.

    For leads. Until the labels come, the judgments are what the list chose. Pairs that wait for a
    label already are not asked again.
    """
    check_may_lead(access)
    check_own_list(access, judgment_list)
    asked = 0
    total = changed_judgments(judgment_list).count()
    for campaign in judgment_list.campaigns.filter(state=Campaign.State.OPEN).order_by("pk"):
        with transaction.atomic():
            lock_list(campaign.list_id, commits=False)
            changed = set(list_changed_pairs(judgment_list, campaign))
            wanted = [pk for pk, _ in list_askable(campaign, None) if pk in changed]
            if wanted:
                asked += request_labels(
                    access=access,
                    campaign=campaign,
                    pair_ids=wanted,
                    words=REASON,
                    batch=uuid4(),
                    at=at,
                )
    return Relabelled(asked, total - asked)


def choose_for_changed(
    *, access: Access, judgment_list: JudgmentList, choice: str, at: datetime
) -> JudgmentVersion | None:
    """Choose what becomes of judgments on changed documents; the version that this makes, if any.

    For leads. choice: of `JudgmentList.ChangedDocuments`. Where they are treated as unjudged,
    versions follow as documents change; where they are kept again, those that were taken out
    come back with the grades and evidence that they had.
    """
    check_may_lead(access)
    check_own_list(access, judgment_list)
    with transaction.atomic():
        locked = lock_list(judgment_list.pk)
        check_takes_people(locked)
        if locked.changed_documents != choice:
            audit.record_by(
                access,
                at,
                "list.changed_documents_chosen",
                locked.slug,
                before={"changed_documents": locked.changed_documents},
                after={"changed_documents": choice},
            )
            locked.changed_documents = choice
            locked.save(update_fields=["changed_documents"])
        version = _follow(locked, by=access.user, at=at)
    judgment_list.refresh_from_db(fields=["changed_documents", "head"])
    return version


def follow_documents(*, list_id: int, at: datetime) -> JudgmentVersion | None:
    """Bring a list that treats judgments on changed documents as unjudged to today's documents."""
    with transaction.atomic():
        locked = lock_list(list_id)
        if locked.changed_documents != Choice.UNJUDGED or locked.archived_at is not None:
            return None
        if locked.takes == Takes.MACHINE:
            return None
        return _follow(locked, by=None, at=at)


def _follow(
    judgment_list: JudgmentList, *, by: User | None, at: datetime
) -> JudgmentVersion | None:
    """Make the version that the list's choice asks for; the caller holds the list's lock."""
    is_unjudged = judgment_list.changed_documents == Choice.UNJUDGED
    loaded = newest_load(judgment_list.collection_id)
    changes = []
    # a pair whose labels no longer give a grade does not come back
    graded_qs = Pair.objects.filter(
        list=OuterRef("list"),
        query=OuterRef("query"),
        document=OuterRef("document"),
        grade__isnull=False,
    )
    back_qs = taken_out(judgment_list).filter(Exists(graded_qs))
    if is_unjudged:
        back_qs = back_qs.filter(is_on_todays_text())
        gone_qs = changed_judgments(judgment_list).filter(at_head())
        changes = [Change(*pair, None) for pair in gone_qs.values_list("query", "document")]
    changes += [
        Change(row.query_id, row.document_id, row.grade, row.evidence) for row in back_qs.iterator()
    ]
    version = commit_judgments(
        judgment_list=judgment_list,
        changes=changes,
        by=by,
        at=at,
        reason=REASON if is_unjudged else KEPT_REASON,
        source=JudgmentVersion.Source.CHANGED,
    )
    if is_unjudged:
        head = judgment_list.head
        DocumentCheck.objects.update_or_create(
            list=judgment_list, defaults={"loaded": loaded, "head": head, "checked_at": at}
        )
    return version
