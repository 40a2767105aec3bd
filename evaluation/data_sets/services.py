"""Data sets are registered, scheduled, evaluated and retired; the work itself is in `working`."""

from dataclasses import asdict
from datetime import datetime
from typing import Final

from django.conf import settings
from django.db import IntegrityError, transaction

from evaluation.data_sets.plans import Columns, check_columns
from evaluation.live_rankers.schedules import next_time
from evaluation.models import DataSet, DataSetEvaluation, DataSetPortion
from judgments.audit import services as audit
from judgments.models import User
from judgments.permissions import Access, NotFound, check_may_upload_runs
from judgments.waking import wake
from touchstone.errors import DomainError
from touchstone.slugs import short_name

TASK: Final = "evaluation.work_portion"


class DataSetRefused(DomainError):
    """The data set or its evaluation can't be changed like this."""


def register_data_set(*, access: Access, name: str, columns: Columns, at: datetime) -> DataSet:
    """Register a data set whose first files were read without a problem; researchers and leads.

    Raises what `check_columns` does, and DataSetRefused for a name that is taken.
    """
    check_may_upload_runs(access)
    slug = short_name(name)
    if not slug:
        raise DataSetRefused("name_invalid", "The name needs a letter or a digit.")
    check_columns(columns, settings.DATA_SETS)
    values = asdict(columns) | {"query": list(columns.query), "segments": list(columns.segments)}
    try:
        with transaction.atomic():
            made = DataSet.objects.create(
                collection=access.collection,
                slug=slug,
                name=name,
                created_at=at,
                created_by=access.user,
                **values,
            )
            audit.record_by(
                access, at, "data_set.registered", slug, after={"rankings": columns.rankings}
            )
    except IntegrityError as error:
        if not DataSet.objects.filter(collection=access.collection, slug=slug).exists():
            raise
        raise DataSetRefused("name_taken", f"A data set is already named {slug}.") from error
    return made


def retire_data_set(*, access: Access, data_set: DataSet, at: datetime) -> None:
    """Evaluate it no more; its figures stay. For researchers and leads."""
    _check_own(access, data_set)
    with transaction.atomic():
        retired = DataSet.objects.filter(pk=data_set.pk, retired_at=None).update(
            retired_at=at, cron="", next_at=None
        )
        if not retired:
            raise DataSetRefused("retired", "This data set is already retired.")
        audit.record_by(access, at, "data_set.retired", data_set.slug)


def schedule_data_set(
    *, access: Access, data_set: DataSet, cron: str, time_zone: str, at: datetime
) -> None:
    """Begin evaluations at these times, or none with an empty `cron`. Raises ScheduleRefused."""
    check_current(access, data_set)
    cron = " ".join(cron.split())
    due = next_time(cron, time_zone or "UTC", after=at) if cron else None
    with transaction.atomic():
        DataSet.objects.filter(pk=data_set.pk, retired_at=None).update(
            cron=cron, time_zone=time_zone or "UTC", next_at=due
        )
        audit.record_by(
            access,
            at,
            "data_set.scheduled",
            data_set.slug,
            before={"cron": data_set.cron, "time_zone": data_set.time_zone},
            after={"cron": cron, "time_zone": time_zone},
        )


def start_evaluation(*, access: Access, data_set: DataSet, at: datetime) -> DataSetEvaluation:
    """Evaluate a data set in workers; for researchers and leads.

    Raises DataSetRefused while another evaluation of it runs.
    """
    check_current(access, data_set)
    return _start(data_set, by=access.user, at=at, is_scheduled=False)


def stop_evaluation(*, access: Access, evaluation: DataSetEvaluation, at: datetime) -> None:
    """End it without figures; for researchers and leads."""
    _check_own(access, evaluation.data_set)
    running = DataSetEvaluation.objects.filter(
        pk=evaluation.pk, state=DataSetEvaluation.State.RUNNING
    )
    with transaction.atomic():
        if not running.update(state=DataSetEvaluation.State.STOPPED, ended_at=at):
            raise DataSetRefused("not_running", "This evaluation has already ended.")
        DataSetPortion.objects.filter(evaluation=evaluation).delete()
        audit.record_by(access, at, "data_set.stopped", evaluation.data_set.slug)


def start_scheduled(*, at: datetime) -> int:
    """Begin what is scheduled, once for all times that were missed; how many began.

    Where the last evaluation still runs, this one is left out.
    """
    started = 0
    for data_set in DataSet.objects.filter(next_at__lte=at).select_related("collection"):
        follows = next_time(data_set.cron, data_set.time_zone, after=at)
        claim = DataSet.objects.filter(pk=data_set.pk, next_at=data_set.next_at)
        if not claim.update(next_at=follows) or data_set.collection.archived_at is not None:
            continue
        try:
            _start(data_set, by=None, at=at, is_scheduled=True)
        except DataSetRefused:
            continue
        started += 1
    return started


def _start(
    data_set: DataSet, *, by: User | None, at: datetime, is_scheduled: bool
) -> DataSetEvaluation:
    try:
        with transaction.atomic():
            made = DataSetEvaluation.objects.create(
                data_set=data_set, created_at=at, created_by=by, is_scheduled=is_scheduled
            )
            first = DataSetPortion.objects.create(
                evaluation=made, kind=DataSetPortion.Kind.LIST, number=0, announced_at=at
            )
            audit.record(
                collection=data_set.collection,
                actor=by,
                at=at,
                action="data_set.evaluation_started",
                subject=data_set.slug,
                after={"evaluation": str(made.public_id)},
            )
            wake(TASK, first.pk)
    except IntegrityError as error:
        running = data_set.own_evaluations.filter(state=DataSetEvaluation.State.RUNNING)
        if not running.exists():
            raise
        message = "An evaluation of this data set is still running."
        raise DataSetRefused("evaluation_running", message) from error
    return made


def _check_own(access: Access, data_set: DataSet) -> None:
    check_may_upload_runs(access)
    if data_set.collection_id != access.collection.pk:
        raise NotFound("data set")


def check_current(access: Access, data_set: DataSet) -> None:
    """Raises Forbidden or NotFound for others' data sets, DataSetRefused for a retired one."""
    _check_own(access, data_set)
    if data_set.retired_at is not None:
        raise DataSetRefused("retired", "This data set is retired.")
