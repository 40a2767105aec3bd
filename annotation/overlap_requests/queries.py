"""Of which pairs one more label can be asked for at once, and what has become of such wishes."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import (
    Case,
    Count,
    Exists,
    F,
    IntegerField,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.functions import Coalesce

from annotation.consolidation.overlap import overlap_grades
from annotation.models import (
    OVERLAP_PURPOSES,
    Assignment,
    Campaign,
    CampaignAnnotator,
    GoldItem,
    OneMoreLabel,
    Pair,
    QualityReport,
)
from annotation.permissions import check_may_run
from annotation.quality.assessment import (
    FEWEST_IN_SEGMENT,
    FEWEST_PAIRS,
    name_segment,
    pairs_wanted,
)
from annotation.quality.figures import LEVEL
from annotation.quality.queries import figures_of
from annotation.seats.ordering import Order
from judgments.models import User
from judgments.permissions import Access

MOST_AT_ONCE: Final = 2_000
TO_BE_FILLED: Final = Q(
    state__in=(Assignment.State.FREE, Assignment.State.LEASED), purpose__in=OVERLAP_PURPOSES
)
OF_PAIR: Final = Q(pair=OuterRef("pk"))


class Obstacle(NamedTuple):
    """Why one more label can't be asked for: a code, and a sentence. of_many: of several pairs."""

    code: str
    message: str
    of_many: str


@dataclass(frozen=True)
class Asked:
    """Labels that were asked for together. coming: those that no one has given yet."""

    batch: UUID
    words: str
    at: datetime
    by: User
    pairs: int
    coming: int
    withdrawn: int

    @property
    def labelled(self) -> int:
        return self.pairs - self.coming - self.withdrawn


@dataclass(frozen=True)
class OverlapPage:
    """For how many pairs one more label can be asked.

    segment: None for all of the campaign. once, more: pairs with exactly one label, and with
    more, that no one is asked for as it is. proposed: how many are asked for where no one says
    otherwise. left_out: other pairs, and why, in words. seconds: of a
    label, on average; None where nothing was measured.
    """

    campaign: Campaign
    segment: str | None
    words: str
    once: int
    more: int
    proposed: int
    seconds: float | None
    asked: tuple[Asked, ...]
    left_out: tuple[str, ...]

    @property
    def minutes(self) -> float | None:
        return None if self.seconds is None else self.proposed * self.seconds / 60


def get_overlap_page(*, access: Access, campaign: Campaign, segment: str | None) -> OverlapPage:
    """What a lead sees before asking for one more label of many pairs."""
    check_may_run(access, campaign)
    figures = figures_of(QualityReport.objects.filter(campaign=campaign).first())
    given = [labels for _, labels in list_askable(campaign, segment)]
    coming = _of_segment(list_coming(campaign), segment, "pair__query__segment").count()
    wanted = max(0, _wanted(figures, segment) - coming) or FEWEST_IN_SEGMENT
    return OverlapPage(
        campaign=campaign,
        segment=segment,
        words=scope_in_words(segment),
        once=given.count(1),
        more=len(given) - given.count(1),
        proposed=min(wanted, given.count(1) or len(given), MOST_AT_ONCE),
        seconds=figures["time"]["mean_seconds"] if figures.get("labels") else None,
        asked=tuple(_list_asked(campaign)),
        left_out=list_left_out(campaign, segment),
    )


def scope_in_words(segment: str | None) -> str:
    return "the whole campaign" if segment is None else name_segment(segment)


def list_askable(campaign: Campaign, segment: str | None) -> list[tuple[int, int]]:
    """The pairs that another annotator could label, with how many labels they have.

    Those with the fewest labels come first, and among these any, from all queries alike. Left
    out is what `find_obstacle` has something to say about.
    """
    askable_qs = _counted(_of_segment(campaign.pairs.all(), segment, "query__segment"))
    for is_in_the_way, _ in _obstacles(campaign):
        askable_qs = askable_qs.exclude(is_in_the_way)
    askable_qs = askable_qs.order_by().values_list("pk", "given", "query", "document")
    order = Order(seed=campaign.seed, annotator=0, query_by_query=False)
    rows = sorted(
        (given, order.key(pair=pk, query=query, document=document), pk)
        for pk, given, query, document in askable_qs
    )
    return [(pk, given) for given, _, pk in rows]


def list_left_out(campaign: Campaign, segment: str | None) -> tuple[str, ...]:
    """Of how many pairs no other label can be requested, and why: “3 gold”, “1 adjudicated”."""
    obstacles = _obstacles(campaign)
    first = Case(
        *(When(is_in_the_way, then=Value(one.of_many)) for is_in_the_way, one in obstacles),
        default=Value(""),
    )
    counted_qs = _counted(_of_segment(campaign.pairs.all(), segment, "query__segment"))
    reasons = counted_qs.annotate(why=first).order_by().values_list("why", flat=True)
    counts = Counter(reasons)
    return tuple(
        f"{counts[one.of_many]:,} {one.of_many}" for _, one in obstacles if counts[one.of_many]
    )


def find_obstacle(pair: Pair) -> Obstacle | None:
    """Why no one can be asked for one more label of a pair; None where someone can."""
    own_qs = _counted(Pair.objects.filter(pk=pair.pk))
    for is_in_the_way, obstacle in _obstacles(pair.campaign):
        if own_qs.filter(is_in_the_way).exists():
            return obstacle
    return None


def _obstacles(campaign: Campaign) -> list[tuple[Q, Obstacle]]:
    """What stands in the way of asking, as conditions of counted pairs; one rule for all who ask.

    A wish raises how many labels are wanted: where there are more already, it brings no seat.
    """
    gold = Exists(GoldItem.objects.filter(OF_PAIR, retired_at=None))
    awaited = Exists(Assignment.objects.filter(OF_PAIR, TO_BE_FILLED))
    met_qs = Assignment.objects.filter(pair=OuterRef(OuterRef("pk")), annotator__isnull=False)
    met_qs = met_qs.exclude(state=Assignment.State.VOIDED)
    people_qs = CampaignAnnotator.objects.filter(
        campaign=campaign, is_active=True, user__is_active=True, paused=""
    )
    others = Exists(people_qs.exclude(user__in=met_qs.values("annotator")))
    wanted = campaign.overlap + F("wished")
    return [
        (
            Q(is_open=False),
            Obstacle("campaign_closed", "The campaign is closed.", "in a closed campaign"),
        ),
        (
            Q(gold),
            Obstacle("gold", "This pair is gold: its right grade is known.", "gold"),
        ),
        (
            Q(state=Pair.State.ADJUDICATED),
            Obstacle("decided", "This pair is adjudicated. Reopen it first.", "adjudicated"),
        ),
        (
            Q(awaited),
            Obstacle(
                "asked_already", "A label of this pair is already pending.", "with a pending label"
            ),
        ),
        (
            Q(given=0),
            Obstacle("no_label", "This pair has no graded label yet.", "without a graded label"),
        ),
        (
            Q(given__gt=wanted),
            Obstacle(
                "more_than_wanted",
                "This pair already has more labels than requested.",
                "with more labels than requested",
            ),
        ),
        (
            ~Q(others),
            Obstacle(
                "nobody_left",
                "Every annotator has labelled this pair. Add people first.",
                "labelled by every annotator",
            ),
        ),
    ]


def _counted(pairs_qs: QuerySet[Pair]) -> QuerySet[Any]:
    """Pairs with how many labels count (given), and how many more leads wished for (wished)."""
    wishes_qs = OneMoreLabel.objects.filter(withdrawal=None)
    return pairs_qs.annotate(given=_count(overlap_grades()), wished=_count(wishes_qs))


def list_coming(campaign: Campaign) -> QuerySet[OneMoreLabel]:
    """The wishes that no one has fulfilled or withdrawn.

    Only the newest wish of a pair can be one: no one asks while a seat is still to be filled.
    """
    newer_qs = OneMoreLabel.objects.filter(
        pair=OuterRef("pair"), pk__gt=OuterRef("pk"), withdrawal=None
    )
    seats_qs = Assignment.objects.filter(TO_BE_FILLED, pair=OuterRef("pair"))
    wishes_qs = OneMoreLabel.objects.filter(pair__campaign=campaign, withdrawal=None)
    return wishes_qs.filter(~Exists(newer_qs), Exists(seats_qs))


def _count(rows_qs: QuerySet[Any]) -> Coalesce:
    """How many of the rows are of a pair."""
    counted_qs = rows_qs.filter(OF_PAIR).order_by().values("pair").annotate(rows=Count("pk"))
    return Coalesce(Subquery(counted_qs.values("rows")), 0, output_field=IntegerField())


def _of_segment(rows_qs: QuerySet[Any], segment: str | None, path: str) -> QuerySet[Any]:
    return rows_qs if segment is None else rows_qs.filter(**{path: segment})


def _wanted(figures: dict[str, Any], segment: str | None) -> int:
    """How many more pairs with two labels the figures ask for."""
    if not figures.get("labels"):
        return FEWEST_PAIRS
    if segment is None:
        return pairs_wanted(figures["overall"]["alpha"][LEVEL], FEWEST_PAIRS)
    rows = [row for row in figures["segments"] if row["name"] == segment]
    return pairs_wanted(rows[0], FEWEST_IN_SEGMENT) if rows else FEWEST_IN_SEGMENT


def _list_asked(campaign: Campaign) -> list[Asked]:
    """What was asked for together, the newest first."""
    batches_qs = OneMoreLabel.objects.filter(pair__campaign=campaign, batch__isnull=False)
    coming = dict(
        list_coming(campaign).order_by().values_list("batch").annotate(wishes=Count("pk"))
    )
    rows_qs = (
        batches_qs.order_by()
        .values("batch", "reason_text__text", "asked_at", "asked_by")
        .annotate(pairs=Count("pk"), withdrawn=Count("withdrawal"))
        .order_by("-asked_at", "batch")
    )
    rows: Sequence[Any] = list(rows_qs)
    people = User.objects.in_bulk({row["asked_by"] for row in rows})
    return [
        Asked(
            batch=row["batch"],
            words=row["reason_text__text"] or "",
            at=row["asked_at"],
            by=people[row["asked_by"]],
            pairs=row["pairs"],
            coming=coming.get(row["batch"], 0),
            withdrawn=row["withdrawn"],
        )
        for row in rows
    ]
