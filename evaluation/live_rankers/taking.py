"""The long work: asking an engine all queries, storing each answer, and making the run."""

import io
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Count, Exists, OuterRef
from django.utils import timezone

from evaluation.live_rankers.asking import Asked, Engine
from evaluation.live_rankers.configuration import COMMAND, Configuration, ConfigurationRefused
from evaluation.live_rankers.outcomes import ANSWERED
from evaluation.live_rankers.packing import Ranked, pack_rows, run_lines, unpack_rows
from evaluation.live_rankers.services import LiveRefused, origin_of, queue_rest
from evaluation.live_rankers.stubs import DocumentFiller
from evaluation.live_rankers.templates import Variables
from evaluation.live_rankers.vectors import get_vectors
from evaluation.models import LiveSource, Run, Snapshot, SnapshotAnswer
from evaluation.runs.details import RunDetails
from evaluation.runs.services import read_run_file, store_run
from judgments.jobs.kinds import Work
from judgments.jobs.sliced import end
from judgments.models import Query
from judgments.outgoing.client import Client, Limits, Sender
from judgments.outgoing.pacing import Pace
from judgments.outgoing.slices import Slice
from judgments.secrets.services import read_secret
from touchstone.errors import DomainError

LARGEST: Final = 10 * 1024 * 1024  # bytes of an answer


def take_snapshot(work: Work) -> None:
    """The job kind `take_snapshot`: for half a minute; what is left then is another job's.

    params: snapshot. Each answer is stored as it comes, so that a worker that is killed asks again
    only what was in flight.
    """
    snapshot = Snapshot.objects.select_related(
        "revision", "source__ranker__collection", "source__secret", "created_by"
    ).get(pk=work.params["snapshot"])
    problem = ""
    if snapshot.state == Snapshot.State.RUNNING:
        try:
            problem = _ask(snapshot, work)
        except (LiveRefused, ConfigurationRefused, DomainError) as refusal:
            problem = refusal.message
    with transaction.atomic():
        work.finish({"snapshot": str(snapshot.public_id)})
        _settle(snapshot, problem=problem, at=timezone.now())


def open_client(configuration: Configuration, limits: Limits) -> Sender:
    """What sends the requests of a configuration."""
    if configuration.method != COMMAND:
        return Client(limits=limits)
    from judgments.outgoing.redis_client import RedisClient  # noqa: PLC0415  (0.2 s to import)

    return RedisClient(limits=limits)


@dataclass(frozen=True)
class Opened:
    """An engine that can be asked, its pace, and the secret that it gets."""

    engine: Engine
    pace: Pace
    secret: str


def open_engine(
    *,
    source: LiveSource | None,
    configuration: Configuration,
    client: Sender,
    stop: threading.Event,
    secret: str = "",
) -> Opened:
    """The engine that a configuration describes, with the stored secret unless one is given.

    Raises ConfigurationRefused where its server may not be asked, SecretRefused, LiveRefused.
    """
    origin = origin_of(configuration)
    if configuration.secret_header and not secret:
        if source is None or source.secret is None:
            raise LiveRefused("no_secret", "There is no stored secret. Enter it again.")
        secret = read_secret(secret=source.secret, origin=origin)
    pace = Pace(rate=configuration.rate, clock=time.monotonic)
    engine = Engine(client=client, configuration=configuration, secret=secret, pace=pace, stop=stop)
    return Opened(engine, pace, secret)


def _ask(snapshot: Snapshot, work: Work) -> str:
    """Ask what is left; why there will be no more answers, or "" if there may be."""
    configuration = Configuration.from_json(snapshot.revision.configuration)
    limits = Limits(seconds=configuration.timeout, size=LARGEST, connections=configuration.at_once)
    stop = threading.Event()
    filler = DocumentFiller(snapshot, is_on=configuration.takes_documents)
    stored = snapshot.answers.count()

    def store(answers: list[tuple[Query, Asked | None]]) -> None:
        nonlocal stored
        at = timezone.now()
        came = [(query, asked) for query, asked in answers if asked is not None]
        SnapshotAnswer.objects.bulk_create(
            [_answer_of(snapshot, query, asked, at) for query, asked in came],
            ignore_conflicts=True,  # a worker that was taken for dead may have stored it too
        )
        for _, asked in came:
            filler.add(asked.rows)
        stored += len(came)
        work.progress(stored)

    with open_client(configuration, limits) as client:
        opened = open_engine(
            source=snapshot.source, configuration=configuration, client=client, stop=stop
        )
        Slice(
            requests=_list_requests(snapshot, configuration),
            ask=opened.engine.ask,
            store=store,
            at_once=configuration.at_once,
        ).run(pace=opened.pace, stop=stop, goes_on=lambda: _is_running(snapshot))
    filler.fill()
    return opened.pace.given_up


def _list_requests(
    snapshot: Snapshot, configuration: Configuration
) -> Iterator[tuple[Query, Variables]]:
    """What is left, each with what its request is made of."""
    ranker_id = snapshot.source.ranker_id
    for query in _unasked(snapshot):
        yield query, variables_of(query, configuration, ranker_id=ranker_id)


def _is_running(snapshot: Snapshot) -> bool:
    return Snapshot.objects.filter(pk=snapshot.pk, state=Snapshot.State.RUNNING).exists()


def _unasked(snapshot: Snapshot) -> Iterator[Query]:
    answered = SnapshotAnswer.objects.filter(snapshot=snapshot, query=OuterRef("pk"))
    queries = (
        Query.objects.filter(
            ~Exists(answered),
            collection=snapshot.source.ranker.collection_id,
            pk__lte=snapshot.last_query,
        )
        .exclude(text="")
        .order_by("pk")
    )
    return iter(list(queries.only("qid", "text", "segment")))


def variables_of(query: Query, configuration: Configuration, *, ranker_id: int) -> Variables:
    """What a query is put into a request as."""
    vectors = get_vectors(ranker_id=ranker_id, configuration=configuration, query_ids=[query.pk])
    return Variables(
        text=query.text,
        id=query.qid,
        segment=query.segment,
        depth=configuration.depth,
        vector=vectors.get(query.pk),
    )


def _answer_of(snapshot: Snapshot, query: Query, asked: Asked, at: datetime) -> SnapshotAnswer:
    return SnapshotAnswer(
        snapshot=snapshot,
        query=query,
        outcome=asked.outcome,
        status=asked.status,
        seconds=asked.seconds,
        attempts=asked.attempts,
        row_count=len(asked.rows),
        rows=pack_rows(asked.rows) if asked.rows else b"",
        detail=asked.detail[:300],
        answered_at=at,
    )


def _settle(snapshot: Snapshot, *, problem: str, at: datetime) -> None:
    """Go on in another job, make the run, or say why there is none. In a transaction."""
    state = Snapshot.objects.select_for_update(no_key=True, of=("self",)).get(pk=snapshot.pk).state
    if state != Snapshot.State.RUNNING:
        return
    if not problem and next(_unasked(snapshot), None) is not None:
        queue_rest(snapshot, at=at)
        return
    run = None
    if not problem:
        try:
            with transaction.atomic():
                run = _make_run(snapshot, at=at)
        except DomainError as refusal:
            problem = refusal.message
    if run is None:
        end(snapshot, state=Snapshot.State.FAILED, problem=problem, at=at)
        return
    Snapshot.objects.filter(pk=snapshot.pk).update(state=Snapshot.State.DONE, run=run, ended_at=at)


def _make_run(snapshot: Snapshot, *, at: datetime) -> Run:
    """The run of a snapshot whose queries have all been asked.

    Raises LiveRefused where too few were answered, or none has results.
    """
    configuration = Configuration.from_json(snapshot.revision.configuration)
    counts = dict(snapshot.answers.order_by().values_list("outcome").annotate(Count("pk")))
    asked = sum(counts.values())
    answered = sum(count for outcome, count in counts.items() if outcome in ANSWERED)
    if answered < configuration.min_answered * asked:
        raise LiveRefused(
            "too_few_answered",
            f"{answered:,} of {asked:,} queries were answered; the revision requires "
            f"{100 * configuration.min_answered:.4g} %.",
        )
    if not counts.get("ok"):
        raise LiveRefused("all_empty", "No query has results, so there is nothing to evaluate.")
    ranker = snapshot.source.ranker
    lines = "".join(run_lines(_rankings(snapshot), tag=ranker.slug))
    read = read_run_file(source=io.BytesIO(lines.encode()), file_name=snapshot.name)
    failed = asked - answered
    return store_run(
        ranker=ranker,
        read=read,
        name=snapshot.name,
        is_named=False,
        by=snapshot.created_by,
        at=at,
        create=True,
        details=RunDetails(
            {
                "revision": snapshot.revision.number,
                "snapshot": str(snapshot.public_id),
                "queries asked": asked,
                **({"queries failed": failed} if failed else {}),
            }
        ),
    ).run


def _rankings(snapshot: Snapshot) -> Iterator[tuple[str, Ranked]]:
    answers = snapshot.answers.filter(outcome="ok").order_by("query_id")
    for qid, rows in answers.values_list("query__qid", "rows").iterator(chunk_size=2_000):
        yield qid, unpack_rows(bytes(rows))
