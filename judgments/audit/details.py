"""How the details of an audit entry are written, and found again by their subject."""

import json
from typing import Any, Final

LONGEST_SUBJECT: Final = 200


def write_detail(subject: str, before: Any, after: Any) -> str:
    """The side text of an entry; the subject comes first."""
    said = {"subject": subject[:LONGEST_SUBJECT], "before": before, "after": after}
    return json.dumps(said, ensure_ascii=False)


def detail_prefix(subject: str) -> str:
    """What the details of every entry with this subject begin with, and of no other."""
    return json.dumps({"subject": subject[:LONGEST_SUBJECT]}, ensure_ascii=False)[:-1] + ","
