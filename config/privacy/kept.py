"""What is kept about a person, section by section: for the person, and for administrators.

How labels were assessed is not here: it would tell which of them were hidden checks.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from axes.models import AccessAttempt
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy

from annotation.models import (
    Adjudication,
    Announcement,
    Label,
    LabellingPreferences,
    Message,
    OneMoreLabel,
    QuerySkip,
    Reopening,
    Review,
)
from judgments.models import (
    ApiToken,
    AuditEntry,
    JudgmentVersion,
    Membership,
    MessageChoice,
    Notice,
    OutboxMessage,
    Release,
    SecondFactor,
    SecurityKey,
    Session,
    User,
)
from judgments.usernames import fold

Values = dict[str, Any]
UNTIL_END = gettext_lazy("its end, 90 days after the sign-in by default")
UNTIL_DELETED = gettext_lazy("you delete it")
UNTIL_ERASED = gettext_lazy("you are erased")
WITHOUT_WORDS = gettext_lazy("for good, without your name; texts and timing until you are erased")


@dataclass(frozen=True)
class Section:
    """Rows about a person. until: how long they are kept. find: the rows. show: one, as values."""

    key: str
    title: Any
    until: Any
    find: Callable[[User], QuerySet[Any]]
    show: Callable[[Any], Values]


@dataclass(frozen=True)
class KeptSection:
    """How much there is of a section."""

    key: str
    title: Any
    until: Any
    count: int


def list_sections(user: User) -> list[KeptSection]:
    """How much is kept of each kind; empty ones too."""
    return [KeptSection(one.key, one.title, one.until, one.find(user).count()) for one in SECTIONS]


def write_kept(user: User, *, at: datetime) -> Iterator[str]:
    """All that is kept, as the parts of one JSON object."""
    yield "{" + f'"at": {_json(at)}, "account": {_json(_account(user))}'
    for section in SECTIONS:
        yield f',\n"{section.key}": ['
        for number, row in enumerate(section.find(user).iterator(chunk_size=2_000)):
            yield (",\n" if number else "\n") + _json(section.show(row))
        yield "]"
    yield "}\n"


def _json(value: Any) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)


def _account(user: User) -> Values:
    names = ("username", "name", "email", "language", "date_joined", "last_login", "suspended_at")
    said: Values = {name: getattr(user, name) for name in names}
    return {"id": user.public_id, **said, "is_administrator": user.is_superuser}


def _fields(*names: str) -> Callable[[Any], Values]:
    """A row as these of its fields; `a__b` is the field b of a."""

    def show(row: Any) -> Values:
        return {name: _value(row, name) for name in names}

    return show


def _value(row: Any, name: str) -> Any:
    for part in name.split("__"):
        row = None if row is None else getattr(row, part)
    return row


def _pair(pair: Any) -> Values:
    return {"query": pair.query.text, "document": pair.document.title}


def _label(row: Label) -> Values:
    said = _fields("outcome", "grade", "reason", "note", "received_at", "made_at", "seconds")
    return {"campaign": row.pair.campaign.name, **_pair(row.pair), **said(row)}


def _decision(row: Adjudication) -> Values:
    return {**_pair(row.pair), **_fields("grade", "reason", "decided_at")(row)}


PAIR: Final = ("pair__query", "pair__document", "pair__campaign")
SECTIONS: Final = (
    Section(
        "memberships",
        gettext_lazy("Collections"),
        gettext_lazy("for good, without your name; languages and skills until you are erased"),
        lambda user: Membership.ever.filter(user=user).select_related("collection").order_by("pk"),
        _fields("collection__slug", "role", "pseudonym", "tags", "created_at", "ended_at"),
    ),
    Section(
        "sessions",
        gettext_lazy("Sessions"),
        UNTIL_END,
        lambda user: Session.objects.filter(user=user),
        _fields("agent", "started_at", "seen_at", "expire_date"),
    ),
    Section(
        "failed_sign_ins",
        gettext_lazy("Failed sign-ins"),
        gettext_lazy("180 days by default, or you are erased"),
        lambda user: AccessAttempt.objects.filter(username=fold(user.username)).order_by("pk"),
        _fields("attempt_time", "ip_address", "user_agent", "failures_since_start"),
    ),
    Section(
        "api_tokens",
        gettext_lazy("API tokens"),
        UNTIL_DELETED,
        lambda user: ApiToken.objects.filter(user=user).order_by("created"),
        _fields("name", "scope", "created", "expiry", "last_used_at"),
    ),
    Section(
        "second_factor",
        gettext_lazy("Two-step sign-in"),
        UNTIL_DELETED,
        lambda user: SecondFactor.objects.filter(user=user),
        _fields("created_at", "confirmed_at"),
    ),
    Section(
        "security_keys",
        gettext_lazy("Security keys"),
        UNTIL_DELETED,
        lambda user: SecurityKey.objects.filter(user=user),
        _fields("name", "created_at", "used_at"),
    ),
    Section(
        "notices",
        gettext_lazy("Notices"),
        UNTIL_ERASED,
        lambda user: Notice.objects.filter(recipient=user),
        _fields("kind", "payload", "created_at", "changed_at", "read_at"),
    ),
    Section(
        "messages",
        gettext_lazy("Messages"),
        UNTIL_ERASED,
        lambda user: OutboxMessage.objects.filter(recipient=user),
        _fields("channel", "kind", "address", "state", "created_at", "ended_at"),
    ),
    Section(
        "message_settings",
        gettext_lazy("Message settings"),
        UNTIL_ERASED,
        lambda user: MessageChoice.objects.filter(user=user),
        _fields("kind", "channel", "is_on"),
    ),
    Section(
        "labelling_settings",
        gettext_lazy("Keys and view of the labelling page"),
        UNTIL_ERASED,
        lambda user: LabellingPreferences.objects.filter(user=user),
        _fields("keys", "text_size", "line_width", "marks_terms"),
    ),
    Section(
        "labels",
        gettext_lazy("Labels"),
        WITHOUT_WORDS,
        lambda user: (
            Label.objects.filter(annotator=user)
            .select_related(*PAIR, "timing", "reason_text", "note_text")
            .order_by("received_at", "pk")
        ),
        _label,
    ),
    Section(
        "skipped_queries",
        gettext_lazy("Skipped queries"),
        WITHOUT_WORDS,
        lambda user: QuerySkip.objects.filter(annotator=user).select_related("query"),
        _fields("query__text", "reason", "note", "skipped_at", "returned_at"),
    ),
    Section(
        "thread_messages",
        gettext_lazy("Messages in threads"),
        WITHOUT_WORDS,
        lambda user: Message.objects.filter(author=user).select_related("words"),
        _fields("text", "written_at"),
    ),
    Section(
        "announcements",
        gettext_lazy("Announcements"),
        WITHOUT_WORDS,
        lambda user: Announcement.objects.filter(author=user).select_related("words"),
        _fields("text", "announced_at"),
    ),
    Section(
        "reviews",
        gettext_lazy("Reviews"),
        gettext_lazy("for good, without your name"),
        lambda user: Review.objects.filter(reviewer=user).order_by("pk"),
        _fields("verdict", "reviewed_at"),
    ),
    Section(
        "decisions",
        gettext_lazy("Adjudicated pairs"),
        WITHOUT_WORDS,
        lambda user: (
            Adjudication.objects.filter(decided_by=user)
            .select_related(*PAIR, "reason_text")
            .order_by("pk")
        ),
        _decision,
    ),
    Section(
        "reopened_decisions",
        gettext_lazy("Reopened pairs"),
        WITHOUT_WORDS,
        lambda user: Reopening.objects.filter(reopened_by=user).order_by("pk"),
        _fields("reason", "reopened_at"),
    ),
    Section(
        "requested_labels",
        gettext_lazy("Requests for another label"),
        WITHOUT_WORDS,
        lambda user: OneMoreLabel.objects.filter(asked_by=user).order_by("pk"),
        _fields("reason", "asked_at"),
    ),
    Section(
        "versions",
        gettext_lazy("Versions of judgment lists"),
        WITHOUT_WORDS,
        lambda user: JudgmentVersion.objects.filter(author=user).select_related("list"),
        _fields("list__slug", "number", "reason", "created_at"),
    ),
    Section(
        "releases",
        gettext_lazy("Releases"),
        WITHOUT_WORDS,
        lambda user: Release.objects.filter(created_by=user).select_related("list"),
        _fields("list__slug", "name", "notes", "created_at"),
    ),
    Section(
        "audit",
        gettext_lazy("Audit log: what you did"),
        gettext_lazy("for good, without your name; details that name you until you are erased"),
        lambda user: AuditEntry.objects.filter(actor=user).select_related("detail").order_by("pk"),
        _fields("at", "action", "subject", "before", "after"),
    ),
)
