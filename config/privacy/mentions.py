"""Finding a person's name, username and address in what was written about them."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from judgments.models import AuditEntry, Job, Notice, OutboxMessage, SideText, User


@dataclass(frozen=True)
class Names:
    """How a person is named, in lower case.

    whole: what a value that is nothing else says. within: what is the person in any text: an
    address, and a name of two words or more; one word, such as Mark, may be something else.
    """

    whole: frozenset[str]
    within: tuple[str, ...]
    username: str

    def are_in_text(self, text: str) -> bool:
        """Whether a text that people wrote names the person."""
        return any(name in text.casefold() for name in self.within)

    def are_in_values(self, value: Any) -> bool:
        """Whether plain values name the person, alone or within a text."""
        return any(
            text.casefold() in self.whole or self.are_in_text(text) for text in _texts(value)
        )

    def are_in_subject(self, subject: str) -> bool:
        """Whether the product's own words name the person, also by the username."""
        return self.are_in_values(subject) or bool(
            re.search(rf"(?<!\w){re.escape(self.username)}(?!\w)", subject.casefold())
        )


def names_of(user: User) -> Names:
    """What to look for."""
    parts = {user.username, user.name, user.email} - {""}
    strong = [user.email] if user.email else []
    if len(user.name.split()) > 1:
        strong.append(user.name)
    return Names(
        whole=frozenset(part.casefold() for part in parts),
        within=tuple(one.casefold() for one in strong),
        username=user.username.casefold(),
    )


def find_audit_details(names: Names) -> set[str]:
    """The digests of details of audit entries that name the person."""
    entries_qs = AuditEntry.objects.filter(detail__isnull=False).filter(
        _contains("detail__text", names.whole)
    )
    result = set()
    for digest, text in entries_qs.values_list("detail_id", "detail__text").iterator():
        said = json.loads(text)
        others = [said.get("before"), said.get("after")]
        if names.are_in_subject(str(said.get("subject", ""))) or names.are_in_values(others):
            result.add(digest)
    return result


def find_texts(names: Names) -> set[str]:
    """The digests of texts in which others name the person."""
    if not names.within:
        return set()
    texts_qs = SideText.objects.filter(_contains("text", names.within))
    return {
        digest
        for digest, text in texts_qs.values_list("digest", "text").iterator()
        if names.are_in_text(text)
    }


def named_in(column: str, names: Names) -> Q:
    """Rows whose short text is the person's name or username, or names the person."""
    result = Q(pk__in=())
    for whole in names.whole:
        result |= Q(**{f"{column}__iexact": whole})
    for within in names.within:
        result |= Q(**{f"{column}__icontains": within})
    return result


def find_notices(names: Names) -> list[int]:
    """Notices of others whose values name the person."""
    rows = Notice.objects.values_list("pk", "payload").iterator()
    return [pk for pk, payload in rows if names.are_in_values(payload)]


def find_messages(names: Names) -> list[int]:
    """Messages in the outbox that name the person, or go to their address."""
    rows = OutboxMessage.objects.exclude(payload={}, address="")
    result = rows.values_list("pk", "payload", "address").iterator()
    return [pk for pk, payload, address in result if names.are_in_values([payload, address])]


def find_jobs(names: Names) -> list[int]:
    """Jobs that have ended, whose parameters, file or problems name the person."""
    ended_qs = Job.objects.filter(state__in=(Job.State.DONE, Job.State.FAILED))
    rows = ended_qs.values_list("pk", "params", "result", "problems", "file_name").iterator()
    return [pk for pk, *values in rows if names.are_in_values(values)]


def _contains(column: str, needles: Iterable[str]) -> Q:
    result = Q(pk__in=())
    for needle in needles:
        for spelt in {needle, json.dumps(needle, ensure_ascii=False)[1:-1]}:  # as JSON quotes it
            result |= Q(**{f"{column}__icontains": spelt})
    return result


def _texts(value: Any) -> Iterator[str]:
    """Every text in plain values, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from (key, *_texts(inner))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
