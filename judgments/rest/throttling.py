"""How often a person may ask over REST. A view says `throttle_scope` where it is not "rest"."""

from typing import TYPE_CHECKING, Any

from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from judgments.models import User
from judgments.rate_limits import SCOPE, seconds_to_wait

if TYPE_CHECKING:
    # REST framework reads our settings, and so this module, while it makes its views
    from rest_framework.views import APIView


class PersonThrottle(BaseThrottle):
    """429 with Retry-After for a person with too many requests, over all their tokens."""

    _wait: int | None = None

    def allow_request(self, request: Request, view: "APIView") -> bool:
        """Whether this request is answered."""
        if isinstance(request.user, User):
            scope: Any = getattr(view, SCOPE, "rest")
            self._wait = seconds_to_wait(scope=scope, person=request.user.pk)
        return self._wait is None

    def wait(self) -> float | None:
        """Seconds until the next request is answered."""
        return self._wait
