"""Reading notices, what people chose, and what waits in the outbox."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.core.paginator import Page
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext

from judgments.messages.channels import get_channel
from judgments.messages.formatting import words_of
from judgments.messages.kinds import EMAIL, KINDS, NOTICE, Kind
from judgments.messages.people import name_people
from judgments.models import Membership, MessageChoice, Notice, OutboxMessage, Role, User
from judgments.pages.paging import paginate


@dataclass(frozen=True)
class NoticeRow:
    """A notice as its recipient reads it. language: of its words, where it is not the page's."""

    public_id: UUID
    subject: str
    text: str
    language: str
    collection: str
    at: datetime
    is_read: bool
    has_page: bool


@dataclass(frozen=True)
class NoticesPage:
    """The notices of a person, the newest first. unread: how many of all are unread."""

    rows: "Page[NoticeRow]"
    unread: int


@dataclass(frozen=True)
class ChoiceRow:
    """A kind of message with the channels that someone gets it by: name, label, whether on."""

    kind: str
    label: str
    about: str
    channels: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True)
class MessageSettings:
    """What someone chose. is_email_on: whether the server sends e-mail.

    email: where it goes. failed_at: when the last message to them failed for good, if no later
    one was sent.
    """

    rows: tuple[ChoiceRow, ...]
    is_email_on: bool
    email: str
    failed_at: datetime | None
    problem: str


def list_notices(user: User) -> QuerySet[Notice]:
    """The notices of a person, but for those about collections that they have left."""
    own_qs = Notice.objects.filter(recipient=user)
    if user.is_superuser:
        return own_qs
    here = Membership.objects.filter(user=user, collection=OuterRef("collection"))
    return own_qs.filter(Q(collection=None) | Exists(here))


def count_unread(user: User) -> int:
    """How many notices someone has not read."""
    return list_notices(user).filter(read_at=None).count()


def get_notices_page(*, user: User, page: str) -> NoticesPage:
    """A person's notices."""
    notices_qs = list_notices(user).select_related("collection")
    return NoticesPage(rows=paginate(notices_qs, page=page, show=_rows), unread=count_unread(user))


def get_message_settings(*, user: User) -> MessageSettings:
    """What someone chose to be told, and how."""
    channels = {NOTICE: gettext("In Touchstone"), EMAIL: gettext("E-mail")}
    off = list_off([user.pk])
    last_qs = OutboxMessage.objects.filter(recipient=user, channel=EMAIL).exclude(ended_at=None)
    sent_or_failed = ("sent", "given_up")
    last = last_qs.filter(state__in=sent_or_failed).order_by("-ended_at").first()
    failed = last if last is not None and last.state == "given_up" else None
    return MessageSettings(
        rows=tuple(
            ChoiceRow(
                kind=name,
                label=gettext(kind.label),
                about=gettext(kind.about),
                channels=tuple(
                    (channel, label, (user.pk, name, channel) not in off)
                    for channel, label in channels.items()
                ),
            )
            for name, kind in list_chosen_kinds(user).items()
        ),
        is_email_on=get_channel(EMAIL).is_on(),
        email=user.email,
        failed_at=failed.ended_at if failed else None,
        problem=failed.problem if failed else "",
    )


def list_chosen_kinds(user: User) -> dict[str, Kind]:
    """The kinds of messages that a person can get and may switch off, by name."""
    roles = set(Membership.objects.filter(user=user).values_list("role", flat=True))
    only_annotates = roles == {Role.ANNOTATOR} and not user.is_superuser
    return {
        name: kind
        for name, kind in KINDS.items()
        if kind.is_chosen and (kind.is_for_annotators or not only_annotates)
    }


def list_off(user_ids: Iterable[int]) -> set[tuple[int, str, str]]:
    """What people switched off: (user's id, kind, channel)."""
    off_qs = MessageChoice.objects.filter(user__in=list(user_ids), is_on=False)
    return set(off_qs.values_list("user", "kind", "channel"))


def is_message_due(at: datetime) -> bool:
    """Whether a message waits to be sent."""
    return OutboxMessage.objects.filter(state="waiting", due_at__lte=at).exists()


def count_outbox() -> dict[str, int]:
    """How many messages wait to be sent, and how many ended without being delivered."""
    counted_qs = OutboxMessage.objects.aggregate(
        waiting=Count("pk", filter=Q(state="waiting")),
        failed=Count("pk", filter=Q(state="given_up")),
    )
    return dict(counted_qs)


def _rows(notices: list[Notice]) -> list[NoticeRow]:
    rows = []
    payloads = name_people([notice.payload for notice in notices])
    for notice, payload in zip(notices, payloads, strict=True):
        words = words_of(notice.kind, payload)
        rows.append(
            NoticeRow(
                public_id=notice.public_id,
                subject=words.subject,
                text=words.text,
                language="en" if words.is_english else "",
                collection=notice.collection.name if notice.collection else "",
                at=notice.changed_at,
                is_read=notice.read_at is not None,
                has_page=bool(notice.page),
            )
        )
    return rows
