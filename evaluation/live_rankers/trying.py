"""Asking an engine one query, to see what is sent, what comes back and what is made of it."""

import threading
from dataclasses import dataclass, replace
from typing import Final

from evaluation.live_rankers.configuration import MASKED, Configuration, check
from evaluation.live_rankers.mapping import Row
from evaluation.live_rankers.outcomes import ANSWERED, WORDS
from evaluation.live_rankers.queries import get_query_to_try
from evaluation.live_rankers.services import LiveRefused, with_vectors
from evaluation.live_rankers.taking import LARGEST, open_client, open_engine, variables_of
from evaluation.live_rankers.templates import Variables
from evaluation.models import LiveSource, Ranker
from judgments.outgoing.client import Limits
from judgments.permissions import Access, NotFound, check_may_upload_runs

LONGEST_TIMEOUT: Final = 10.0  # seconds: a person and a web process wait
SHOWN: Final = 20_000  # characters of an answer
ROWS: Final = 20


@dataclass(frozen=True)
class Tried:
    """One query. request: its lines, the secret masked. answer: the beginning of the body.

    rows: the first of `count` mapped results. words, detail: what became of it.
    """

    qid: str
    text: str
    request: str
    words: str
    is_answered: bool
    status: int | None
    seconds: float
    detail: str
    answer: str
    is_cut: bool
    rows: tuple[Row, ...]
    count: int


def try_query(
    *, access: Access, ranker: Ranker, configuration: Configuration, secret: str, qid: str
) -> Tried:
    """Ask one query, once; for researchers and leads. Nothing is stored.

    secret: "" for the stored one. qid: "" for the first query of the collection.
    Raises ConfigurationRefused, SecretRefused, LiveRefused, TemplateRefused.
    """
    check_may_upload_runs(access)
    if ranker.collection_id != access.collection.pk:
        raise NotFound("ranker")
    check(configuration)
    try:
        query = get_query_to_try(access=access, qid=qid)
    except NotFound as error:
        message = f"This collection has no query {qid!r} with a text." if qid else NO_QUERIES
        raise LiveRefused("no_query", message) from error
    source = LiveSource.objects.filter(ranker=ranker).select_related("secret").first()
    once = replace(configuration, attempts=1, timeout=min(configuration.timeout, LONGEST_TIMEOUT))
    once = with_vectors(once, ranker)
    variables = variables_of(query, once, ranker_id=ranker.pk)
    request = _request_lines(once, variables)
    limits = Limits(seconds=once.timeout, size=LARGEST, connections=1)
    with open_client(once, limits) as client:
        opened = open_engine(
            source=source,
            configuration=once,
            client=client,
            stop=threading.Event(),
            secret=secret,
        )
        asked = opened.engine.ask(variables)
    assert asked is not None
    body = asked.body.decode("utf-8", "replace")
    if opened.secret:
        body = body.replace(opened.secret, MASKED)
    return Tried(
        qid=query.qid,
        text=query.text,
        request=request,
        words=WORDS[asked.outcome],
        is_answered=asked.outcome in ANSWERED,
        status=asked.status,
        seconds=asked.seconds,
        detail=asked.detail,
        answer=body[:SHOWN],
        is_cut=len(body) > SHOWN,
        rows=asked.rows[:ROWS],
        count=len(asked.rows),
    )


NO_QUERIES: Final = "This collection has no queries with a text."


def _request_lines(configuration: Configuration, variables: Variables) -> str:
    """The request as text, with the secret masked."""
    request = configuration.request_for(variables)
    lines = [f"{request.method} {request.url}"]
    lines += [f"{name}: {value}" for name, value in request.headers]
    if configuration.secret_header:
        lines.append(f"{configuration.secret_header}: {MASKED}")
    if request.body is not None:
        lines += ["", request.body.decode()]
    return "\n".join(lines)
