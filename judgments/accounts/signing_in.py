"""A sign-in with a password, in one step, or in two where a second factor is on."""

import time
from typing import Final

from django.conf import settings
from django.contrib.auth import login
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from judgments.accounts.second_factor import has_second_factor
from judgments.accounts.services import record_break_glass
from judgments.accounts.sign_in_log import CODE, PASSWORD, record_sign_in
from judgments.models import User

BACKEND: Final = "django.contrib.auth.backends.ModelBackend"
HALF_SIGNED_IN: Final = "half_signed_in"  # whose password was right: id, session hash, when
SECOND_FACTOR: Final = "second_factor"  # the session was signed in with one
SIGNED_ON: Final = "signed_on"  # the session comes from the identity provider
LONGEST: Final = 600  # seconds between the password and the code


def begin_sign_in(request: HttpRequest, user: User) -> bool:
    """Sign in a person whose password was right; False where their code must come first."""
    if not has_second_factor(user):
        sign_in(request, user)
        return True
    request.session.flush()  # nothing of an earlier user of this browser
    request.session[HALF_SIGNED_IN] = [user.pk, user.get_session_auth_hash(), int(time.time())]
    return False


def get_half_signed_in(request: HttpRequest) -> User | None:
    """Whose password was right in this browser, less than LONGEST ago, and still is."""
    pk, sealed, since = request.session.get(HALF_SIGNED_IN) or (0, "", 0)
    user = User.objects.filter(pk=pk, is_active=True).first()
    if user is None or time.time() - since > LONGEST:
        return None
    return user if constant_time_compare(sealed, user.get_session_auth_hash()) else None


def complete_sign_in(request: HttpRequest, user: User, *, by: str = CODE) -> None:
    """Sign in a person whose password and code, or security key, were right."""
    del request.session[HALF_SIGNED_IN]
    sign_in(request, user, by=by)
    request.session[SECOND_FACTOR] = True


def sign_in(request: HttpRequest, user: User, *, by: str = PASSWORD) -> None:
    """Sign in a person who has proved who they are; `by` says how."""
    login(request, user, backend=BACKEND)
    record_sign_in(request, user, by=by)
    if settings.SIGN_ON_ONLY:
        record_break_glass(user=user, at=timezone.now())
