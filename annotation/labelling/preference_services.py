"""Keeping how someone likes to work."""

from collections.abc import Mapping

from annotation.models import LabellingPreferences
from annotation.pages.keys import checked_keys
from judgments.models import User


def set_preferences(
    *,
    by: User,
    keys: Mapping[str, str],
    text_size: int,
    line_width: str,
    marks_terms: bool,
) -> None:
    """Keep a person's own preferences; raises KeysRefused for keys that can't be like this."""
    LabellingPreferences.objects.update_or_create(
        user=by,
        defaults={
            "keys": checked_keys(keys),
            "text_size": text_size,
            "line_width": line_width,
            "marks_terms": marks_terms,
        },
    )
