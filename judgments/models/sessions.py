"""Sign-ins: which browser is signed in as whom."""

from django.conf import settings
from django.contrib.sessions.base_session import AbstractBaseSession
from django.db import models


class Session(AbstractBaseSession):
    """A browser's session, as Django keeps it, with what tells its owner which one it is.

    user: None before the sign-in. agent: what the browser calls itself. seen_at: when it was
    last used, to a few minutes.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="sessions"
    )
    agent = models.CharField(max_length=200, blank=True, default="")
    started_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("-seen_at", "session_key")

    def __str__(self) -> str:
        return f"session of {self.user_id}"
