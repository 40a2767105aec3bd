"""Importing a click log: a ledger that explains every record, and evidence without events.

Neither a client's id nor a session's is stored, nor a hash of one: they are looked at while a file
is read, to find duplicates. The text of a query that is not in the collection is not stored either.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final

import numpy as np
from django.db import transaction
from django.utils import timezone

from judgments.audit import services as audit
from judgments.clicks.applications import StoredApplication
from judgments.clicks.packing import Ints, StoredEvidence, pack, renamed
from judgments.collections.logs import create_log
from judgments.collections.queries import map_documents, map_exact_texts, map_queries
from judgments.jobs.kinds import Work
from judgments.models import ClickBlock, ClickLog, Collection, User
from touchstone.clicks.events import EventBuckets
from touchstone.clicks.ledger import Ledger, Outcome
from touchstone.clicks.log import ClickLog as ReadLog
from touchstone.clicks.log import LogBuilder
from touchstone.clicks.log_files import read_click_log
from touchstone.clicks.page_evidence import count_pages
from touchstone.clicks.ubi import USUAL_ACTIONS, Actions
from touchstone.errors import DomainError
from touchstone.files.reading import Progress, Source

AT_ONCE: Final = 50_000  # names looked up together
SHOWN_ACTIONS: Final = 5


class ClicksRefused(DomainError):
    """The log can't be stored like this."""


@dataclass(frozen=True)
class Reading:
    """How a log is read. actions: which names are impressions and clicks.

    joins: events without a text get that of their query id. rank_base: of a first result, where
    the smallest rank of an application says nothing.
    """

    actions: Actions = USUAL_ACTIONS
    joins: bool = False
    rank_base: int | None = None


def import_clicks(
    *,
    collection: Collection,
    name: str,
    files: Iterable[tuple[Source, str]],
    reading: Reading,
    by: User | None,
    at: datetime,
    progress: Progress | None = None,
    work: Work | None = None,
) -> ClickLog:
    """Store the files of one log as the collection's next; all or nothing.

    files: each with the name that problems are reported under. work: the job that this ends.
    Raises FileRefused for what is wrong in a file, ClicksRefused for a log without evidence and
    for the same log again.
    """
    with EventBuckets() as events:
        builder = LogBuilder(events)
        for source, file_name in files:
            read_click_log(
                source, builder, name=file_name, actions=reading.actions, progress=progress
            )
        return store_clicks(
            collection=collection,
            name=name,
            log=builder.log(join=reading.joins),
            rank_base=reading.rank_base,
            by=by,
            at=at,
            work=work,
        )


def store_clicks(
    *,
    collection: Collection,
    name: str,
    log: ReadLog,
    by: User | None,
    at: datetime,
    rank_base: int | None = None,
    examination: Sequence[float] | None = None,
    is_simulated: bool = False,
    work: Work | None = None,
) -> ClickLog:
    """Store a log that was read.

    examination: of each position, where it is known.
    """
    if not len(log.evidence):
        raise ClicksRefused("no_evidence", _why_none(log.ledger))
    bases = {
        log.applications.index(one.name): base
        for one in log.ledger.applications
        if one.smallest_rank is not None
        and (base := one.rank_base if rank_base is None else rank_base) is not None
    }
    queries = _primary_keys(log.queries, _find_queries(collection, log.queries))
    documents = _primary_keys(log.documents, _find_documents(collection, log.documents))
    own = renamed(log.evidence, queries, documents)
    totals, blocks = _totals(own), _blocks(ClickBlock.Kind.EVENTS, own)
    del own  # memory, which what follows needs
    pages, counts = count_pages(log, bases)
    applications = [
        StoredApplication.of(
            one, counts.get(code), pages.select(pages.application == code)
        ).to_json()
        for one in log.ledger.applications
        for code in (log.applications.index(one.name),)
    ]
    blocks += _blocks(ClickBlock.Kind.PAGES, renamed(pages, queries, documents))
    values: dict[str, Any] = {
        "records": log.ledger.records,
        "applications": applications,
        "examination": None if examination is None else list(examination),
        "digest": _digest(applications, blocks),
        **totals,
    }
    with transaction.atomic():
        made = create_log(
            ClickLog,
            collection=collection,
            name=name,
            known=lambda name: ClicksRefused(
                "clicks_known", f"These clicks are already imported as “{name}”."
            ),
            by=by,
            at=at,
            is_simulated=is_simulated,
            **values,
        )
        for kind, position, rows in blocks:
            ClickBlock.objects.create(log=made, kind=kind, position=position, rows=rows)
        counted = {name: values[name] for name in ("records", "impressions", "clicks")}
        audit.record(
            collection=collection,
            actor=by,
            at=at,
            action="clicks.imported",
            subject=made.name,
            after=counted,
        )
        if work is not None:
            work.finish({**counted, "next_page": ["click-log", collection.slug, made.number]})
    return made


def _why_none(ledger: Ledger) -> str:
    """Why no record of a log is evidence."""
    others = {
        action: count
        for one in ledger.applications
        for action, count in one.actions.items()
        if one.outcomes.get(Outcome.OTHER_ACTION)
    }
    named = sorted(others, key=lambda action: -others[action])[:SHOWN_ACTIONS]
    message = "No impression or click in this log has a query, a document and a rank."
    if ledger[Outcome.JOINABLE]:
        message += f" {ledger[Outcome.JOINABLE]:,} could be joined by query id."
    return f"{message} Its actions: {', '.join(named)}." if named else message


def _find_queries(collection: Collection, texts: Sequence[str]) -> dict[str, int]:
    """The queries that ask these texts exactly, or else have them as ids."""
    result: dict[str, int] = {}
    for part in _parts(texts):
        by_text = map_exact_texts(collection=collection, texts=part)
        rest = [text for text in part if text not in by_text]
        result |= by_text | map_queries(collection=collection, qids=rest)
    return result


def _find_documents(collection: Collection, docids: Sequence[str]) -> dict[str, int]:
    result: dict[str, int] = {}
    for part in _parts(docids):
        result |= map_documents(collection=collection, docids=part)
    return result


def _parts(names: Sequence[str]) -> Iterator[list[str]]:
    rest = iter(names)
    while part := list(islice(rest, AT_ONCE)):
        yield part


def _primary_keys(names: Sequence[str], known: dict[str, int]) -> Ints:
    """The primary key of each name; below 0 for one that the collection does not have."""
    keys = (known.get(name, -1 - code) for code, name in enumerate(names))
    return np.fromiter(keys, np.int64, len(names))


def _totals(stored: StoredEvidence) -> dict[str, int]:
    own = stored.evidence
    shown = {
        "queries": np.unique(stored.queries[own.query]),
        "documents": np.unique(stored.documents[own.document]),
    }
    return {
        "impressions": int(own.impressions.sum()),
        "clicks": int(own.clicks.sum()),
        **{name: len(names) for name, names in shown.items()},
        **{f"known_{name}": int((names > 0).sum()) for name, names in shown.items()},
    }


def _blocks(kind: str, stored: StoredEvidence) -> list[tuple[str, int, bytes]]:
    return [(kind, position, rows) for position, rows in enumerate(pack(stored))]


def _digest(applications: list[dict[str, Any]], blocks: Iterable[tuple[str, int, bytes]]) -> str:
    ledgers = [[one["name"], one["outcomes"], one["actions"]] for one in applications]
    digest = hashlib.sha256(json.dumps(ledgers, sort_keys=True).encode())
    for kind, position, rows in blocks:
        digest.update(f"{kind} {position} {len(rows)}\n".encode())
        digest.update(rows)
    return digest.hexdigest()


def work_on_clicks(work: Work) -> None:
    """The job kind `import_clicks`.

    params: name, joins, rank_base (0, 1 or null), impressions and clicks (names of actions).
    """
    params, author = work.params, work.created_by_id
    reading = Reading(
        actions=Actions(
            tuple(params.get("impressions") or USUAL_ACTIONS.impressions),
            tuple(params.get("clicks") or USUAL_ACTIONS.clicks),
        ),
        joins=bool(params.get("joins")),
        rank_base=params.get("rank_base"),
    )
    with work.open() as file:
        import_clicks(
            collection=Collection.objects.get(pk=work.collection_id),
            name=str(params["name"]),
            files=[(file, work.file_name)],
            reading=reading,
            by=None if author is None else User.objects.get(pk=author),
            at=timezone.now(),
            progress=work.progress,
            work=work,
        )
