"""What a document's text is, as one number that changes when the text does."""

import hashlib
import json
from collections.abc import Mapping

FIELD_END = "\x1f"


def content_hash(
    title: str, body: str, fields: Mapping[str, object] | None = None, url: str = ""
) -> str:
    """SHA-256 of all that an annotator is shown of a document, as 64 hexadecimal digits.

    title, body, url: text, as stored.
    fields: further fields by name; their order does not matter; None is the same as empty.
    A label names the hash of what was on the screen, so a later change of the text is noticed.
    The parts are joined by a line end and the unit separator, so that moving a word from the title
    to the body gives another hash.
    Raises TypeError for a field that JSON does not know, ValueError for text that is not Unicode.
    """
    canonical = json.dumps(
        dict(fields or {}),
        ensure_ascii=False,
        sort_keys=True,
        separators=(",", ":"),
        allow_nan=False,
    )
    text = f"{title}\n{FIELD_END}{body}{FIELD_END}{canonical}{url}"
    return hashlib.sha256(text.encode("utf-8")).hexdigest()
