"""Whether this installation can do its work, part by part."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from celery import current_app
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from config.durability import list_risks
from config.roles import list_excess_rights
from judgments.jobs.worker_beats import count_live_workers
from judgments.waking import PATIENCE

logger = logging.getLogger(__name__)

OK: Final = "ok"
# without these no request can be answered; without the others labels are still taken
NEEDED: Final = ("database", "migrations")


@dataclass(frozen=True)
class Readiness:
    """A word about each part: `ok`, or what is wrong with it."""

    checks: dict[str, str]

    @property
    def is_ready(self) -> bool:
        """Whether requests can be answered, however late the numbers may be."""
        return all(self.checks[name] == OK for name in NEEDED)


def check_readiness(*, at: datetime) -> Readiness:
    """Ask each part; none is waited for longer than its connection's own patience."""
    try:
        database, migrations, workers = OK, _check_migrations(), _check_workers(at)
        durability, role = _check_durability(), _check_role()
    except DatabaseError as error:
        logger.warning("not ready: %s", type(error).__name__)
        database, migrations, workers, durability, role = "away", *["unknown"] * 4
    checks = {"database": database, "migrations": migrations, "durability": durability}
    return Readiness(checks | {"role": role, "broker": _check_broker(), "workers": workers})


def _check_migrations() -> str:
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return f"{len(plan)} to apply" if plan else OK


def _check_durability() -> str:
    risks = list_risks()
    return f"saved labels can be lost: {', '.join(risks)} off" if risks else OK


def _check_role() -> str:
    rights = list_excess_rights()
    return f"the database role {', '.join(rights)}" if rights else OK


def _check_workers(at: datetime) -> str:
    return OK if count_live_workers(at=at) else "no live worker"


def _check_broker() -> str:
    return OK if count_messages(()) is not None else "away"


def count_messages(queues: Iterable[str]) -> dict[str, float] | None:
    """How many messages each queue holds; None if the broker does not answer."""
    try:
        with current_app.connection_for_write(transport_options=PATIENCE) as broker:
            channel: Any = broker.default_channel
            return {queue: channel.queue_declare(queue)[1] for queue in queues}
    except Exception as error:  # noqa: BLE001  (kombu, redis and socket errors alike)
        logger.warning("the broker does not answer: %s", type(error).__name__)
        return None
