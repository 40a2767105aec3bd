"""Sign-ins and failures in the audit log, with the address and the browser that they came from."""

from typing import Any, Final

from axes.helpers import get_client_ip_address
from django.http import HttpRequest
from django.utils import timezone

from judgments.accounts.own_sessions import browser_of
from judgments.audit import services as audit
from judgments.models import User
from judgments.usernames import fold

PASSWORD: Final = "password"  # noqa: S105
CODE: Final = "code"
SECURITY_KEY: Final = "security key"
SIGN_ON: Final = "sign-on"


def record_sign_in(request: HttpRequest, user: User, *, by: str) -> None:
    """Note a sign-in. by: what proved who they are."""
    _record(request, "sign_in.succeeded", user, user, by=by)


def record_failure(request: HttpRequest, user: User, *, by: str) -> None:
    """Note a wrong password or code for this account, or a refusal."""
    _record(request, "sign_in.failed", user, None, by=by)


def note_wrong_password(
    sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any
) -> None:
    """Called at every wrong password, before it is counted.

    Usernames that no account has are not noted: people type passwords there. Nor is what is
    refused without a look while the address is locked out.
    """
    if request is None or getattr(request, "axes_locked_out", False):
        return
    username = fold(str(credentials.get("username", "")))
    user = User.objects.filter(username_key=username).first()
    if user is not None:
        record_failure(request, user, by=PASSWORD)


def _record(request: HttpRequest, action: str, user: User, actor: User | None, *, by: str) -> None:
    audit.record(
        collection=None,
        actor=actor,
        at=timezone.now(),
        action=action,
        subject=user.username,
        after={
            "by": by,
            "address": get_client_ip_address(request) or "",
            "browser": browser_of(request.headers.get("User-Agent", "")),
        },
    )
