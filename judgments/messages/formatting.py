"""A message in words, in the language that is active."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from django.utils.formats import date_format
from django.utils.translation import gettext

from judgments.messages.kinds import EnglishPattern, pattern_of
from judgments.templatetags.touchstone import thousands


@dataclass(frozen=True)
class Words:
    """A message in words: its subject, on one line, and its text. is_english: in any language."""

    subject: str
    text: str
    is_english: bool


def words_of(kind: str, payload: Mapping[str, object]) -> Words:
    """What a message says. Raises KeyError for an unknown kind or a value that is missing."""
    pattern = pattern_of(kind, payload)
    values = {name: _shown(name, value) for name, value in payload.items()}
    subject = " ".join(gettext(pattern.subject).format_map(values).split())
    return Words(
        subject=subject[:200],
        text=gettext(pattern.text).format_map(values),
        is_english=isinstance(pattern, EnglishPattern),
    )


def _shown(name: str, value: object) -> str:
    """A value of a payload: a date, a marked text, a number, or what people wrote."""
    if name == "due":
        return date_format(date.fromisoformat(str(value)), gettext("j F"))
    if name == "reason":
        return gettext(str(value))
    return thousands(value) if isinstance(value, int) else str(value)
