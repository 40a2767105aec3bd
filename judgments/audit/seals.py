"""Sealing the audit log in batches, each with a MAC that follows from the one before.

The key is not in the database: who changes entries there, even its owner, can't make the seals that
fit. What an entry says of people is not sealed but its digest, so that it can be erased.
"""

import hashlib
import hmac
import json
import logging
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Min

from judgments.models import AuditEntry, AuditSeal
from judgments.secrets.key_files import KeyFile
from touchstone.errors import DomainError

logger = logging.getLogger("touchstone.seals")

TASK: Final = "judgments.seal_audit"
PORTION: Final = 1_000  # entries in one seal
PORTIONS: Final = 50  # seals of one call; the next one goes on
CONTEXT: Final = b"touchstone audit seal\0"  # no MAC of anything else is one of a seal
FACTS: Final = ("pk", "collection_id", "actor_id", "at", "action", "detail_id")


class SealRefused(DomainError):
    """The audit log can't be sealed."""


KEYS: Final = KeyFile("seal_keys", "seal the audit log with", "seal_key", SealRefused)


@dataclass(frozen=True)
class Newest:
    """The newest seal, as it is kept outside the database."""

    number: int
    mac: str
    sealed_at: str


def find_newest() -> int:
    """The number of the newest seal; 0 before the first."""
    return AuditSeal.objects.order_by("-number").values_list("number", flat=True).first() or 0


def find_unsealed_since() -> datetime | None:
    """When the oldest entry that is not sealed was made."""
    since: datetime | None = AuditEntry.objects.filter(seal=None).aggregate(at=Min("at"))["at"]
    return since


def is_sealing_due() -> bool:
    """Whether there are entries to seal, and a key."""
    return _has_key() and AuditEntry.objects.filter(seal=None).exists()


def seal_entries(*, after: int, at: datetime) -> int:
    """Seal what is not sealed; how many entries. Nothing where another worker has sealed since.

    after: the number of the newest seal when this was found due.
    """
    KEYS.make()
    key, *_ = KEYS.require()
    sealed = 0
    if find_newest() != after:
        return sealed
    for _ in range(PORTIONS):
        try:
            count = _seal_next(key, at)
        except IntegrityError:  # another worker made the seal of this number
            break
        sealed += count
        if count < PORTION:
            break
    return sealed


def digest_of(facts: Sequence[object]) -> str:
    """The SHA-256 of an entry's facts, in hexadecimal. facts: as FACTS names them."""
    plain = [one.astimezone(UTC).isoformat() if isinstance(one, datetime) else one for one in facts]
    return hashlib.sha256(json.dumps(plain, ensure_ascii=False).encode()).hexdigest()


def mac_of(key: str, seal: AuditSeal, before: str) -> str:
    """The MAC of a seal. before: the MAC of the seal before it, or empty."""
    sealed_at = seal.sealed_at.astimezone(UTC).isoformat()
    said = json.dumps([seal.number, before, sealed_at, seal.entries])
    return hmac.new(key.encode(), CONTEXT + said.encode(), hashlib.sha256).hexdigest()


def read_newest() -> Newest | None:
    """The newest seal that was kept outside the database; None where there is no such file."""
    path = Path(settings.NEWEST_SEAL)
    return Newest(**json.loads(path.read_text())) if path.exists() else None


def put_newest_aside(at: datetime) -> Path | None:
    """Rename the file, because another database takes the place of the one that it is about."""
    path = Path(settings.NEWEST_SEAL)
    if not path.exists():
        return None
    aside = path.with_name(f"{path.stem}-until-{at:%Y%m%dT%H%M%S}{path.suffix}")
    return path.rename(aside)


def _has_key() -> bool:
    if not settings.PRODUCTION:
        return True
    try:
        return bool(KEYS.read())
    except SealRefused as error:  # the sweep has other things to look at
        logger.warning("the audit log is not sealed: %s", error.message)
        return False


def _seal_next(key: str, at: datetime) -> int:
    with transaction.atomic():
        last = AuditSeal.objects.order_by("-number").first()
        unsealed_qs = AuditEntry.objects.filter(seal=None).order_by("pk")
        rows = list(unsealed_qs.values_list(*FACTS)[:PORTION])
        if not rows:
            return 0
        seal = AuditSeal(
            number=(last.number if last else 0) + 1,
            sealed_at=at,
            entries="\n".join(f"{row[0]} {digest_of(row)}" for row in rows),
        )
        seal.mac = mac_of(key, seal, last.mac if last else "")
        seal.save(force_insert=True)
        AuditEntry.objects.filter(pk__in=[row[0] for row in rows]).update(seal=seal)
    newest = Newest(seal.number, seal.mac, at.astimezone(UTC).isoformat())
    logger.info("seal %s of %s audit entries: %s", newest.number, len(rows), newest.mac)
    _keep_newest(newest)
    return len(rows)


def _keep_newest(newest: Newest) -> None:
    path = Path(settings.NEWEST_SEAL)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.{os.getpid()}")
    aside.write_text(json.dumps(asdict(newest)))
    aside.replace(path)
