"""Computing a campaign's quality figures in a worker, and keeping them."""

import logging
from collections.abc import Callable
from dataclasses import asdict
from datetime import datetime, timedelta
from functools import partial
from typing import Final
from uuid import uuid4

from django.db.models import Q, QuerySet

from annotation.models import Campaign, QualityReport
from annotation.quality import REVISION, fit, quality
from annotation.selectors.material import key_of, list_chances, read_material
from evaluation.selectors import get_resolution

logger = logging.getLogger(__name__)

DEAD_AFTER: Final = timedelta(seconds=60)  # without a sign of life; the slowest step takes ten
Clock = Callable[[], datetime]


def refresh_quality(*, campaign_id: int, clock: Clock) -> bool:
    """Bring the stored figures of a campaign to its labels; whether there was anything to do.

    One worker at a time: whoever else comes meanwhile goes away again. Doing it twice changes
    nothing. A failure is kept for the page, logged, and tried again when somebody looks.
    """
    campaign = Campaign.objects.select_related("list", "guideline").get(pk=campaign_id)
    report, _ = QualityReport.objects.get_or_create(campaign=campaign)
    key = key_of(campaign)
    if (report.seen, report.revision) == (key, REVISION):
        return False
    token, began = uuid4(), clock()
    free = Q(heartbeat_at__isnull=True) | Q(heartbeat_at__lt=began - DEAD_AFTER)
    claimed = QualityReport.objects.filter(free, pk=report.pk)
    if not claimed.update(token=token, heartbeat_at=began, steps_done=0):
        return False
    own = QualityReport.objects.filter(pk=report.pk, token=token)
    try:
        _compute(campaign, own, key, began, clock)
    except Exception:
        logger.exception("the quality figures of campaign %s failed", campaign_id)
        own.update(
            token=None,
            heartbeat_at=None,
            problem="Something went wrong on the server. Its log says what.",
        )
    return True


def _compute(
    campaign: Campaign, own: QuerySet[QualityReport], key: str, began: datetime, clock: Clock
) -> None:
    read = read_material(campaign)
    model = fit(read.material)
    figures = quality(read.material, partial(_beat, own, clock), model)
    if model is not None:
        chances = list_chances(read, model.posterior)
        found = get_resolution(judgment_list=campaign.list, chances=chances)
        figures["resolution"] = None if found is None else asdict(found)
    ended = clock()
    own.update(
        figures=figures | {"people": read.people},
        seen=key,
        revision=REVISION,
        computed_at=ended,
        took_seconds=(ended - began).total_seconds(),
        token=None,
        heartbeat_at=None,
        problem="",
    )


def _beat(own: QuerySet[QualityReport], clock: Clock, steps: int) -> None:
    own.update(heartbeat_at=clock(), steps_done=steps)
