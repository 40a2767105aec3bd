"""Seats that a lead takes from one person, for everyone or for someone else."""

from datetime import datetime

from django.db import transaction

from annotation.labelling.leasing import take_over
from annotation.models import Assignment, Campaign
from annotation.permissions import check_may_run, get_annotator_context
from annotation.seats.services import end_leases
from judgments.audit import services as audit
from judgments.models import User
from judgments.permissions import Access


def release_leases_of(*, access: Access, campaign: Campaign, person: User, at: datetime) -> int:
    """Release the seats that a person holds to the next annotators; how many; for leads.

    What they send for them later is still taken, at a free seat or as surplus.
    """
    check_may_run(access, campaign)
    with transaction.atomic():
        ended = len(_end_leases(campaign, person))
        said = {"person": person.username, "seats": ended}
        audit.record_by(access, at, "campaign.leases_released", campaign.name, after=said)
    return ended


def reassign_leases(
    *, access: Access, campaign: Campaign, person: User, to: User, at: datetime
) -> int:
    """Give the pairs that a person holds to another; how many these took; for leads.

    They get no pair that they have been at, and none of a query that they skip: such seats are
    free for the next annotator. Raises NotFound unless they annotate in the campaign.
    """
    check_may_run(access, campaign)
    context = get_annotator_context(viewer=to, campaign_id=campaign.public_id)
    with transaction.atomic():
        pairs = _end_leases(campaign, person)
        taken = take_over(context=context, pairs=pairs, at=at)
        said = {"person": person.username, "to": to.username, "seats": len(pairs), "taken": taken}
        audit.record_by(access, at, "campaign.leases_reassigned", campaign.name, after=said)
    return taken


def _end_leases(campaign: Campaign, person: User) -> list[int]:
    """End what the person holds; of which pairs."""
    held_qs = Assignment.objects.filter(
        pair__campaign=campaign, annotator=person, state=Assignment.State.LEASED
    )
    pairs = list(held_qs.order_by("pair").values_list("pair", flat=True))
    end_leases(held_qs, skip_locked=False)
    return pairs
