"""Reading the audit log."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page

from judgments.models import AuditEntry
from judgments.pages.paging import paginate
from judgments.pages.words import plain
from judgments.permissions import Access, check_may_see_people


@dataclass(frozen=True)
class AuditRow:
    at: datetime
    who: str
    action: str
    subject: str
    before: list[tuple[str, str]]
    after: list[tuple[str, str]]


@dataclass(frozen=True)
class AuditPage:
    rows: "Page[AuditRow]"
    actions: list[str]
    is_filtered: bool


def get_audit_page(*, access: Access, action: str, page: str) -> AuditPage:
    """What was done in the collection, newest first; for those who may see people."""
    check_may_see_people(access)
    entries = AuditEntry.objects.filter(collection=access.collection)
    actions = entries.order_by("action").values_list("action", flat=True).distinct()
    found = entries.select_related("actor").order_by("-id")
    if action:
        found = found.filter(action=action)
    return AuditPage(
        rows=paginate(found, page=page, show=_rows),
        actions=list(actions),
        is_filtered=bool(action),
    )


def _rows(entries: list[AuditEntry]) -> list[AuditRow]:
    return [
        AuditRow(
            at=entry.at,
            who=str(entry.actor or "command line"),
            action=entry.action,
            subject=entry.subject,
            before=_items(entry.before),
            after=_items(entry.after),
        )
        for entry in entries
    ]


def _items(value: Any) -> list[tuple[str, str]]:
    """A JSON value as rows to show."""
    if value is None:
        return []
    items = sorted(value.items()) if isinstance(value, dict) else [("", value)]
    return [(name, plain(own)) for name, own in items]
