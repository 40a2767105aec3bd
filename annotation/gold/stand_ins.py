"""What may be shown in place of other pairs: for leasing, never for a page."""

from collections import defaultdict
from collections.abc import Collection
from typing import Final

from django.db.models import Exists, OuterRef

from annotation.gold.planting import Place
from annotation.models import (
    OVERLAP_PURPOSES,
    Assignment,
    GoldItem,
    Label,
    Pair,
    QuerySkip,
    StandIn,
)
from annotation.permissions import AnnotatorContext
from annotation.seats.streams import order_of
from judgments.storage.bulk import Among

APART: Final = 30  # labels of one's own between a pair and its repetition
LOOKED_BACK: Final = 500  # labels before those from which a repetition is drawn


def list_undrawn(context: AnnotatorContext, queries: Collection[int]) -> list[int]:
    """Those of the queries for which nothing has been drawn for the viewer yet."""
    drawn_qs = StandIn.objects.filter(
        Among("query", queries), campaign=context.campaign, annotator=context.viewer, replaced=None
    )
    return sorted(set(queries) - set(drawn_qs.values_list("query", flat=True)))


def list_places(context: AnnotatorContext, queries: Collection[int]) -> dict[int, list[Place]]:
    """All pairs of the queries in the viewer's order, by query."""
    known = Assignment.objects.filter(annotator=context.viewer, pair=OuterRef("pk"))
    gold = GoldItem.objects.filter(pair=OuterRef("pk"), retired_at=None)
    pairs_qs = Pair.objects.filter(Among("query", queries), campaign=context.campaign).order_by()
    rows = pairs_qs.annotate(is_gold=Exists(gold), is_known=Exists(known)).values_list(
        "query", "document", "pk", "is_gold", "is_known"
    )
    order = order_of(context)
    places: dict[int, list[Place]] = defaultdict(list)
    in_order = sorted(rows, key=lambda row: order.key(query=row[0], document=row[1], pair=row[2]))
    for query, _, pair, is_gold, is_known in in_order:
        places[query].append(Place(pair, is_gold, is_known))
    return places


def list_waiting(context: AnnotatorContext, pairs: Collection[int]) -> list[StandIn]:
    """The places of these pairs that are to repeat something, no one has said what, and the viewer
    has not been at."""
    known = Assignment.objects.filter(annotator=context.viewer, pair=OuterRef("replaced"))
    waiting_qs = StandIn.objects.filter(
        Among("replaced", pairs), annotator=context.viewer, purpose="repeat", shown=None
    )
    return list(waiting_qs.exclude(Exists(known)).order_by("pk"))


def list_repeatable(context: AnnotatorContext) -> list[int]:
    """Pairs that the viewer graded a while ago and has not been shown again."""
    skips_qs = QuerySkip.objects.filter(campaign=context.campaign, annotator=context.viewer)
    shown = StandIn.objects.filter(annotator=context.viewer, shown=OuterRef("pair"))
    gold = GoldItem.objects.filter(pair=OuterRef("pair"), retired_at=None)
    labels_qs = Label.objects.filter(
        annotator=context.viewer,
        pair__campaign=context.campaign,
        superseded_by__isnull=True,
        outcome=Label.Outcome.GRADED,
        assignment__purpose__in=OVERLAP_PURPOSES,
    )
    skipped = skips_qs.filter(returned_at=None).values("query")
    in_turn = labels_qs.order_by("-received_at", "-pk").annotate(
        is_out=Exists(shown) | Exists(gold)
    )
    newest = in_turn.exclude(pair__query__in=skipped).values_list("pair", "is_out")
    return sorted(pair for pair, is_out in newest[APART : APART + LOOKED_BACK] if not is_out)
