"""Views that ask a person again who they are; judgments/middleware.py sees to it."""

from typing import TypeVar

IS_CONFIRMED = "is_confirmed"
View = TypeVar("View")


def confirmed(view: View) -> View:
    """Mark a view whose changes take a password or a code, unless one was just given."""
    setattr(view, IS_CONFIRMED, True)
    return view
