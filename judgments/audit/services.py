"""Who changed what, kept with the change itself."""

from datetime import datetime
from typing import Any

from judgments.audit.details import write_detail
from judgments.models import AuditEntry, Collection, User
from judgments.permissions import Access
from judgments.storage.side_texts import keep_text


def record(
    *,
    collection: Collection | None,
    actor: User | None,
    at: datetime,
    action: str,
    subject: str,
    before: Any = None,
    after: Any = None,
) -> AuditEntry:
    """Write one audit row; call it inside the transaction of the change.

    action: stable words, e.g. "member.role_changed". subject: what it was done to, in words.
    before, after: plain JSON values, never a secret. actor: None for the command line.
    """
    return AuditEntry.objects.create(
        collection=collection,
        actor=actor,
        at=at,
        action=action,
        detail=keep_text(write_detail(subject, before, after)),
    )


def record_by(access: Access, at: datetime, action: str, subject: str, **values: Any) -> AuditEntry:
    """`record` of what a member did in their collection. values: before, after."""
    return record(
        collection=access.collection,
        actor=access.user,
        at=at,
        action=action,
        subject=subject,
        **values,
    )
