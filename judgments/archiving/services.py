"""Archiving collections and lists, and restoring them.

What is archived can't be changed: judgments/permissions.py refuses for a collection, and
`check_own_list` and `commit_judgments` for a list.
"""

from datetime import datetime

from django.db import transaction

from judgments.archiving.in_use import find_open
from judgments.audit import services as audit
from judgments.models import Collection, Job, JudgmentList
from judgments.permissions import Access, NotFound, check_may_archive, check_may_lead
from judgments.versions.parts import lock_list
from touchstone.errors import DomainError


class ArchivingRefused(DomainError):
    """This can't be archived now."""


def archive_collection(*, access: Access, at: datetime) -> None:
    """Hide a collection and refuse every change of it; for leads and administrators.

    Raises ArchivingRefused while a campaign is open or an import runs. Again changes nothing.
    """
    check_may_archive(access)
    with transaction.atomic():
        locked = Collection.objects.select_for_update(no_key=True).get(pk=access.collection.pk)
        _check_unused(list(JudgmentList.objects.filter(collection=locked).order_by("pk")))
        running = (Job.State.QUEUED, Job.State.RUNNING)
        if Job.objects.filter(collection=locked, state__in=running).exists():
            raise ArchivingRefused("job_running", "A background job is not done yet.")
        if Collection.objects.filter(pk=locked.pk, archived_at=None).update(archived_at=at):
            audit.record_by(access, at, "collection.archived", locked.slug)


def restore_collection(*, access: Access, at: datetime) -> None:
    """Show an archived collection again, and let it be changed; for leads and administrators."""
    check_may_archive(access)
    with transaction.atomic():
        own_qs = Collection.objects.filter(pk=access.collection.pk).exclude(archived_at=None)
        if own_qs.update(archived_at=None):
            audit.record_by(access, at, "collection.restored", access.collection.slug)


def archive_list(*, access: Access, judgment_list: JudgmentList, at: datetime) -> None:
    """Hide a list and refuse every change of it; for leads. Its campaigns are read-only with it.

    Raises ArchivingRefused while a campaign of it is open, ListBusy while a large import is
    being written into it.
    """
    _check_may_archive_list(access, judgment_list)
    with transaction.atomic():
        locked = lock_list(judgment_list.pk)
        _check_unused([locked])
        if JudgmentList.objects.filter(pk=locked.pk, archived_at=None).update(archived_at=at):
            audit.record_by(access, at, "list.archived", locked.slug)


def restore_list(*, access: Access, judgment_list: JudgmentList, at: datetime) -> None:
    """Show an archived list again, and let it be changed; for leads."""
    _check_may_archive_list(access, judgment_list)
    with transaction.atomic():
        own_qs = JudgmentList.objects.filter(pk=judgment_list.pk).exclude(archived_at=None)
        if own_qs.update(archived_at=None):
            audit.record_by(access, at, "list.restored", judgment_list.slug)


def _check_may_archive_list(access: Access, judgment_list: JudgmentList) -> None:
    check_may_lead(access)
    if judgment_list.collection_id != access.collection.pk:
        raise NotFound("list")


def _check_unused(lists: list[JudgmentList]) -> None:
    names = find_open(lists)
    if names:
        some = ", ".join(names[:3])
        raise ArchivingRefused("campaign_open", f"Close its open campaigns first: {some}.")
