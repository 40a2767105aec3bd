"""Wake-ups of the annotation app; what they do is in the services."""

from contextlib import suppress

from celery import shared_task
from django.utils import timezone

from annotation.budgets.services import TASK as CHECK_BUDGETS
from annotation.budgets.services import check_due_budgets
from annotation.changed_documents.services import follow_documents
from annotation.consolidation.services import consolidate, seconds_to_wait
from annotation.gold.checking import check_labels
from annotation.labelling.leasing import release_expired
from annotation.machine_judges.grading import follow_machine
from annotation.pooling.snapshot_pools import build_due_pools
from annotation.quality.services import refresh_quality
from annotation.reminders.services import TASK as REMIND
from annotation.reminders.services import remind
from annotation.retention.services import TASK as CLEAR_OLD
from annotation.retention.services import clear_old
from annotation.rule_change.previews import preview_rule
from annotation.set_aside.services import preview_aside
from judgments.live import announce, labels_topic
from judgments.waking import publish_later
from touchstone.errors import NotNow


@shared_task(name="annotation.consolidate", ignore_result=True)
def consolidate_list(list_id: int) -> None:
    """Conclude and commit what is due in a list, and check the labels of gold pairs.

    A label wakes this at once; within the interval of live commits it comes again when that is
    over. It does not sleep: a worker that waits here would keep the leaderboards waiting.
    """
    wait = seconds_to_wait(list_id=list_id, at=timezone.now())
    if not wait:
        check_labels(list_id=list_id, at=timezone.now())
        wait = consolidate(list_id=list_id, at=timezone.now()).wait_seconds
        announce(labels_topic(list_id))
    if wait > 0:
        publish_later(wait, "annotation.consolidate", list_id)


@shared_task(name="annotation.follow_documents", ignore_result=True)
def follow_changed_documents(list_id: int) -> None:
    """Treat judgments on changed documents as unjudged, where a list chose that."""
    with suppress(NotNow):  # the sweep finds it due until it is done
        follow_documents(list_id=list_id, at=timezone.now())


@shared_task(name="annotation.follow_machine", ignore_result=True)
def follow_machine_judge(list_id: int) -> None:
    """Put new labels of a machine judge into a list that takes them."""
    with suppress(NotNow):
        follow_machine(list_id=list_id, at=timezone.now())


@shared_task(name="annotation.release_expired", ignore_result=True)
def release_expired_leases() -> None:
    """Free the seats of people who went away."""
    release_expired(at=timezone.now())


@shared_task(name="annotation.build_snapshot_pools", ignore_result=True)
def build_snapshot_pools() -> None:
    """Build the pools whose snapshots have ended."""
    build_due_pools(at=timezone.now())


@shared_task(name="annotation.refresh_quality", ignore_result=True)
def refresh_campaign_quality(campaign_id: int) -> None:
    """Bring the quality figures of a campaign to its labels."""
    refresh_quality(campaign_id=campaign_id, clock=timezone.now)


@shared_task(name="annotation.preview_rule", ignore_result=True)
def preview_campaign_rule(campaign_id: int, rule: str) -> None:
    """Bring the preview of a rule to a campaign's labels."""
    preview_rule(campaign_id=campaign_id, rule=rule, clock=timezone.now)


@shared_task(name="annotation.preview_aside", ignore_result=True)
def preview_campaign_aside(campaign_id: int, people: str) -> None:
    """Bring what a campaign would be without some people's labels to its labels."""
    preview_aside(campaign_id=campaign_id, people=people, clock=timezone.now)


@shared_task(name=REMIND, ignore_result=True)
def remind_people() -> None:
    """Tell leads what waits for them, unless that was done just now."""
    remind(at=timezone.now())


@shared_task(name=CLEAR_OLD, ignore_result=True)
def clear_old_of_collections() -> None:
    """Delete what collections no longer keep."""
    clear_old(at=timezone.now())


@shared_task(name=CHECK_BUDGETS, ignore_result=True)
def check_campaign_budgets() -> None:
    """Stop campaigns whose budget is used up, and let others go on."""
    check_due_budgets(at=timezone.now())
