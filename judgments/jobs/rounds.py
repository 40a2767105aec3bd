"""Work that is due every so often: one worker at a time begins it."""

from datetime import datetime, timedelta

from judgments.models import Round


def is_round_due(*, name: str, every: timedelta, at: datetime) -> bool:
    """Whether the work of this name was begun at least `every` ago, or never."""
    return not Round.objects.filter(name=name, begun_at__gt=at - every).exists()


def begin_round(*, name: str, every: timedelta, at: datetime) -> bool:
    """Claim the work of this name; False where it is not due, or another worker was first."""
    if Round.objects.filter(name=name, begun_at__lte=at - every).update(begun_at=at):
        return True
    _, is_first = Round.objects.get_or_create(name=name, defaults={"begun_at": at})
    return is_first
