"""What the header of every page shows."""

from typing import Any

from django.http import HttpRequest

from judgments.messages.queries import count_unread
from judgments.models import User


def bell(request: HttpRequest) -> dict[str, Any]:
    """`unread_notices`: how many notices the viewer has not read; counted where it is shown."""

    def unread_notices() -> int:
        user = getattr(request, "user", None)
        return count_unread(user) if isinstance(user, User) else 0

    return {"unread_notices": unread_notices}
