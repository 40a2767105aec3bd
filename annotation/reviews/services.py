"""Reviewing labels, and saying who reviews which share of them."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from django.db import transaction

from annotation.campaigns.queries import list_candidates
from annotation.campaigns.services import mark_annotating
from annotation.models import Campaign, Review, Reviewer
from annotation.permissions import ReviewerContext, check_may_run
from annotation.questions.services import send_back
from annotation.reviews.queries import list_waiting
from judgments.audit import services as audit
from judgments.collections.naming import unless_taken
from judgments.permissions import Access, Archived
from touchstone.errors import DomainError


class ReviewRefused(DomainError):
    """The review can't be taken; the message says why."""


def plan_reviews(
    *, access: Access, campaign: Campaign, percent: int, reviewers: Iterable[str], at: datetime
) -> None:
    """Say which share of each person's labels is reviewed, and by whom; for leads.

    reviewers: user names of members who do not annotate in the campaign; others stop
    reviewing. While it is open, a researcher who reviews sees no rankings, as annotators do.
    Raises ReviewRefused.
    """
    check_may_run(access, campaign)
    if not 0 <= percent <= 100:
        raise ReviewRefused("percent_invalid", "Enter a share of 0 to 100 %.")
    wanted = set(reviewers)
    with transaction.atomic():
        Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
        now = {one.user.username: one for one in campaign.reviewers.select_related("user")}
        active = sorted(name for name, one in now.items() if one.is_active)
        before = {"percent": campaign.review_percent, "reviewers": active}
        candidates = list_candidates(access=access, campaign=campaign)
        may = {person.username: person for person in candidates}
        for name in sorted(wanted - set(active)):
            if name not in may:
                raise ReviewRefused(
                    "reviewer_refused", f"{name} is not a member, or annotates in this campaign."
                )
            Reviewer.objects.update_or_create(
                campaign=campaign,
                user=may[name],
                defaults={"is_active": True},
                create_defaults={"is_active": True, "added_at": at},
            )
        gone = [one.pk for name, one in now.items() if name not in wanted]
        Reviewer.objects.filter(pk__in=gone).update(is_active=False)
        Campaign.objects.filter(pk=campaign.pk).update(review_percent=percent)
        campaign.review_percent = percent
        mark_annotating(access.collection)
        after = {"percent": percent, "reviewers": sorted(wanted)}
        if before != after:
            audit.record_by(
                access, at, "campaign.review_changed", campaign.name, before=before, after=after
            )


def review_label(
    *, context: ReviewerContext, label_id: UUID, verdict: str, reason: str = "", at: datetime
) -> Review:
    """Accept a label, or send it back to its annotator with a reason.

    Sent back, it still counts until the annotator gives another, which supersedes it.
    Raises ReviewRefused for a label that does not wait for the viewer's review (any more) or can't
    be sent back, QuestionRefused without a reason.
    """
    gone = ReviewRefused("not_waiting", "This label has been reviewed or changed since.")
    is_returned = verdict == Review.Verdict.RETURNED
    if verdict not in Review.Verdict.values:
        raise ReviewRefused("verdict_unknown", "A label is accepted or returned.")
    held = (context.campaign, context.campaign.list, context.campaign.list.collection)
    if any(one.archived_at is not None for one in held):
        raise Archived("campaign")
    if is_returned and context.campaign.state != Campaign.State.OPEN:
        raise ReviewRefused("campaign_closed", "The campaign is closed: nothing can be sent back.")
    with unless_taken(gone):
        waiting_qs = list_waiting(context).filter(pk=label_id)
        label = waiting_qs.select_related("pair__campaign", "assignment", "annotator").first()
        if label is None:
            raise gone
        question = None
        if is_returned:
            question = send_back(label=label, by=context.viewer, text=reason, at=at)
        return Review.objects.create(
            label=label,
            reviewer=context.viewer,
            verdict=verdict,
            question=question,
            reviewed_at=at,
        )
