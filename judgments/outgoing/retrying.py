"""How long another server asks to be left alone; a function of plain values."""

from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime


def retry_after(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Seconds that a Retry-After header asks to wait: a number of seconds, or a date.

    headers: by lower-case name. None without the header, and for one that is neither.
    Source: RFC 9110, 10.2.3.
    """
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit() and len(text) < 10:
        return float(text)
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    if date.tzinfo is None:
        return None
    return max(0.0, (date - now).total_seconds())
