"""Live rankers: how they are asked, their secret and schedule; snapshots begin and end."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Max

from evaluation.live_rankers.configuration import Configuration, ConfigurationRefused, check
from evaluation.live_rankers.schedules import next_time
from evaluation.models import LiveRevision, LiveSource, QueryVectors, Ranker, Snapshot
from evaluation.runs.services import check_run_name
from judgments.audit import services as audit
from judgments.jobs.sliced import end, end_abandoned, queue_slice
from judgments.models import Query, User
from judgments.outgoing.rules import find_origin
from judgments.permissions import Access, NotFound, check_may_upload_runs
from judgments.secrets.holders import SecretFieldRefused, drop_secret, keep_secret
from touchstone.errors import DomainError

KIND: Final = "take_snapshot"
OFF: Final = (
    "This server makes no requests to other servers. An administrator allows your search engine "
    "by listing it in TOUCHSTONE_OUTGOING."
)


class LiveRefused(DomainError):
    """The live ranker or the snapshot can't be changed like this."""


def origin_of(configuration: Configuration) -> str:
    """Scheme, host and port that are asked. Raises ConfigurationRefused where not allowed."""
    if not settings.OUTGOING:
        raise ConfigurationRefused("url", OFF)
    try:
        return str(
            find_origin(configuration.url, settings.OUTGOING, schemes=configuration.schemes)[0]
        )
    except ValueError as error:
        message = f"{str(error)[:1].upper()}{str(error)[1:]}. Ask an administrator to allow it."
        raise ConfigurationRefused("url", message) from error


def configure(
    *, access: Access, ranker: Ranker, configuration: Configuration, secret: str, at: datetime
) -> LiveRevision:
    """Make the next revision of how a ranker is asked; for researchers and leads.

    secret: a new one; "" keeps the stored one. The same configuration again is no new revision.
    Raises ConfigurationRefused, and SecretRefused where no secret can be stored.
    """
    check_may_upload_runs(access)
    _check_own(access, ranker)
    check(configuration)
    origin = origin_of(configuration)
    configuration = with_vectors(configuration, ranker)
    with transaction.atomic():
        Ranker.objects.select_for_update(no_key=True).get(pk=ranker.pk)
        source, _ = LiveSource.objects.get_or_create(ranker=ranker)
        _keep_secret(access, source, configuration, secret=secret, origin=origin, at=at)
        last = source.revisions.order_by("-number").first()
        if last is not None and Configuration.from_json(last.configuration) == configuration:
            return last
        revision = LiveRevision.objects.create(
            source=source,
            number=last.number + 1 if last else 1,
            configuration=configuration.to_json(),
            created_at=at,
            created_by=access.user,
        )
        audit.record_by(
            access,
            at,
            "live.configured",
            ranker.slug,
            after={"revision": revision.number, "server": origin},
        )
    return revision


def with_vectors(configuration: Configuration, ranker: Ranker) -> Configuration:
    """The configuration with the ranker's newest vectors, if its template uses them.

    Raises ConfigurationRefused where there are none yet.
    """
    if "vector" not in configuration.variables:
        return replace(configuration, vectors=0)
    newest = QueryVectors.objects.filter(ranker=ranker).order_by("-number").first()
    if newest is None:
        message = "Upload the vectors of the queries first: {{vector}} needs them."
        raise ConfigurationRefused("body", message)
    return replace(configuration, vectors=newest.number)


def _keep_secret(
    access: Access,
    source: LiveSource,
    configuration: Configuration,
    *,
    secret: str,
    origin: str,
    at: datetime,
) -> None:
    try:
        is_new = keep_secret(
            holder=source,
            header=configuration.secret_header,
            value=secret,
            origin=origin,
            access=access,
            at=at,
        )
    except SecretFieldRefused as error:
        raise ConfigurationRefused(error.field, error.message) from error
    if is_new:
        after = {"server": origin}
        audit.record_by(access, at, "live.secret_stored", source.ranker.slug, after=after)


def remove_secret(*, access: Access, ranker: Ranker, at: datetime) -> None:
    """Erase the stored secret; for researchers and leads."""
    check_may_upload_runs(access)
    source = get_source(access, ranker)
    with transaction.atomic():
        if not drop_secret(source):
            raise LiveRefused("no_secret", "There is no stored secret.")
        audit.record_by(access, at, "live.secret_removed", ranker.slug)


def set_schedule(
    *, access: Access, ranker: Ranker, cron: str, time_zone: str, at: datetime
) -> datetime | None:
    """Begin snapshots at these times, or none with an empty `cron`; when the next is.

    Raises ScheduleRefused. For researchers and leads.
    """
    check_may_upload_runs(access)
    source = get_source(access, ranker)
    cron = " ".join(cron.split())
    due = next_time(cron, time_zone, after=at) if cron else None
    before = {"cron": source.cron, "time_zone": source.time_zone}
    with transaction.atomic():
        LiveSource.objects.filter(pk=source.pk).update(
            cron=cron, time_zone=time_zone or "UTC", next_at=due
        )
        audit.record_by(
            access,
            at,
            "live.scheduled",
            ranker.slug,
            before=before,
            after={"cron": cron, "time_zone": time_zone},
        )
    return due


def start_snapshot(
    *, access: Access, ranker: Ranker, name: str = "", revision: int | None = None, at: datetime
) -> Snapshot:
    """Ask a live ranker all queries of its collection, in a worker; for researchers and leads.

    name: of the run to be; "" for one after the time. revision: None for the newest.
    Raises LiveRefused while another snapshot of the ranker runs.
    """
    check_may_upload_runs(access)
    source = get_source(access, ranker)
    if name:
        check_run_name(name)
    wanted = source.revisions.order_by("-number")
    result = (wanted if revision is None else wanted.filter(number=revision)).first()
    if result is None:
        raise LiveRefused("no_revision", f"{ranker.slug} has no revision {revision or 1}.")
    return _start(source, result, name=name, by=access.user, at=at, is_scheduled=False)


def start_due_snapshots(*, at: datetime) -> int:
    """Begin what is scheduled, once for all times that were missed; how many began.

    Where the last snapshot still runs, this one is left out. Also ends those whose job gave up.
    """
    end_abandoned(Snapshot.objects.all(), at=at)
    started = 0
    due = LiveSource.objects.filter(next_at__lte=at).select_related("ranker__collection")
    for source in due:
        follows = next_time(source.cron, source.time_zone, after=at)
        claim = LiveSource.objects.filter(pk=source.pk, next_at=source.next_at)
        if not claim.update(next_at=follows):
            continue
        revision = source.revisions.order_by("-number").first()
        if revision is None or source.snapshots.filter(state=Snapshot.State.RUNNING).exists():
            continue
        _start(source, revision, name="", by=None, at=at, is_scheduled=True)
        started += 1
    return started


def _start(
    source: LiveSource,
    revision: LiveRevision,
    *,
    name: str,
    by: User | None,
    at: datetime,
    is_scheduled: bool,
) -> Snapshot:
    collection = source.ranker.collection
    queries = Query.objects.filter(collection=collection).exclude(text="")
    count, last = queries.count(), queries.aggregate(last=Max("pk"))["last"]
    if not count:
        raise LiveRefused("no_queries", "This collection has no queries with a text.")
    end_abandoned(Snapshot.objects.all(), at=at)
    try:
        with transaction.atomic():
            snapshot = Snapshot.objects.create(
                source=source,
                revision=revision,
                name=name or f"{at:%Y-%m-%d %H:%M} r{revision.number}",
                is_scheduled=is_scheduled,
                queries=count,
                last_query=last,
                created_at=at,
                created_by=by,
            )
            queue_rest(snapshot, at=at)
            audit.record(
                collection=collection,
                actor=by,
                at=at,
                action="snapshot.started",
                subject=source.ranker.slug,
                after={"snapshot": str(snapshot.public_id), "revision": revision.number},
            )
    except IntegrityError as error:
        if not source.snapshots.filter(state=Snapshot.State.RUNNING).exists():
            raise
        message = "A snapshot of this ranker is still running."
        raise LiveRefused("snapshot_running", message) from error
    return snapshot


def queue_rest(snapshot: Snapshot, *, at: datetime) -> None:
    """Queue the job that asks what is left of a snapshot."""
    queue_slice(
        snapshot,
        collection=snapshot.source.ranker.collection,
        kind=KIND,
        params={"snapshot": snapshot.pk},
        units=snapshot.queries,
        at=at,
    )


def stop_snapshot(*, access: Access, snapshot: Snapshot, at: datetime) -> None:
    """Ask no more; what was answered stays. For researchers and leads."""
    check_may_upload_runs(access)
    _check_own(access, snapshot.source.ranker)
    with transaction.atomic():
        if not end(snapshot, state=Snapshot.State.STOPPED, problem="", at=at):
            raise LiveRefused("snapshot_ended", "This snapshot has ended already.")
        audit.record_by(
            access,
            at,
            "snapshot.stopped",
            snapshot.source.ranker.slug,
            after={"snapshot": str(snapshot.public_id)},
        )


def get_source(access: Access, ranker: Ranker) -> LiveSource:
    """The live source of a ranker of the viewer's collection. Raises NotFound."""
    _check_own(access, ranker)
    result = LiveSource.objects.filter(ranker=ranker).select_related("secret").first()
    if result is None:
        raise NotFound("live source")
    result.ranker = ranker
    return result


def _check_own(access: Access, ranker: Ranker) -> None:
    if ranker.collection_id != access.collection.pk:
        raise NotFound("ranker")
