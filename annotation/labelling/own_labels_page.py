"""An annotator's own labels as a table, from which each can be opened again."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from django.core.paginator import Page
from django.db.models import F, Func, QuerySet
from django.db.models.functions import Substr

from annotation.labelling.own_labels import ALL, Wanted, own_labels
from annotation.labelling.shown_pairs import Pictures
from annotation.models import Campaign, Label
from annotation.models.labels import MADE_AT
from annotation.permissions import AnnotatorContext
from judgments.lists.queries import GradeShown, show_grade
from judgments.pages.paging import paginate, put_in_order
from touchstone.scales import Scale

BEGINNING: Final = 90  # characters of a text that has no title
COLUMNS: Final[Mapping[str, tuple[F | Func, ...]]] = MappingProxyType(
    {
        "made": (MADE_AT,),
        "query": (F("pair__query__text"), F("pair__query")),
        "title": (F("pair__document__title"),),
        "grade": (F("grade"),),
    }
)


@dataclass(frozen=True)
class OwnLabelRow:
    """grade: None where the annotator could not tell. picture: the name of the document's first
    stored picture, None where it has none."""

    id: UUID
    made_at: datetime
    query_text: str
    title: str
    picture: UUID | None
    grade: GradeShown | None
    note: str


@dataclass(frozen=True)
class OwnLabelsPage:
    """grades: of the scale, the best first. sort: as `put_in_order` has it. total: of all labels,
    not only of those that were searched for."""

    campaign: Campaign
    rows: "Page[OwnLabelRow]"
    grades: tuple[GradeShown, ...]
    sort: str
    total: int
    is_filtered: bool


def get_own_labels_page(
    context: AnnotatorContext, *, wanted: Wanted, sort: str, page: str
) -> OwnLabelsPage:
    """The viewer's labels that hold and are wanted, the newest first unless sorted otherwise."""
    labels_qs, sort = put_in_order(
        own_labels(context, wanted),
        sort=sort,
        columns=COLUMNS,
        last=("-received_at", "-pk"),
        default="-made",
    )
    scale = Scale.from_json(context.campaign.list.scale)
    return OwnLabelsPage(
        campaign=context.campaign,
        rows=paginate(_rows(labels_qs), page=page, show=partial(_show, context)),
        grades=tuple(show_grade(scale, code) for code in reversed(scale.codes)),
        sort=sort,
        total=own_labels(context).count(),
        is_filtered=wanted != ALL,
    )


def _rows(labels_qs: QuerySet[Label]) -> QuerySet[Label, Any]:
    return labels_qs.values(
        "pk", "grade",
        made=MADE_AT,
        query=F("pair__query__text"),
        title=F("pair__document__title"),
        url=F("pair__document__url"),
        document=F("pair__document"),
        beginning=Substr("pair__document__body", 1, BEGINNING),
        note=F("note_text__text"),
    )  # fmt: skip


def _show(context: AnnotatorContext, rows: list[dict[str, Any]]) -> list[OwnLabelRow]:
    scale = Scale.from_json(context.campaign.list.scale)
    pictures = Pictures(context.campaign, {row["document"] for row in rows})
    return [
        OwnLabelRow(
            id=row["pk"],
            made_at=row["made"],
            query_text=row["query"],
            title=row["title"] or row["beginning"] or row["url"],
            picture=next((one.name for one in pictures.of(row["document"]) if one.name), None),
            grade=None if row["grade"] is None else show_grade(scale, row["grade"]),
            note=row["note"] or "",
        )
        for row in rows
    ]
