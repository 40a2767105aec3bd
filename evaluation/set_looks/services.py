"""Looks at the numbers of held-out sets."""

from datetime import datetime

from evaluation.evaluations.queries import SetChoice
from judgments.models import SetLook
from judgments.permissions import Access
from judgments.sets.looks import Looks
from judgments.sets.services import record_look


def count_look(
    *, access: Access, sets: SetChoice | None, page: SetLook.Page, at: datetime
) -> Looks | None:
    """Count that numbers of the chosen set are shown; None where it is not held out.

    sets: None of a page that shows no numbers.
    """
    if sets is None or sets.chosen is None:
        return None
    return record_look(
        access=access, saved_set=sets.chosen, list_slug=sets.list_slug, page=page, at=at
    )
