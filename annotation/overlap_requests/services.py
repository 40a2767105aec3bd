"""Requests for second labels of many pairs, to measure agreement, and withdrawing them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, QuerySet

from annotation.consolidation.services import lock_list
from annotation.models import Campaign, OneMoreLabel, Pair, WithdrawnWish
from annotation.overlap_requests.queries import (
    MOST_AT_ONCE,
    list_askable,
    list_coming,
    scope_in_words,
)
from annotation.permissions import check_may_run
from annotation.seats.services import balance_seats, lock_pairs
from judgments.audit import services as audit
from judgments.permissions import Access, NotFound
from judgments.storage.side_texts import keep_text
from judgments.waking import wake
from touchstone.errors import DomainError


class OverlapRefused(DomainError):
    """A second label can't be requested, or a request withdrawn, like this."""


def add_overlap(
    *,
    access: Access,
    campaign: Campaign,
    segment: str | None,
    pairs: int,
    batch: UUID,
    at: datetime,
) -> int:
    """Request a second label for so many pairs; returns for how many; for leads.

    segment: None for all of the campaign. batch: chosen by the caller; the same again does
    nothing. Where fewer pairs can be asked for, all of them are. Raises OverlapRefused where
    there is none, or the campaign is not open.
    """
    check_may_run(access, campaign)
    with transaction.atomic():
        lock_list(campaign.list_id, commits=False)
        before = _wishes(campaign, batch).count()
        if before:
            return before
        if not Campaign.objects.filter(pk=campaign.pk, state=Campaign.State.OPEN).exists():
            raise OverlapRefused(
                "campaign_not_open", "Labels can only be requested in open campaigns."
            )
        wanted = [pk for pk, _ in list_askable(campaign, segment)[: min(pairs, MOST_AT_ONCE)]]
        if not wanted:
            raise OverlapRefused("nothing_to_ask", "No pair is available for another label.")
        words = scope_in_words(segment)
        return request_labels(
            access=access, campaign=campaign, pair_ids=wanted, words=words, batch=batch, at=at
        )


def request_labels(
    *,
    access: Access,
    campaign: Campaign,
    pair_ids: Sequence[int],
    words: str,
    batch: UUID,
    at: datetime,
) -> int:
    """Request one more label of each of these pairs, which `list_askable` has; of how many.

    words: what for, in the audit log. The caller has checked who asks, in a transaction.
    """
    lock_list(campaign.list_id, commits=False)
    locked = lock_pairs(Pair.objects.filter(pk__in=pair_ids))
    wish: dict[str, Any] = {"reason_text": keep_text(words), "batch": batch}
    OneMoreLabel.objects.bulk_create(
        OneMoreLabel(pair_id=pk, **wish, asked_at=at, asked_by=access.user) for pk in locked
    )
    _settle(campaign, locked)
    said = {"pairs": len(locked), "of": words, "batch": str(batch)}
    audit.record_by(access, at, "campaign.overlap_added", campaign.name, after=said)
    return len(locked)


def withdraw_overlap(*, access: Access, campaign: Campaign, batch: UUID, at: datetime) -> int:
    """Take back what was asked for and no one has given yet; of how many pairs; for leads.

    Seats that someone holds end as they would have: a label that comes counts.
    Raises OverlapRefused where nothing is left to take back, NotFound where nothing was asked for.
    """
    check_may_run(access, campaign)
    if not _wishes(campaign, batch).exists():
        raise NotFound("request")
    with transaction.atomic():
        lock_list(campaign.list_id, commits=False)
        wishes_qs = list_coming(campaign).filter(batch=batch)
        pair_ids = lock_pairs(Pair.objects.filter(pk__in=wishes_qs.order_by().values("pair")))
        # asked again under the locks: someone may have labelled one meanwhile
        wishes = list(wishes_qs.filter(pair__in=pair_ids))
        if not wishes:
            raise OverlapRefused(
                "nothing_to_withdraw", "All of these are already labelled or withdrawn."
            )
        WithdrawnWish.objects.bulk_create(
            WithdrawnWish(wish=wish, withdrawn_at=at, withdrawn_by=access.user) for wish in wishes
        )
        _settle(campaign, [wish.pair_id for wish in wishes])
        said = {"pairs": len(wishes), "of": wishes[0].reason, "batch": str(batch)}
        audit.record_by(access, at, "campaign.overlap_withdrawn", campaign.name, after=said)
    return len(wishes)


def _wishes(campaign: Campaign, batch: UUID) -> QuerySet[OneMoreLabel]:
    return OneMoreLabel.objects.filter(pair__campaign=campaign, batch=batch)


def _settle(campaign: Campaign, pair_ids: Sequence[int]) -> None:
    """Give the pairs their seats and have them concluded again; the caller holds their locks."""
    Pair.objects.filter(pk__in=pair_ids).update(label_seq=F("label_seq") + 1)
    balance_seats(pair_ids=pair_ids, overlap=campaign.overlap)
    wake("annotation.consolidate", campaign.list_id)
