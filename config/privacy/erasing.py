"""Erasing a person: everything about them goes, everything that they did stays, without a name.

Facts hold the account's number and digests of texts (docs/adr/0020). Names, texts and timing lie
beside them, and are deleted here; what is deleted is listed in docs/privacy.md.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from axes.models import AccessAttempt, AccessFailureLog
from django.apps import apps
from django.contrib.auth.hashers import make_password
from django.db import connection, transaction
from django.db.models import Model, Q

from annotation.labelling.leasing import release_person
from annotation.models import (
    Adjudication,
    Announcement,
    CampaignAnnotator,
    CheckAction,
    GoldItem,
    Label,
    LabellingPreferences,
    LabelTiming,
    Message,
    OneMoreLabel,
    QuerySkip,
    Reopening,
)
from annotation.retention.services import forget_timings
from config.privacy import mentions
from config.privacy.ledger import add_erasure, list_erasures
from judgments.accounts.services import check_may_be_erased
from judgments.audit import services as audit
from judgments.models import (
    ApiToken,
    AuditEntry,
    Invitation,
    Job,
    JudgmentVersion,
    Membership,
    MessageChoice,
    Notice,
    OutboxMessage,
    RecoveryCode,
    Release,
    SecondFactor,
    Secret,
    SecurityKey,
    Session,
    SideText,
    User,
)
from judgments.usernames import fold

# what people write beside facts: whose it is, and the columns that name the texts. Details of
# audit entries are another matter, because they are about other people too.
TEXTS_OF: Final[tuple[tuple[type[Model], str, tuple[str, ...]], ...]] = (
    (Label, "annotator", ("reason_text", "note_text")),
    (Adjudication, "decided_by", ("reason_text",)),
    (Reopening, "reopened_by", ("reason_text",)),
    (OneMoreLabel, "asked_by", ("reason_text",)),
    (Message, "author", ("words",)),
    (Announcement, "author", ("words",)),
    (JudgmentVersion, "author", ("reason_text",)),
    (Release, "created_by", ("notes_text",)),
)
# in the details of an audit entry: what its actor wrote
WRITTEN: Final = ("reason", "note", "notes", "text", "words", "description")
OWN: Final[tuple[tuple[type[Model], str], ...]] = (
    (ApiToken, "user"),
    (Session, "user"),
    (MessageChoice, "user"),
    (LabellingPreferences, "user"),
    (Notice, "recipient"),
    (OutboxMessage, "recipient"),
    (RecoveryCode, "user"),
    (SecurityKey, "user"),
    (SecondFactor, "user"),
)


# what others write in a row about something else, and what is left of it where it names the person
NAMING: Final[tuple[tuple[type[Model], str, str], ...]] = (
    (Invitation, "note", ""),
    (GoldItem, "reason", ""),
    (QuerySkip, "note", ""),
    (CampaignAnnotator, "paused", "erased"),  # empty: not paused
    (CheckAction, "message", ""),
)


@dataclass(frozen=True)
class Erased:
    """What went. texts: notes, reasons, messages. timings: of labels. details: of audit entries."""

    texts: int
    timings: int
    details: int


def erase_person(*, user: User, by: User | None, at: datetime) -> Erased:
    """Erase a person for good, also from backups that are restored later.

    by: the administrator; None for the command line. Raises AccountRefused for the last active
    administrator.
    """
    check_may_be_erased(user)
    # first: an entry too many erases who was to be erased, one too few brings a person back
    add_erasure(user.public_id, at)
    return erase_rows(user=user, by=by, at=at)


def replay_erasures(*, at: datetime) -> int:
    """Erase everyone whom the ledger names and who is there again; how many."""
    people = list_erasures() or []
    back = list(User.objects.filter(public_id__in=people, erased_at=None).order_by("pk"))
    for user in back:
        erase_rows(user=user, by=None, at=at)
    return len(back)


def delete_bytes_too() -> None:
    """On SQLite, else what this connection deletes stays in the file for a while."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA secure_delete=ON")
            cursor.fetchall()


def erase_rows(*, user: User, by: User | None, at: datetime) -> Erased:
    """Erase a person without a line in the ledger: it, or that of a purge, says so already."""
    delete_bytes_too()
    with transaction.atomic():
        user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
        names = mentions.names_of(user)
        release_person(person=user)
        texts = _delete_texts(_own_texts(user) | mentions.find_texts(names))
        details = _delete_texts(mentions.find_audit_details(names) | _own_words(user))
        _clear_mentions(names, at)
        timings = _delete_own(user)
        _clear_own(user, at)
        _erase_account(user, at)
        audit.record(
            collection=None, actor=by, at=at, action="person.erased", subject=user.username
        )
        transaction.on_commit(empty_log, robust=True)
    return Erased(texts, timings, details)


def empty_log() -> None:
    """SQLite's log holds pages as they were; PostgreSQL's vacuum takes dead rows away."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            cursor.fetchall()


def _own_texts(user: User) -> set[str]:
    result: set[str] = set()
    for model, whose, columns in TEXTS_OF:
        own_qs: Any = model._default_manager.filter(**{whose: user})
        for column in columns:
            digests = own_qs.exclude(**{column: None}).values_list(f"{column}_id", flat=True)
            result.update(digests)
    return result


def _own_words(user: User) -> set[str]:
    """Details of entries in which the person wrote something of their own."""
    entries_qs = AuditEntry.objects.filter(actor=user, detail__isnull=False)
    tokens_qs = entries_qs.filter(action__startswith="token.")  # whose subject is a token's name
    result = set(tokens_qs.values_list("detail_id", flat=True))
    for entry in entries_qs.select_related("detail").iterator():
        after = entry.after
        if isinstance(after, dict) and any(after.get(key) for key in WRITTEN):
            result.add(str(entry.detail_id))
    return result


def _delete_texts(digests: set[str]) -> int:
    ordered, deleted = sorted(digests), 0
    for first in range(0, len(ordered), 500):
        found_qs = SideText.objects.filter(digest__in=ordered[first : first + 500])
        deleted += found_qs.delete()[0]
    return deleted


def _clear_mentions(names: mentions.Names, at: datetime) -> None:
    """Empty what names the person in rows that are about others."""
    Notice.objects.filter(pk__in=mentions.find_notices(names)).delete()
    messages_qs = OutboxMessage.objects.filter(pk__in=mentions.find_messages(names))
    waiting_qs = messages_qs.filter(state=OutboxMessage.State.WAITING)
    waiting_qs.update(state=OutboxMessage.State.DROPPED, ended_at=at, token=None)
    messages_qs.update(payload={}, address="", problem="")
    jobs_qs = Job.objects.filter(pk__in=mentions.find_jobs(names))
    jobs_qs.update(params={}, result={}, problems=[], file_name="")
    for model, column, emptied in NAMING:
        rows_qs: Any = model._default_manager.all()
        rows_qs.filter(mentions.named_in(column, names)).update(**{column: emptied})


def _delete_own(user: User) -> int:
    """Delete the person's own rows; how many of them were timings."""
    secrets = list(SecondFactor.objects.filter(user=user).values_list("secret_id", flat=True))
    timings = forget_timings(LabelTiming.objects.filter(label__annotator=user))
    for model, whose in OWN:
        own_qs: Any = model._default_manager.filter(**{whose: user})
        own_qs.delete()
    Secret.objects.filter(pk__in=secrets).delete()
    for attempts in (AccessAttempt, AccessFailureLog):
        attempts.objects.filter(username__in={fold(user.username), user.username}).delete()
    for name in ("socialaccount.SocialAccount", "account.EmailAddress"):  # where sign-on is on
        app, _, model_name = name.partition(".")
        if app in apps.app_configs:
            apps.get_model(app, model_name).objects.filter(user=user).delete()
    return timings


def _clear_own(user: User, at: datetime) -> None:
    """Empty the person's words and traits in rows that stay."""
    own_qs = Membership.ever.filter(user=user)
    own_qs.update(tags=[])
    own_qs.filter(ended_at=None).update(ended_at=at)
    invitations_qs = Invitation.objects.filter(Q(created_by=user) | Q(accepted_by=user))
    invitations_qs.update(note="")
    invitations_qs.filter(accepted_at=None, withdrawn_at=None).update(withdrawn_at=at)
    GoldItem.objects.filter(created_by=user).update(reason="")
    QuerySkip.objects.filter(annotator=user).update(note="")
    CheckAction.objects.filter(annotator=user).exclude(message="").update(message="")
    CampaignAnnotator.objects.filter(user=user).exclude(paused="").update(paused="erased")


def _erase_account(user: User, at: datetime) -> None:
    user.username = f"erased-{user.public_id.hex[:8]}"
    user.name = user.email = user.language = ""
    user.password = make_password(None)
    user.is_active = user.is_staff = user.is_superuser = False
    user.suspended_at = user.last_login = None
    user.erased_at = at
    user.session_epoch += 1
    user.save()
