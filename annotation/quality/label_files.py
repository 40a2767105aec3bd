"""A campaign's labels as CSV or JSON lines: all that a script needs to compute the report again.

The first columns are those that an import reads.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, Final

from django.db.models import Case, Exists, OuterRef, QuerySet, Subquery, When

from annotation.campaigns.people import pseudonyms_of
from annotation.consolidation.overlap import overlap_labels
from annotation.models import Adjudication, Campaign, Label, Pair
from annotation.models.labels import MADE_AT
from annotation.permissions import check_may_watch
from judgments.permissions import Access
from touchstone.files.csv_lines import csv_lines

AT_ONCE: Final = 2_000  # rows of the database in memory
# the columns, and where `_labels_qs` has them
SOURCES: Final = {
    "annotator": "annotator__username",
    "query_id": "pair__query__qid",
    "doc_id": "pair__document__docid",
    "grade": "grade",
    "made_at": "said_at",
    "seconds": "timing__seconds",
    "note": "note_text__text",
    "final_grade": "final_grade",
    "counts": "counts",
    "outcome": "outcome",
    "reason": "reason_text__text",
    "purpose": "assignment__purpose",
    "gold_low": "gold_check__item__low",
    "gold_high": "gold_check__item__high",
    "guideline_revision": "guideline_revision__number",
    "received_at": "received_at",
    "is_blind": "is_blind",
    "label": "pk",
    "supersedes": "supersedes_id",
}
COLUMNS: Final = tuple(SOURCES)
MEDIA_TYPES: Final = {"csv": "text/csv", "jsonl": "application/x-ndjson"}
Row = dict[str, Any]


@dataclass(frozen=True)
class LabelChoice:
    """counting: only labels that count for grades and agreement. pseudonyms: not user names."""

    counting: bool = False
    pseudonyms: bool = False


def label_lines(
    *, access: Access, campaign: Campaign, form: str, choice: LabelChoice
) -> Iterator[str]:
    """The lines of the file, in the order in which labels came. form: a key of MEDIA_TYPES.

    counts: the label is its annotator's newest word on the pair, in the overlap, and not set aside.
    gold_low, gold_high: what it was checked against. final_grade: a lead's decision on the pair.
    """
    check_may_watch(access, campaign)
    rows = _rows(campaign, choice, pseudonyms_of(access=access) if choice.pseudonyms else None)
    if form == "jsonl":
        return (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return csv_lines(chain([COLUMNS], (map(_cell, row.values()) for row in rows)))


def _rows(
    campaign: Campaign, choice: LabelChoice, pseudonyms: Mapping[int, str] | None
) -> Iterator[Row]:
    """pseudonyms: by person, instead of user names."""
    chosen = _labels_qs(campaign, choice).values_list("annotator", *SOURCES.values())
    for person, *values in chosen.iterator(chunk_size=AT_ONCE):
        row = dict(zip(COLUMNS, map(_plain, values), strict=True))
        if pseudonyms is not None:
            row["annotator"] = pseudonyms[person]
        yield row


def _labels_qs(campaign: Campaign, choice: LabelChoice) -> QuerySet[Any]:
    labels_qs = overlap_labels() if choice.counting else Label.objects.all()
    decided = Adjudication.objects.filter(pair=OuterRef("pair")).order_by("-pair_seq")
    grade = Subquery(decided.values("grade")[:1])
    return labels_qs.filter(pair__campaign=campaign).annotate(
        said_at=MADE_AT,
        final_grade=Case(When(pair__state=Pair.State.ADJUDICATED, then=grade)),
        counts=Exists(overlap_labels().filter(pk=OuterRef("pk"))),
    )


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    # an import reads a label a line
    return " ".join(value.splitlines()) if isinstance(value, str) else value
