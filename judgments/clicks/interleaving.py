"""Interleaving experiments: a log in, the outcome with its test out.

Users are distinguished by client id while the file is read, to resample them. Neither they nor
single pages are stored.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from judgments.audit import services as audit
from judgments.clicks.people import Interval
from judgments.clicks.services import ClicksRefused
from judgments.collections.logs import create_log
from judgments.jobs.kinds import Work
from judgments.models import Collection, InterleavingExperiment, User
from judgments.permissions import Access, NotFound, check_may_see_rankings
from touchstone.clicks.interleaving_log import InterleavingLog, InterleavingReader
from touchstone.clicks.interleaving_outcome import outcome
from touchstone.clicks.ubi import USUAL_ACTIONS, Actions


@dataclass(frozen=True)
class Interleaving:
    """The outcome of an interleaving experiment.

    wins, losses, ties: clicked pages on which the first ranker got more, less or equal credit.
    delta: (wins + ties / 2) / clicked − 1/2, above 0 where the first one is better, with its
    interval over users; null with fewer than two. p_value: of the two-sided sign test on pages
    without a tie, which takes them for independent.
    pages: all that were interleaved. without_credit: clicks that nothing says the credit of.
    """

    number: int
    name: str
    is_simulated: bool
    first: str
    second: str
    pages: int
    clicked: int
    users: int
    wins: int
    losses: int
    ties: int
    delta: Interval
    p_value: float
    without_credit: int
    created_at: datetime

    @property
    def winner(self) -> str:
        """The ranker that users prefer, where the interval says so; else ""."""
        if self.delta.low is None or self.delta.high is None:
            return ""
        if self.delta.low > 0:
            return self.first
        return self.second if self.delta.high < 0 else ""


def list_interleavings(*, access: Access) -> list[Interleaving]:
    """The collection's interleaving experiments, the newest first."""
    check_may_see_rankings(access)
    rows = InterleavingExperiment.objects.filter(collection=access.collection)
    return [_shown(row) for row in rows.order_by("-number")]


def get_interleaving(*, access: Access, number: int) -> Interleaving:
    """An experiment of the collection; NotFound where there is none."""
    check_may_see_rankings(access)
    rows = InterleavingExperiment.objects.filter(collection=access.collection, number=number)
    result = rows.first()
    if result is None:
        raise NotFound("interleaving experiment")
    return _shown(result)


def store_interleaving(
    *,
    collection: Collection,
    name: str,
    log: InterleavingLog,
    by: User | None,
    at: datetime,
    is_simulated: bool = False,
    work: Work | None = None,
) -> InterleavingExperiment:
    """Store a log's outcome as the collection's next experiment.

    Raises ClicksRefused for a log without a clicked page, and for the same log again.
    """
    if not len(log.credits):
        raise ClicksRefused("no_clicks", "No interleaved page was clicked.")
    result = outcome(log.credits[:, 0] - log.credits[:, 1], log.users)
    digest = hashlib.sha256(json.dumps([log.rankers, log.pages, log.without_credit]).encode())
    digest.update(log.credits.astype("<f8").tobytes())
    digest.update(log.users.astype("<i8").tobytes())
    with transaction.atomic():
        made = create_log(
            InterleavingExperiment,
            collection=collection,
            name=name,
            digest=digest.hexdigest(),
            known=lambda name: ClicksRefused(
                "interleaving_known", f"This log is already imported as “{name}”."
            ),
            by=by,
            at=at,
            is_simulated=is_simulated,
            rankers=list(log.rankers),
            pages=log.pages,
            without_credit=log.without_credit,
            outcome=vars(result),
        )
        counts = {"pages": log.pages, "clicked": len(log.credits)}
        audit.record(
            collection=collection,
            actor=by,
            at=at,
            action="interleaving.imported",
            subject=made.name,
            after=counts,
        )
        if work is not None:
            work.finish({**counts, "next_page": ["interleaving", collection.slug, made.number]})
    return made


def work_on_interleaving(work: Work) -> None:
    """The job kind `import_interleaving`. params: name, impressions and clicks (action names)."""
    params, author = work.params, work.created_by_id
    reader = InterleavingReader(
        Actions(
            tuple(params.get("impressions") or USUAL_ACTIONS.impressions),
            tuple(params.get("clicks") or USUAL_ACTIONS.clicks),
        )
    )
    with work.open() as file:
        reader.read(file, name=work.file_name, progress=work.progress)
    store_interleaving(
        collection=Collection.objects.get(pk=work.collection_id),
        name=str(params["name"]),
        log=reader.log(),
        by=None if author is None else User.objects.get(pk=author),
        at=timezone.now(),
        work=work,
    )


def _shown(row: InterleavingExperiment) -> Interleaving:
    result: dict[str, Any] = row.outcome
    first, second = row.rankers
    return Interleaving(
        number=row.number,
        name=row.name,
        is_simulated=row.is_simulated,
        first=first,
        second=second,
        pages=row.pages,
        clicked=result["wins"] + result["losses"] + result["ties"],
        users=result["users"],
        wins=result["wins"],
        losses=result["losses"],
        ties=result["ties"],
        delta=Interval(result["delta"], result["low"], result["high"]),
        p_value=result["p_value"],
        without_credit=row.without_credit,
        created_at=row.created_at,
    )
