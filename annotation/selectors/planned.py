"""What is to be planted for somebody: for leasing and for counts, never for a page."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet

from annotation.models import (
    OVERLAP_PURPOSES,
    Assignment,
    CheckPlan,
    Feedback,
    GoldItem,
    Label,
    Pair,
    QuerySkip,
)
from annotation.ordering import Key
from annotation.permissions import Desk
from annotation.planting import Given
from annotation.selectors.streams import get_stream, order_of
from judgments.models import User

Place = tuple[int, int, int]  # a query, a document, and the how many-th time it is met
TIMES = 20  # places in the order that gold may come again at
APART = 30  # labels of one's own between a pair and its repetition


@dataclass(frozen=True)
class Planned:
    """How much is planted in campaigns for one person. gold: how much there is for them."""

    plans: Mapping[int, CheckPlan]
    gold: Mapping[int, int]

    def count(self, campaign: int, *, plain: int) -> int:
        """How many pairs are planted among so many plain ones."""
        plan = self.plans.get(campaign)
        if plan is None:
            return 0
        rest = 100 - plan.gold_percent - plan.repeat_percent
        gold = plain * plan.gold_percent // rest
        if plan.when_used_up != CheckPlan.UsedUp.REUSE:
            gold = min(gold, self.gold.get(campaign, 0))
        return gold + plain * plan.repeat_percent // rest


class GoldAtHand(NamedTuple):
    """The gold of a campaign, and which of it somebody has not met. whole: by query."""

    all: frozenset[int]
    unmet: frozenset[int]
    whole: Mapping[int, tuple[int, ...]]


def list_planned(*, viewer: User, campaign_ids: Sequence[int]) -> Planned:
    """What the campaigns plant for the viewer."""
    active = Q(gold_percent__gt=0) | Q(repeat_percent__gt=0)
    plans_qs = CheckPlan.objects.filter(active, campaign__in=campaign_ids)
    plans = {plan.campaign_id: plan for plan in plans_qs}
    if not plans:
        return Planned({}, {})
    met = _met(viewer).exclude(purpose=Assignment.Purpose.GOLD)
    items_qs = GoldItem.objects.filter(campaign__in=plans, retired_at=None)
    counted = items_qs.exclude(Exists(met)).order_by().values_list("campaign")
    return Planned(plans, dict(counted.annotate(items=Count("pk"))))


def count_given(desk: Desk) -> dict[str, Given]:
    """How much the viewer was given so far, by what is planted."""
    purposes = Assignment.Purpose
    seats_qs = Assignment.objects.filter(annotator=desk.viewer, pair__campaign=desk.campaign)
    counts = dict(
        seats_qs.exclude(state=Assignment.State.VOIDED)
        .order_by()
        .values_list("purpose")
        .annotate(seats=Count("pk"))
    )
    plain = sum(counts.get(purpose, 0) for purpose in OVERLAP_PURPOSES)
    planted = (purposes.GOLD, purposes.REPEAT)
    return {purpose: Given(plain, counts.get(purpose, 0)) for purpose in planted}


def get_gold_at_hand(desk: Desk) -> GoldAtHand:
    """The gold of the campaign; the viewer meets none of it twice, and none of a skipped query."""
    skipped = _list_skipped(desk)
    items_qs = GoldItem.objects.filter(campaign=desk.campaign, retired_at=None)
    rows = list(
        items_qs.annotate(is_met=Exists(_met(desk.viewer)))
        .order_by("pair")
        .values_list("pair", "pair__query", "is_met")
    )
    by_query: dict[int, list[int]] = defaultdict(list)
    for pair, query, _ in rows:
        by_query[query].append(pair)
    sizes = dict(
        Pair.objects.filter(campaign=desk.campaign, query__in=by_query)
        .order_by()
        .values_list("query")
        .annotate(pairs=Count("pk"))
    )
    return GoldAtHand(
        frozenset(pair for pair, _, _ in rows),
        frozenset(pk for pk, query, is_met in rows if not is_met and query not in skipped),
        {query: tuple(own) for query, own in by_query.items() if len(own) == sizes[query]},
    )


def list_repeatable(desk: Desk, *, among: Sequence[int]) -> list[int]:
    """Pairs that the viewer labelled a while ago, and whose second place in the order lies
    between the pairs beside those of `among`."""
    labels_qs = Label.objects.exclude(pair__query__in=_list_skipped(desk)).filter(
        annotator=desk.viewer,
        pair__campaign=desk.campaign,
        superseded_by__isnull=True,
        outcome=Label.Outcome.GRADED,
        assignment__purpose__in=OVERLAP_PURPOSES,
    )
    in_turn = labels_qs.order_by("-received_at", "-pk")
    rows = list(in_turn.values_list("pair", "pair__query", "pair__document")[APART:])
    places = [(pair, (query, document, 1)) for pair, query, document in rows]
    found = [pair for pair, _ in _between(desk, among, places)]
    again = Assignment.objects.filter(annotator=desk.viewer, pair__in=found, occasion__gt=0)
    repeated = set(again.exclude(state=Assignment.State.VOIDED).values_list("pair", flat=True))
    return [pair for pair in found if pair not in repeated]


def list_reusable(desk: Desk, *, among: Sequence[int], after: int) -> dict[int, int]:
    """Gold that the viewer met at least `after` labels ago and may meet again, with the how
    many-th time that is; one of its next places in the order lies between the pairs beside `among`.

    Not what they were told the answer of, and nothing of a query that they skip.
    """
    labels_qs = Label.objects.filter(annotator=desk.viewer, pair__campaign=desk.campaign)
    in_turn = labels_qs.filter(superseded_by__isnull=True).order_by("-received_at", "-pk")
    newest = list(in_turn.values_list("pair", flat=True)[:after])
    if len(newest) < after:
        return {}
    in_use = GoldItem.objects.filter(pair=OuterRef("pair"), retired_at=None)
    seats_qs = Assignment.objects.filter(
        Exists(in_use), annotator=desk.viewer, pair__campaign=desk.campaign
    )
    seats_qs = seats_qs.exclude(state=Assignment.State.VOIDED)
    other = seats_qs.exclude(purpose=Assignment.Purpose.GOLD, state=Assignment.State.DONE)
    barred = {*newest, *other.values_list("pair", flat=True), *_list_told(desk)}
    rows = (
        seats_qs.exclude(pair__query__in=_list_skipped(desk))
        .order_by("pair")
        .values_list("pair", "pair__query", "pair__document")
        .annotate(last=Max("occasion"))
    )
    # each time has a place of its own: one of the next is likely to lie where the person is
    places = [
        (pair, (query, document, last + ahead))
        for ahead in range(TIMES, 0, -1)
        for pair, query, document, last in rows
        if pair not in barred
    ]
    return {pair: occasion for pair, (_, _, occasion) in _between(desk, among, places)}


def _list_told(desk: Desk) -> set[int]:
    """The pairs of the labels that the viewer had feedback on."""
    told_qs = Feedback.objects.filter(campaign=desk.campaign, annotator=desk.viewer)
    ids = [item["label"] for items in told_qs.values_list("items", flat=True) for item in items]
    return set(Label.objects.filter(pk__in=ids).values_list("pair", flat=True))


def _between(
    desk: Desk, among: Sequence[int], places: Sequence[tuple[int, Place]]
) -> list[tuple[int, Place]]:
    """Those of the pairs that stand between the pairs beside those of `among`.

    places: pairs, each with its query, its document, and the how many-th time it would be met.
    """
    if not places:
        return []
    low, high = _bounds(desk, among)
    order = order_of(desk)
    keys = [order.key(*place) for _, place in places]
    return [
        placed
        for placed, key in zip(places, keys, strict=True)
        if low < key and (high is None or key < high)
    ]


def _bounds(desk: Desk, among: Sequence[int]) -> tuple[Key | tuple[()], Key | None]:
    """Where the pairs before the first and after the last one of `among` stand in the order."""
    pairs = get_stream(desk).pairs
    first, last = pairs.index(among[0]), pairs.index(among[-1])
    outer = {place: pairs[place] for place in (first - 1, last + 1) if 0 <= place < len(pairs)}
    rows = Pair.objects.filter(pk__in=outer.values()).values_list("pk", "query", "document")
    order = order_of(desk)
    keys = {pk: order.key(query, document) for pk, query, document in rows}
    low = keys[outer[first - 1]] if first - 1 in outer else ()
    return low, keys[outer[last + 1]] if last + 1 in outer else None


def _list_skipped(desk: Desk) -> set[int]:
    skips_qs = QuerySkip.objects.filter(campaign=desk.campaign, annotator=desk.viewer)
    return set(skips_qs.filter(returned_at=None).values_list("query", flat=True))


def _met(viewer: User) -> QuerySet[Assignment]:
    seats_qs = Assignment.objects.filter(annotator=viewer, pair=OuterRef("pair"))
    return seats_qs.exclude(state=Assignment.State.VOIDED)
