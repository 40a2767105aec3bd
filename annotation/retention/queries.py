"""For how long a collection keeps what."""

from dataclasses import dataclass

from annotation.models import Retention
from judgments.permissions import Access, check_may_archive


@dataclass(frozen=True)
class Choice:
    """Days for which times of labels and answers of machine judges are kept; None: no limit."""

    timing_days: int | None = None
    answer_days: int | None = None


def get_choice(*, access: Access) -> Choice:
    """What a collection's leads and administrators chose; for them."""
    check_may_archive(access)
    row = Retention.objects.filter(collection=access.collection).first()
    return Choice(row.timing_days, row.answer_days) if row else Choice()
