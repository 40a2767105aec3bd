"""People: who may enter a collection, in which role, with which token, and what they did."""

import json
import uuid
from typing import Any, ClassVar

from django.conf import settings
from django.contrib.auth.models import AbstractUser, UserManager
from django.db import models
from django.utils.crypto import salted_hmac
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy
from knox.models import AbstractAuthToken

from judgments.models.collections import Collection
from judgments.models.side_texts import side_text_key, text_of
from judgments.usernames import fold


class Role(models.TextChoices):
    """What a member is in one collection; an installation's superuser is its admin."""

    ANNOTATOR = "annotator", gettext_lazy("annotator")
    RESEARCHER = "researcher", gettext_lazy("researcher")
    LEAD = "lead", gettext_lazy("lead")


class FoldedUsername(models.CharField):  # type: ignore[type-arg]
    """The folded form of the user name, written with every insert."""

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        """The value to store, which also goes to the instance."""
        user: Any = model_instance  # User, or what a migration has in its place
        user.username_key = fold(user.username)
        return str(user.username_key)


class Accounts(UserManager["User"]):
    """Accounts, found by their user name in any case and Unicode form."""

    def get_by_natural_key(self, username: str | None) -> "User":
        """The account that signs in under this name; DoesNotExist if there is none."""
        return self.get(username_key=fold(username or ""))


class User(AbstractUser):  # type: ignore[django-manager-missing]
    """A person. Never deleted once something was done in their name.

    username_key: the folded user name; two names that differ by case or Unicode form alone are one.
    suspended_at: since when the account is suspended; while it is, `is_active` is False. An account
    that is not active without being suspended is a name that imported labels came with.
    erased_at: since when nothing of the person is kept but what they did, under this row's number.
    session_epoch: raised to end all sessions.
    language: the code of the language that translated pages are in; empty: the browser's.
    """

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField("full name", max_length=200, blank=True, default="")

    username_key = FoldedUsername(max_length=600, unique=True, editable=False)
    suspended_at = models.DateTimeField(null=True, editable=False)
    erased_at = models.DateTimeField(null=True, editable=False)
    session_epoch = models.PositiveIntegerField(default=0, editable=False)
    language = models.CharField(max_length=8, blank=True, default="")

    first_name = None  # type: ignore[assignment]  # `name` holds whatever people call themselves
    last_name = None  # type: ignore[assignment]

    objects: ClassVar[Accounts] = Accounts()

    class Meta:
        ordering = ("id",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(suspended_at=None) | models.Q(is_active=False),
                name="suspended_is_not_active",
            ),
        )

    def __str__(self) -> str:
        return self.name or self.username

    @property
    def is_suspended(self) -> bool:
        """Whether the account is suspended."""
        return self.suspended_at is not None

    def _get_session_auth_hash(self, secret: str | None = None) -> str:
        """Django's, which ends sessions with the password, and with a raised epoch."""
        sealed = self.password + (f" {self.session_epoch}" if self.session_epoch else "")
        salt = "django.contrib.auth.models.AbstractBaseUser.get_session_auth_hash"
        return salted_hmac(salt, sealed, secret=secret, algorithm="sha256").hexdigest()

    def get_full_name(self) -> str:
        return self.name or self.username

    def get_short_name(self) -> str:
        return self.name or self.username


class Members(models.Manager["Membership"]):
    """Those who are members now."""

    def get_queryset(self) -> models.QuerySet["Membership"]:
        return super().get_queryset().filter(ended_at=None)


class Membership(models.Model):
    """One person's role in one collection.

    `objects` holds those who are members now; `ever` also those who were: the row stays, so that
    a pseudonym is one person's for good.

    pseudonym: how researchers see this person, e.g. "person 3".
    is_annotating: True while the person annotates in an open campaign of the collection, and
    therefore has no researcher's view of it. Kept by the annotation app, as a plain value.
    tags: the languages and skills of the person, as leads name them; see members/tags.py.
    """

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships"
    )
    role = models.CharField(max_length=16, choices=Role.choices)
    pseudonym = models.CharField(max_length=64)
    is_annotating = models.BooleanField(default=False)
    tags = models.JSONField(default=list)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    objects = Members()
    ever: "models.Manager[Membership]" = models.Manager()

    class Meta:
        ordering = ("collection", "id")
        base_manager_name = "ever"
        constraints = (
            models.UniqueConstraint(fields=("collection", "user"), name="membership_once"),
            models.UniqueConstraint(fields=("collection", "pseudonym"), name="pseudonym_once"),
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="membership_role_known"
            ),
        )

    def __str__(self) -> str:
        return f"{self.user_id} {self.role}"


class Invitation(models.Model):
    """A link that lets one person join; only its hash is kept."""

    collection = models.ForeignKey(Collection, on_delete=models.PROTECT, related_name="invitations")
    role = models.CharField(max_length=16, choices=Role.choices)
    note = models.CharField(max_length=200, blank=True, default="")
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("collection", "id")

    def __str__(self) -> str:
        return f"{self.role} of {self.collection_id}"


class ApiToken(AbstractAuthToken):  # type: ignore[misc]
    """A named key for scripts, stored hashed and shown once."""

    class Scope(models.TextChoices):
        READ = "read", "read"
        WRITE = "write", "read and write"

    name = models.CharField(max_length=100)
    scope = models.CharField(max_length=8, choices=Scope.choices, default=Scope.READ)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("created",)

    def __str__(self) -> str:
        return self.name


class AuditSeal(models.Model):
    """A batch of audit entries, sealed with a key that is not in the database; each after the last.

    entries: for each entry in it a line with its id and the SHA-256 of its facts.
    mac: HMAC-SHA256 over number, the MAC before, time and entries, in hexadecimal.
    """

    number = models.PositiveIntegerField(primary_key=True)
    sealed_at = models.DateTimeField()
    entries = models.TextField()
    mac = models.CharField(max_length=64)

    class Meta:
        ordering = ("number",)

    def __str__(self) -> str:
        return str(self.number)


class AuditEntry(models.Model):
    """Who changed what, when, and how it was before; written with the change itself.

    detail: what it was done to, how that was before and is after, as JSON; names people.
    subject, before, after: the same, read; empty and None once it is erased.
    seal: the batch in which it was sealed, seconds later; null until then.
    """

    collection = models.ForeignKey(
        Collection, null=True, on_delete=models.PROTECT, related_name="audit_entries"
    )
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+"
    )
    at = models.DateTimeField()
    action = models.CharField(max_length=64)
    detail = side_text_key()
    seal = models.ForeignKey(
        AuditSeal, null=True, on_delete=models.PROTECT, db_index=False, related_name="+"
    )

    class Meta:
        ordering = ("id",)
        indexes = (
            models.Index(fields=("collection", "at"), name="audit_time"),
            models.Index(
                fields=("id",), condition=models.Q(seal__isnull=True), name="audit_unsealed"
            ),
        )

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"

    @cached_property
    def _said(self) -> dict[str, Any]:
        text = text_of(self, "detail")
        said: dict[str, Any] = json.loads(text) if text else {}
        return said

    @property
    def subject(self) -> str:
        """What it was done to, in words."""
        return str(self._said.get("subject", ""))

    @property
    def before(self) -> Any:
        """How it was, as plain JSON values."""
        return self._said.get("before")

    @property
    def after(self) -> Any:
        """How it is, as plain JSON values."""
        return self._said.get("after")
