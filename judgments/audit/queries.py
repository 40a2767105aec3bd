"""Reading the audit log."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from django.core.paginator import Page
from django.db.models import Q, QuerySet
from django.utils import timezone

from judgments.audit.details import detail_prefix
from judgments.audit.words import SENTENCES, split_sentence
from judgments.models import AuditEntry, User
from judgments.pages.paging import paginate
from judgments.pages.words import plain
from judgments.permissions import Access, check_administers, check_may_see_people

RULE_ACTIONS: Final = ("check.", "training.")  # prefixes of actions that rules take
SIGN_INS: Final = "sign_in."  # without a known actor


@dataclass(frozen=True)
class AuditFilters:
    """action: a key of SENTENCES, or "". person: a user name, or "". since, until: days in UTC.

    is_about: not only what the person did, but also what was done to their account.
    """

    action: str = ""
    person: str = ""
    is_about: bool = False
    since: date | None = None
    until: date | None = None


@dataclass(frozen=True)
class AuditDetail:
    """before, after: None where the log does not say it."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class AuditRow:
    """An entry as a sentence: who, the words around the subject, and what changed.

    action: the stable word of it. collection: its short name; empty for the installation.
    seal: the number of the seal that it is in; None where it is not sealed.
    """

    at: datetime
    collection: str
    who: str
    action: str
    words: tuple[str, str]
    subject: str
    details: list[AuditDetail]
    seal: int | None


@dataclass(frozen=True)
class AuditPage:
    """actions: those of the log, each with its words; people: user names and names."""

    rows: "Page[AuditRow]"
    actions: list[tuple[str, str]]
    people: list[tuple[str, str]]


def get_audit_page(*, access: Access, filters: AuditFilters, page: str) -> AuditPage:
    """What was done in the collection, newest first; for those who may see people."""
    check_may_see_people(access)
    return _page(AuditEntry.objects.filter(collection=access.collection), filters, page)


def get_site_audit_page(*, viewer: User, filters: AuditFilters, page: str) -> AuditPage:
    """What was done in all collections and with accounts, newest first; for administrators."""
    check_administers(viewer)
    return _page(AuditEntry.objects.all(), filters, page)


def _page(own_qs: QuerySet[AuditEntry], filters: AuditFilters, page: str) -> AuditPage:
    entries = own_qs.order_by()
    actions = entries.values_list("action", flat=True).distinct()
    people = User.objects.filter(pk__in=entries.values("actor")).order_by("name", "username")
    return AuditPage(
        rows=paginate(_entries(own_qs, filters), page=page, show=_rows),
        actions=sorted((own, _phrase(own)) for own in actions),
        people=[(user.username, str(user)) for user in people],
    )


def list_audit_lines(*, access: Access, filters: AuditFilters) -> Iterator[str]:
    """The entries as JSON lines, oldest first."""
    check_may_see_people(access)
    return _lines(AuditEntry.objects.filter(collection=access.collection), filters)


def list_site_audit_lines(*, viewer: User, filters: AuditFilters) -> Iterator[str]:
    """The entries of all collections and of accounts as JSON lines; for administrators."""
    check_administers(viewer)
    return _lines(AuditEntry.objects.all(), filters)


def _lines(own_qs: QuerySet[AuditEntry], filters: AuditFilters) -> Iterator[str]:
    result = _entries(own_qs, filters).order_by("id")
    result = result.select_related("seal").defer("seal__entries")
    return (
        json.dumps(
            {
                "id": entry.pk,
                "at": entry.at.isoformat(),
                "collection": entry.collection.slug if entry.collection else None,
                "actor": entry.actor.username if entry.actor else None,
                "action": entry.action,
                "subject": entry.subject,
                "before": entry.before,
                "after": entry.after,
                "seal": _seal(entry),
            },
            ensure_ascii=False,
        )
        + "\n"
        for entry in result.iterator(chunk_size=2_000)
    )


def _entries(own_qs: QuerySet[AuditEntry], filters: AuditFilters) -> QuerySet[AuditEntry]:
    result = own_qs.order_by("-id")
    if filters.action:
        result = result.filter(action=filters.action)
    if filters.person:
        is_theirs = Q(actor__username=filters.person)
        if filters.is_about:
            is_theirs |= Q(detail__text__startswith=detail_prefix(filters.person))
        result = result.filter(is_theirs)
    if filters.since:
        result = result.filter(at__gte=_midnight(filters.since))
    if filters.until:
        result = result.filter(at__lt=_midnight(filters.until) + timedelta(days=1))
    return result.select_related("actor", "collection", "detail")


def _seal(entry: AuditEntry) -> dict[str, Any] | None:
    if not entry.seal:
        return None
    sealed_at = entry.seal.sealed_at.isoformat()
    return {"number": entry.seal.number, "at": sealed_at, "mac": entry.seal.mac}


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def _phrase(action: str) -> str:
    """The words of an action in a list to choose from."""
    return SENTENCES.get(action, action).replace("{}", "…")


def _rows(entries: list[AuditEntry]) -> list[AuditRow]:
    return [
        AuditRow(
            at=entry.at,
            collection=entry.collection.slug if entry.collection else "",
            who=_who(entry),
            action=entry.action,
            words=split_sentence(entry.action),
            subject=entry.subject,
            details=_details(entry.before, entry.after),
            seal=entry.seal_id,
        )
        for entry in entries
    ]


def _details(before: Any, after: Any) -> list[AuditDetail]:
    """What changed, a name at a time; what stayed the same is left out."""
    old, new = _items(before), _items(after)
    return [
        AuditDetail(
            name=name.replace("_", " "),
            before=plain(old[name]) if name in old else None,
            after=plain(new[name]) if name in new else None,
        )
        for name in sorted({**old, **new})
        if name not in old or name not in new or old[name] != new[name]
    ]


def _items(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    return value if isinstance(value, dict) else {"": value}


def _who(entry: AuditEntry) -> str:
    if entry.actor:
        return str(entry.actor)
    if entry.action.startswith(SIGN_INS):
        return "Someone"
    return "A rule" if entry.action.startswith(RULE_ACTIONS) else "The command line"
