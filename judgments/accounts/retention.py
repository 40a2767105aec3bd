"""What is kept for a time only: sign-ins, failures, deliveries of webhooks, and uploads."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from axes.models import AccessAttempt, AccessFailureLog
from django.conf import settings

from judgments.jobs.rounds import begin_round, is_round_due
from judgments.jobs.services import clear_uploads
from judgments.models import AuditEntry, SideText
from judgments.webhooks.clearing import clear_deliveries

TASK: Final = "judgments.clear_old"
EVERY: Final = timedelta(hours=1)
PORTION: Final = 500  # rows in one statement
PORTIONS: Final = 20  # of one round


@dataclass(frozen=True)
class Cleared:
    """What was deleted.

    sign_ins: addresses and browsers of entries of the audit log. uploads: of jobs that have ended.
    """

    deliveries: int
    failures: int
    sign_ins: int
    uploads: int


def is_clearing_due(at: datetime) -> bool:
    """Whether the last round is long enough ago."""
    return is_round_due(name=TASK, every=EVERY, at=at)


def clear_old(*, at: datetime) -> Cleared | None:
    """Delete what is older than KEEP_SIGN_INS and KEEP_DELIVERIES, and uploads that are done with.

    None where it is not due.
    """
    if not begin_round(name=TASK, every=EVERY, at=at):
        return None
    before = at - timedelta(days=settings.KEEP_SIGN_INS)
    failures = 0
    for attempts in (AccessAttempt, AccessFailureLog):
        failures += attempts.objects.filter(attempt_time__lt=before).delete()[0]
    return Cleared(
        deliveries=clear_deliveries(before=at - timedelta(days=settings.KEEP_DELIVERIES)),
        failures=failures,
        sign_ins=_clear_sign_ins(before),
        uploads=clear_uploads(),
    )


def _clear_sign_ins(before: datetime) -> int:
    """Delete the details of old sign-ins; that there were any stays in the log."""
    old_qs = AuditEntry.objects.filter(
        collection=None, at__lt=before, action__startswith="sign_in."
    )
    cleared = 0
    for _ in range(PORTIONS):
        details_qs = SideText.objects.filter(pk__in=old_qs.order_by().values("detail_id"))
        keys = list(details_qs.values_list("pk", flat=True)[:PORTION])
        if not keys:
            break
        cleared += SideText.objects.filter(pk__in=keys).delete()[0]
    return cleared
