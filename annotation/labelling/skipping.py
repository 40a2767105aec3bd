"""Skipping a whole query: it goes back for others, and does not come again unless it is wished."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Coalesce

from annotation.labelling.submissions import checked_words
from annotation.models import Assignment, Campaign, CampaignAnnotator, QuerySkip
from annotation.permissions import AnnotatorContext, check_may_label, check_may_run
from annotation.seats.services import end_leases
from judgments.audit import services as audit
from judgments.permissions import Access, NotFound
from touchstone.errors import DomainError

MAX_NOTE_CHARACTERS: Final = 1_000


class SkipRefused(DomainError):
    """The query can't be skipped like this."""


@dataclass(frozen=True)
class Skipped:
    """A skip, and the seats that it gave back: those which the viewer held of the query."""

    skip: QuerySkip
    released: tuple[UUID, ...]


def skip_query(
    *, context: AnnotatorContext, assignment: UUID, reason: str, note: str = "", at: datetime
) -> Skipped:
    """Ask the viewer no more about the query of a pair that they were handed.

    assignment: the public id of a seat that is or was theirs. What they labelled of the query
    stays; the seats that they hold of it go back. Skipping it twice changes nothing.
    Raises NotFound for a seat that never was theirs, SkipRefused, CampaignClosed.
    """
    check_may_label(context)
    own_qs = Assignment.objects.filter(annotator=context.viewer, pair__campaign=context.campaign)
    own_qs = own_qs.annotate(shown_query=Coalesce("stand_in__shown__query", "pair__query"))
    query = own_qs.filter(public_id=assignment).values_list("shown_query", flat=True).first()
    if query is None:
        raise NotFound("assignment")
    if reason not in QuerySkip.Reason.values:
        raise SkipRefused("reason_unknown", "Unknown reason “{reason}”.", reason=reason)
    note = checked_words(note, MAX_NOTE_CHARACTERS)
    with transaction.atomic():
        # as with leasing: what another tab takes of this query is taken before this, or never
        CampaignAnnotator.objects.select_for_update(no_key=True).get(pk=context.annotator_id)
        skip, _ = QuerySkip.objects.get_or_create(
            campaign=context.campaign,
            query_id=query,
            annotator=context.viewer,
            returned_at=None,
            defaults={"reason": reason, "note": note, "skipped_at": at},
        )
        held_qs = own_qs.filter(state=Assignment.State.LEASED, shown_query=query)
        released = tuple(held_qs.order_by("pk").values_list("public_id", flat=True))
        end_leases(held_qs, skip_locked=False)
    return Skipped(skip, released)


def return_skip(*, context: AnnotatorContext, skip_id: UUID, at: datetime) -> None:
    """Let a query that the viewer skipped come again. Raises NotFound for anyone else's."""
    skips_qs = QuerySkip.objects.filter(campaign=context.campaign, annotator=context.viewer)
    changed = skips_qs.filter(public_id=skip_id, returned_at=None).update(
        returned_at=at, returned_by=context.viewer
    )
    if changed != 1:
        raise NotFound("skip")


def give_back(*, access: Access, campaign: Campaign, skip_id: UUID, at: datetime) -> QuerySkip:
    """Let a query come again to someone who skipped it; for leads."""
    check_may_run(access, campaign)
    skips_qs = QuerySkip.objects.select_related("query", "annotator")
    skip = skips_qs.filter(campaign=campaign, public_id=skip_id, returned_at=None).first()
    if skip is None:
        raise NotFound("skip")
    with transaction.atomic():
        open_qs = QuerySkip.objects.filter(pk=skip.pk, returned_at=None)
        if open_qs.update(returned_at=at, returned_by=access.user) != 1:
            raise NotFound("skip")
        audit.record_by(
            access,
            at,
            "campaign.query_given_back",
            campaign.name,
            after={"query": skip.query.qid, "person": skip.annotator.username},
        )
    return skip
