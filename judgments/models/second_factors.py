"""What people prove who they are with, beside a password."""

from django.conf import settings
from django.db import models

from judgments.models.secrets import Secret


class SecondFactor(models.Model):
    """A person's authenticator app, which shares a secret with this server.

    secret: encrypted. confirmed_at: since when it is asked for; None while it is being set up.
    last_step: of the last code that was accepted, so that none is accepted twice. failures: wrong
    codes since failing_since.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="second_factor"
    )
    secret = models.OneToOneField(Secret, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True)
    last_step = models.PositiveBigIntegerField(default=0)
    failures = models.PositiveSmallIntegerField(default=0)
    failing_since = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"second factor of {self.user_id}"


class SecurityKey(models.Model):
    """A person's security key (WebAuthn), which signs in the place of a code.

    credential_id: in hexadecimal. credential: its id and public key, as the key gave them.
    counter: of the last signature, if the key counts them.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="security_keys"
    )
    name = models.CharField(max_length=60)
    credential_id = models.CharField(max_length=2046, unique=True)
    credential = models.BinaryField()
    counter = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return self.name


class RecoveryCode(models.Model):
    """A code for the day on which the app is gone; only its hash is kept. Deleted when used."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="recovery_codes"
    )
    code_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"recovery code of {self.user_id}"
