"""A campaign's labels as CSV, JSON lines or Parquet: all that a script needs to compute the report.

The first columns are those that an import reads. Rows are written while they are read.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, Final

from django.db.models import Case, Exists, OuterRef, Q, QuerySet, Subquery, Value, When

from annotation.campaigns.people import pseudonyms_of
from annotation.consolidation.overlap import overlap_labels
from annotation.models import Adjudication, Assignment, Campaign, Label, Pair
from annotation.models.labels import MADE_AT
from annotation.permissions import check_may_read_labels
from judgments.permissions import Access, may_see_people
from touchstone.files.csv_lines import csv_lines
from touchstone.files.parquet import MEDIA_TYPE, parquet_chunks

AT_ONCE: Final = 2_000  # rows of the database in memory
FREE_TEXTS: Final = ("reason", "note")  # may identify a person: for leads alone
# the columns, their types, and where `_labels_qs` has them
SOURCES: Final[Mapping[str, tuple[type, str]]] = {
    "annotator": (str, "annotator__username"),
    "query_id": (str, "pair__query__qid"),
    "doc_id": (str, "pair__document__docid"),
    "grade": (int, "grade"),
    "made_at": (datetime, "said_at"),
    "seconds": (float, "timing__seconds"),
    "note": (str, "note_text__text"),
    "final_grade": (int, "final_grade"),
    "counts": (bool, "counts"),
    "outcome": (str, "outcome"),
    "reason": (str, "reason_text__text"),
    "purpose": (str, "assignment__purpose"),
    "set_aside": (bool, "set_aside"),
    "gold_low": (int, "gold_check__item__low"),
    "gold_high": (int, "gold_check__item__high"),
    "gold_error": (int, "gold_check__error"),
    "segment": (str, "pair__query__segment"),
    "pair_grade": (int, "pair__grade"),
    "pair_state": (str, "pair__state"),
    "guideline_revision": (int, "guideline_revision__number"),
    "content_hash": (str, "content_hash"),
    "received_at": (datetime, "received_at"),
    "is_blind": (bool, "is_blind"),
    "label": (str, "pk"),
    "supersedes": (str, "supersedes_id"),
}
COLUMNS: Final = tuple(SOURCES)
Row = dict[str, Any]


@dataclass(frozen=True)
class LabelChoice:
    """counting: only labels that count for grades and agreement. pseudonyms: not user names."""

    counting: bool = False
    pseudonyms: bool = False


def label_file(
    *, access: Access, campaign: Campaign, form: str, choice: LabelChoice
) -> Iterator[bytes]:
    """The file in portions, its labels in the order in which they came. form: of WRITERS.

    Leads and admins get names and texts; researchers, once the campaign is closed, pseudonyms and
    no texts. counts: the label is its annotator's newest word on the pair, in the overlap, and not
    set aside. gold_low, gold_high, gold_error: what it was checked against, and how many steps it
    is off. final_grade: a lead's decision on the pair.
    """
    check_may_read_labels(access, campaign)
    sees_people = may_see_people(access)
    is_hidden = choice.pseudonyms or not sees_people
    rows = _rows(
        campaign,
        choice,
        pseudonyms=pseudonyms_of(access=access) if is_hidden else None,
        left_out=() if sees_people else FREE_TEXTS,
    )
    return WRITERS[form](rows, campaign.name)


def _rows(
    campaign: Campaign,
    choice: LabelChoice,
    *,
    pseudonyms: Mapping[int, str] | None,
    left_out: Iterable[str],
) -> Iterator[Row]:
    """pseudonyms: by person, instead of user names. left_out: columns that stay empty."""
    sources = [source for _, source in SOURCES.values()]
    chosen = _labels_qs(campaign, choice).values_list("annotator", *sources)
    for person, *values in chosen.iterator(chunk_size=AT_ONCE):
        row = dict(zip(COLUMNS, values, strict=True))
        row |= dict.fromkeys(left_out)
        if pseudonyms is not None:
            row["annotator"] = pseudonyms[person]
        yield row


def _labels_qs(campaign: Campaign, choice: LabelChoice) -> QuerySet[Any]:
    labels_qs = overlap_labels() if choice.counting else Label.objects.all()
    decided = Adjudication.objects.filter(pair=OuterRef("pair")).order_by("-pair_seq")
    grade = Subquery(decided.values("grade")[:1])
    is_aside = Q(assignment__state=Assignment.State.ASIDE)
    return labels_qs.filter(pair__campaign=campaign).annotate(
        said_at=MADE_AT,
        final_grade=Case(When(pair__state=Pair.State.ADJUDICATED, then=grade)),
        counts=Exists(overlap_labels().filter(pk=OuterRef("pk"))),
        set_aside=Case(When(is_aside, then=Value(True)), default=Value(False)),
    )


def _csv(rows: Iterable[Row], name: str) -> Iterator[bytes]:
    lines = csv_lines(chain([COLUMNS], (map(_cell, row.values()) for row in rows)))
    return (line.encode() for line in lines)


def _jsonl(rows: Iterable[Row], name: str) -> Iterator[bytes]:
    for row in rows:
        values = {column: _plain(value) for column, value in row.items()}
        yield (json.dumps(values, ensure_ascii=False) + "\n").encode()


def _parquet(rows: Iterable[Row], name: str) -> Iterator[bytes]:
    kinds = {column: kind for column, (kind, _) in SOURCES.items()}
    texts = [column for column, kind in kinds.items() if kind is str]

    def values() -> Iterator[list[Any]]:
        for row in rows:
            row |= {column: _plain(row[column]) for column in texts}
            yield list(row.values())

    return parquet_chunks(kinds, values(), title=f"Labels of {name}")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return value if value is None or isinstance(value, bool | int | float) else str(value)


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    value = _plain(value)
    # an import reads a label a line
    return " ".join(value.splitlines()) if isinstance(value, str) else value


WRITERS: Final[Mapping[str, Callable[[Iterable[Row], str], Iterator[bytes]]]] = {
    "csv": _csv,
    "jsonl": _jsonl,
    "parquet": _parquet,
}
CONTENT_TYPES: Final = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/x-ndjson; charset=utf-8",
    "parquet": MEDIA_TYPE,
}
