"""Who a token is for, and what it may do."""

import datetime as dt
from typing import TYPE_CHECKING, Any

from django.utils import timezone
from knox.auth import TokenAuthentication as KnoxAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from judgments.models import ApiToken, User

if TYPE_CHECKING:
    # REST framework reads our settings, and so this module, while it makes its views
    from rest_framework.views import APIView

# so that a busy script does not cost a write with every request
LAST_USE_PRECISION = dt.timedelta(minutes=1)


class TokenAuthentication(KnoxAuthentication):  # type: ignore[misc]
    """Knox's tokens, refusing what is not even text, and noting when a token was last used."""

    def authenticate_credentials(self, token: bytes) -> tuple[User, ApiToken]:
        """The token's owner and the token; AuthenticationFailed (401) if it is not valid."""
        # bytes that no token has would not even reach the comparison: the database refuses NUL
        if not token.isalnum():
            raise AuthenticationFailed("Invalid token.")
        user, api_token = super().authenticate_credentials(token)
        _note_use(api_token, timezone.now())
        return user, api_token


def _note_use(api_token: ApiToken, now: dt.datetime) -> None:
    last = api_token.last_used_at
    if last is None or now - last > LAST_USE_PRECISION:
        ApiToken.objects.filter(pk=api_token.pk).update(last_used_at=now)


class TokenScope(BasePermission):
    """A token may do at most what its owner may, and only read where its scope is read."""

    message = "This token is read-only."

    def has_permission(self, request: Request, view: "APIView") -> bool:
        """True for sessions; for tokens if the method fits the scope."""
        token: Any = request.auth
        if not isinstance(token, ApiToken) or request.method in SAFE_METHODS:
            return True
        return token.scope == ApiToken.Scope.WRITE


def person(request: Request) -> User:
    """The user of a request; views that no one may enter anonymously know that there is one."""
    if not isinstance(request.user, User):
        raise NotAuthenticated
    return request.user
