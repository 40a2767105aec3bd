"""How someone likes to work, for that person's own pages."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotation.models import LabellingPreferences
from judgments.models import User


@dataclass(frozen=True)
class Preferences:
    """A person's keys, where they differ from the usual ones, and view of the labelling page."""

    keys: Mapping[str, str]
    text_size: int
    line_width: str
    marks_terms: bool


def get_preferences(*, viewer: User) -> Preferences:
    """The viewer's own preferences; the usual ones where they never chose."""
    row = LabellingPreferences.objects.filter(user=viewer).first() or LabellingPreferences()
    return Preferences(
        keys=row.keys,
        text_size=row.text_size,
        line_width=row.line_width,
        marks_terms=row.marks_terms,
    )
