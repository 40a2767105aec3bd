"""What someone says about a pair, and what it must be like."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from touchstone.errors import DomainError
from touchstone.scales import Scale

GRADED: Final = "graded"
OUTCOMES: Final = frozenset({GRADED, "unsure", "unjudgeable", "retracted"})
RETRACTED: Final = "retracted"
MAX_REASON_CHARACTERS: Final = 64
MAX_NOTE_CHARACTERS: Final = 4_000
MAX_SPANS: Final = 200
LONGEST_SECONDS: Final = 86_400.0

_HASH: Final = re.compile(r"[0-9a-f]{64}")
_UNSTORABLE: Final = re.compile("[\0\ud800-\udfff]")


class LabelRefused(DomainError):
    """The label can't be taken as it is; sending it again does not help."""


@dataclass(frozen=True, kw_only=True)
class Submission:
    """One statement as it comes from a page or a program.

    id: made by the client at the key press; the same id is the same label.
    assignment: the public id of the seat that it is for.
    outcome: graded (with a grade), unsure, unjudgeable, or retracted: takes the last one back.
    guideline_revision: the number of the revision that was shown.
    content_hash: of the document as it was shown; empty means as it is now.
    seconds: active time on the pair. made_at: the client's clock, with a time zone.
    spans: [{"field": "body", "start": 3, "end": 17}, …], offsets in characters.
    supersedes: the label that this one corrects, where the client knows it.
    """

    id: UUID
    assignment: UUID
    guideline_revision: int
    made_at: datetime
    outcome: str = GRADED
    grade: int | None = None
    reason: str = ""
    note: str = ""
    spans: Sequence[Mapping[str, Any]] = ()
    content_hash: str = ""
    seconds: float | None = None
    supersedes: UUID | None = None


def checked_submission(submission: Submission, *, scale: Scale) -> Submission:
    """The submission as it can be stored: texts without blanks around them, at most a day of
    activity. Raises LabelRefused for what can't be corrected.
    """
    _check_outcome(submission, scale)
    if submission.content_hash and not _HASH.fullmatch(submission.content_hash):
        raise LabelRefused("hash_invalid", "A content hash must have 64 hexadecimal digits.")
    if submission.made_at.tzinfo is None:
        raise LabelRefused("time_invalid", "made_at needs a time zone.")
    return replace(
        submission,
        reason=checked_words(submission.reason, MAX_REASON_CHARACTERS),
        note=checked_words(submission.note, MAX_NOTE_CHARACTERS),
        spans=_checked_spans(submission.spans),
        seconds=_checked_seconds(submission.seconds),
    )


def _check_outcome(submission: Submission, scale: Scale) -> None:
    if submission.outcome not in OUTCOMES:
        outcome = submission.outcome
        raise LabelRefused("outcome_unknown", "Unknown outcome “{outcome}”.", outcome=outcome)
    if submission.outcome != GRADED:
        if submission.grade is not None:
            raise LabelRefused("grade_unexpected", "Only graded labels can have a grade.")
    elif submission.grade is None or not scale.contains(submission.grade):
        raise LabelRefused(
            "grade_unknown", "The scale has no grade {grade}.", grade=submission.grade
        )


def checked_words(words: str, limit: int) -> str:
    """The text without blanks around it; LabelRefused if it is too long or can't be stored."""
    words = words.strip()
    if len(words) > limit:
        raise LabelRefused(
            "text_too_long", "The text must have at most {limit} characters.", limit=limit
        )
    if _UNSTORABLE.search(words):
        raise LabelRefused("text_invalid", "The text contains characters that can't be stored.")
    return words


def _checked_seconds(seconds: float | None) -> float | None:
    if seconds is None:
        return None
    if not math.isfinite(seconds) or seconds < 0:
        raise LabelRefused("seconds_invalid", "seconds must be a number from 0.")
    return min(float(seconds), LONGEST_SECONDS)


def _checked_spans(spans: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    if len(spans) > MAX_SPANS:
        raise LabelRefused(
            "spans_invalid", "A label can have at most {limit} spans.", limit=MAX_SPANS
        )
    return [_checked_span(span) for span in spans]


def _checked_span(span: Mapping[str, Any]) -> dict[str, Any]:
    match dict(span):
        case {"start": bool()} | {"end": bool()}:
            pass
        case {"field": str(name), "start": int(start), "end": int(end), **rest} if not rest:
            if 0 <= start < end < 2**31:
                return {"field": checked_words(name, 200), "start": start, "end": end}
    raise LabelRefused("spans_invalid", "A span needs a field, a start and a later end.")
