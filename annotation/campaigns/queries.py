"""Campaigns and guidelines as leads see them, and what researchers may know of who labelled."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from statistics import median
from typing import Any, Final
from uuid import UUID

from django.db.models import Count, Exists, F, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.campaigns.cached_counts import get_or_count
from annotation.campaigns.people import pseudonyms_of
from annotation.guidelines.shown import get_newest_revision_of
from annotation.models import (
    OVERLAP_PURPOSES,
    Assignment,
    Campaign,
    CampaignAnnotator,
    GoldItem,
    Label,
    Pair,
)
from annotation.models.labels import MADE_AT
from annotation.permissions import check_may_read_labels, check_may_watch
from judgments.models import Membership, User
from judgments.permissions import (
    Access,
    NotFound,
    Viewer,
    check_may_see_people,
    check_may_see_rankings,
    get_access,
)
from judgments.storage.bulk import Among
from touchstone.scales import Scale

MOST_SHOWN: Final = 50  # people on the dashboard, unless all are asked for
WIDEST: Final = 8  # disagreements shown on the dashboard itself
IN_GOLD = Q(pair=OuterRef("pk"), retired_at=None)  # of a pair that is gold now
Extremes = tuple[int, str, int, int]  # of a pair: its id, its state, its worst and best grade


@dataclass(frozen=True)
class AnnotatorRow:
    """How far one person is. median_seconds: per label; None without any measured one."""

    username: str
    name: str
    is_active: bool
    is_paused: bool
    is_suspended: bool
    can_sign_in: bool
    is_blind: bool
    labelled: int
    today: int
    median_seconds: float | None
    last_seen_at: datetime | None


@dataclass(frozen=True)
class PairCounts:
    """The pairs of a campaign by state; labels: how many seats are filled, of how many."""

    open: int
    complete: int
    tied: int
    adjudicated: int
    labels: int
    labels_needed: int

    @property
    def all(self) -> int:
        return self.open + self.complete + self.tied + self.adjudicated

    @property
    def concluded(self) -> int:
        return self.complete + self.adjudicated


@dataclass(frozen=True)
class Dashboard:
    """How a campaign goes, as its leads see it. disagreements: how many pairs have grades that
    differ. widest: the ids of the first few of them."""

    campaign: Campaign
    guideline_revision: int
    counts: PairCounts
    annotators: tuple[AnnotatorRow, ...]
    disagreements: int
    widest: tuple[int, ...]

    @property
    def people(self) -> int:
        """How many annotate now; nothing more is asked of those who are paused."""
        return sum(
            one.is_active and one.can_sign_in and not one.is_paused for one in self.annotators
        )

    @property
    def busiest(self) -> tuple[AnnotatorRow, ...]:
        """Of very many people, those with the most labels."""
        if len(self.annotators) <= MOST_SHOWN:
            return self.annotators
        return tuple(sorted(self.annotators, key=lambda row: -row.labelled)[:MOST_SHOWN])

    @property
    def labels_left(self) -> int:
        return self.counts.labels_needed - self.counts.labels


@dataclass(frozen=True)
class _Counted:
    """What of a dashboard takes long to count."""

    counts: PairCounts
    annotators: tuple[AnnotatorRow, ...]
    disagreements: int
    widest: tuple[int, ...]


@dataclass(frozen=True)
class Contributor:
    """Someone who labelled, as researchers see them: under a pseudonym."""

    pseudonym: str
    labelled: int


def get_campaign(*, access: Access, campaign_id: UUID) -> Campaign:
    """A campaign of the collection, with its list and guideline; for leads and admins."""
    check_may_see_people(access)
    campaign = _campaigns(access).filter(public_id=campaign_id).first()
    if campaign is None:
        raise NotFound("campaign")
    return campaign


def find_campaign(*, viewer: Viewer, campaign_id: UUID) -> tuple[Access, Campaign]:
    """A campaign by its id alone, with the viewer's access to its collection; for leads and admins.

    Raises NotFound, for what does not exist and for what is not the viewer's alike.
    """
    access = _access_of(viewer, campaign_id)
    return access, get_campaign(access=access, campaign_id=campaign_id)


def find_labelled_campaign(*, viewer: Viewer, campaign_id: UUID) -> tuple[Access, Campaign]:
    """A campaign whose labels the viewer may read, by its id alone, as `find_campaign`."""
    access = _access_of(viewer, campaign_id)
    return access, get_labelled_campaign(access=access, campaign_id=campaign_id)


def get_labelled_campaign(*, access: Access, campaign_id: UUID) -> Campaign:
    """A campaign of the collection whose labels the viewer may read."""
    campaign = _campaigns(access).filter(public_id=campaign_id).first()
    if campaign is None:
        raise NotFound("campaign")
    check_may_read_labels(access, campaign)
    return campaign


def _access_of(viewer: Viewer, campaign_id: UUID) -> Access:
    campaigns_qs = Campaign.objects.filter(public_id=campaign_id)
    slug = campaigns_qs.values_list("list__collection__slug", flat=True).first()
    if slug is None:
        raise NotFound("campaign")
    return get_access(viewer=viewer, slug=slug)


def get_annotator(*, access: Access, campaign: Campaign, username: str) -> User:
    """Someone who annotates in the campaign, or did once; for leads and admins."""
    check_may_watch(access, campaign)
    annotators_qs = campaign.annotators.select_related("user")
    annotator = annotators_qs.filter(user__username=username).first()
    if annotator is None:
        raise NotFound("annotator")
    return annotator.user


def list_campaigns(*, access: Access) -> QuerySet[Any]:
    """All campaigns of the collection, the newest first, counted; for leads and admins.

    pair_count, complete_count: without gold. people: who annotate now.
    """
    check_may_see_people(access)
    return _list_counted(access)


def list_closed_campaigns(*, access: Access) -> QuerySet[Any]:
    """The closed campaigns of the collection, as `list_campaigns` has them; for researchers."""
    check_may_see_rankings(access)
    return _list_counted(access).filter(state=Campaign.State.CLOSED)


def get_closed_campaign(*, access: Access, campaign_id: UUID) -> Campaign:
    """A closed campaign of the collection; also for researchers."""
    check_may_see_rankings(access)
    closed_qs = _campaigns(access).filter(state=Campaign.State.CLOSED)
    campaign = closed_qs.filter(public_id=campaign_id).first()
    if campaign is None:
        raise NotFound("campaign")
    return campaign


def list_candidates(*, access: Access, campaign: Campaign) -> list[User]:
    """The members who could be added, as annotators or as reviewers; for leads and admins."""
    check_may_watch(access, campaign)
    reviewers_qs = campaign.reviewers.filter(is_active=True)
    active = CampaignAnnotator.objects.filter(campaign=campaign, is_active=True)
    members_qs = Membership.objects.filter(collection=access.collection)  # those who are now
    users_qs = User.objects.filter(is_active=True, pk__in=members_qs.values("user"))
    others_qs = users_qs.exclude(pk__in=active.values("user"))
    return list(others_qs.exclude(pk__in=reviewers_qs.values("user")).order_by("username"))


def get_dashboard(*, access: Access, campaign: Campaign, now: datetime) -> Dashboard:
    """How a campaign goes and who labelled how much; for leads and admins. Days are UTC."""
    check_may_watch(access, campaign)
    revision = get_newest_revision_of(campaign)
    counted = get_or_count(campaign, "dashboard", _Counted, lambda: _count(campaign, now))
    return Dashboard(
        campaign=campaign,
        guideline_revision=revision.number,
        counts=counted.counts,
        annotators=counted.annotators,
        disagreements=counted.disagreements,
        widest=counted.widest,
    )


def _count(campaign: Campaign, now: datetime) -> _Counted:
    ranked = rank_disagreements(campaign)
    return _Counted(
        counts=count_pairs(campaign),
        annotators=tuple(_list_annotators(campaign, now)),
        disagreements=len(ranked),
        widest=tuple(pk for _, _, pk in ranked[:WIDEST]),
    )


def count_pairs(campaign: Campaign) -> PairCounts:
    """The pairs by state and the seats by whether they are filled; gold is neither."""
    pairs_qs = campaign.pairs.exclude(Exists(GoldItem.objects.filter(IN_GOLD)))
    rows = pairs_qs.order_by().values_list("state").annotate(count=Count("pk"))
    by_state = {str(state): count for state, count in rows}
    seats_qs = Assignment.objects.filter(pair__in=pairs_qs, purpose__in=OVERLAP_PURPOSES)
    seats_qs = seats_qs.exclude(state__in=(Assignment.State.VOIDED, Assignment.State.ASIDE))
    # in one: with a hundred thousand pairs, going through the seats is what takes long
    seats = seats_qs.aggregate(
        done=Count("pk", filter=Q(state=Assignment.State.DONE)), needed=Count("pk")
    )
    return PairCounts(
        open=by_state.get(Pair.State.OPEN, 0),
        complete=by_state.get(Pair.State.COMPLETE, 0),
        tied=by_state.get(Pair.State.TIED, 0),
        adjudicated=by_state.get(Pair.State.ADJUDICATED, 0),
        labels=seats["done"],
        labels_needed=seats["needed"],
    )


def count_seats_left(campaign: Campaign) -> int:
    """The labels that are still to come: `labels_needed` without `labels` of `count_pairs`."""
    gold_qs = GoldItem.objects.filter(campaign=campaign, retired_at=None)
    seats_qs = Assignment.objects.filter(
        pair__campaign=campaign,
        purpose__in=OVERLAP_PURPOSES,
        state__in=(Assignment.State.FREE, Assignment.State.LEASED),
    )
    return seats_qs.exclude(pair__in=gold_qs.values("pair")).count()


def list_extremes(campaign: Campaign) -> list[Extremes]:
    """The pairs whose current grades differ: id, state, worst and best grade (codes)."""
    current = Q(
        labels__outcome=Label.Outcome.GRADED,
        labels__superseded_by__isnull=True,
        labels__assignment__purpose__in=OVERLAP_PURPOSES,
        labels__assignment__state=Assignment.State.DONE,
    )
    pairs_qs = campaign.pairs.exclude(Exists(GoldItem.objects.filter(IN_GOLD)))
    grades_qs = pairs_qs.annotate(
        worst=Min("labels__grade", filter=current), best=Max("labels__grade", filter=current)
    )
    differing_qs = grades_qs.filter(worst__lt=F("best")).order_by()
    return list(differing_qs.values_list("pk", "state", "worst", "best"))


def rank_disagreements(campaign: Campaign) -> list[tuple[bool, int, int]]:
    """The pairs that differ: whether decided, minus the spread, the id; in that order."""
    step = {code: number for number, code in enumerate(Scale.from_json(campaign.list.scale).codes)}
    return sorted(
        (state == Pair.State.ADJUDICATED, step[worst] - step[best], pk)
        for pk, state, worst, best in list_extremes(campaign)
    )


def list_graded_disputes(campaign: Campaign) -> list[int]:
    """The pairs that the rule has graded although their labels differ; their ids.

    Without those that someone is still to label.
    """
    differing = [pk for pk, state, _, _ in list_extremes(campaign) if state == Pair.State.COMPLETE]
    awaited_qs = Assignment.objects.filter(
        Among("pair", differing),
        purpose__in=OVERLAP_PURPOSES,
        state__in=(Assignment.State.FREE, Assignment.State.LEASED),
    )
    awaited = set(awaited_qs.order_by().values_list("pair", flat=True))
    return [pk for pk in differing if pk not in awaited]


def count_graded_disputes(campaign: Campaign) -> int:
    """How many there are; of a large campaign, as it was up to a minute ago."""
    return get_or_count(campaign, "graded", int, lambda: len(list_graded_disputes(campaign)))


def at_work_qs() -> QuerySet[CampaignAnnotator]:
    """The places of people who annotate now: not removed, not paused, with a working account."""
    return CampaignAnnotator.objects.filter(is_active=True, paused="", user__is_active=True)


def is_overdue(campaign: Campaign, now: datetime) -> bool:
    """Whether a campaign is open though the day on which it was due is over, in UTC."""
    is_open = campaign.state == Campaign.State.OPEN
    return is_open and campaign.due_on is not None and campaign.due_on < now.astimezone(UTC).date()


def list_contributors(*, access: Access, campaign: Campaign) -> list[Contributor]:
    """Who labelled, under pseudonyms: leads at any time, researchers once it is closed."""
    check_may_read_labels(access, campaign)
    pseudonyms = pseudonyms_of(access=access)
    rows = _current(campaign).values_list("annotator").annotate(labelled=Count("pk"))
    return sorted(
        (Contributor(pseudonyms[user], count) for user, count in rows),
        key=lambda one: one.pseudonym,
    )


def _campaigns(access: Access) -> QuerySet[Campaign]:
    own_qs = Campaign.objects.filter(list__collection=access.collection)
    return own_qs.select_related("list__collection", "guideline")


def _list_counted(access: Access) -> QuerySet[Any]:
    concluded = Q(pairs__state__in=(Pair.State.COMPLETE, Pair.State.ADJUDICATED))
    plain = ~Exists(GoldItem.objects.filter(pair=OuterRef("pairs"), retired_at=None))
    active_qs = at_work_qs().filter(campaign=OuterRef("pk"))
    people = active_qs.order_by().values("campaign").annotate(people=Count("pk")).values("people")
    counted_qs = _campaigns(access).annotate(
        pair_count=Count("pairs", filter=plain),
        complete_count=Count("pairs", filter=plain & concluded),
        people=Coalesce(Subquery(people), 0),
    )
    return counted_qs.order_by("-pk")


def _current(campaign: Campaign) -> QuerySet[Label]:
    """The current labels: neither superseded nor undone."""
    labels_qs = Label.objects.filter(pair__campaign=campaign, superseded_by__isnull=True)
    return labels_qs.exclude(outcome=Label.Outcome.RETRACTED).order_by()


def _list_annotators(campaign: Campaign, now: datetime) -> list[AnnotatorRow]:
    midnight = datetime.combine(now.astimezone(UTC).date(), time.min, tzinfo=UTC)
    counts = {
        user: (labelled, today)
        for user, labelled, today in _current(campaign)
        .annotate(made=MADE_AT)
        .values_list("annotator")
        .annotate(labelled=Count("pk"), today=Count("pk", filter=Q(made__gte=midnight)))
    }
    seen = dict(
        Label.objects.filter(pair__campaign=campaign)
        .order_by()
        .values_list("annotator")
        .annotate(last=Max("received_at"))
    )
    seconds = _list_seconds(campaign)
    annotators_qs = campaign.annotators.select_related("user").order_by("user__username")
    return [
        AnnotatorRow(
            username=annotator.user.username,
            name=str(annotator.user),
            is_active=annotator.is_active,
            is_paused=bool(annotator.paused),
            is_suspended=annotator.user.is_suspended,
            can_sign_in=annotator.user.is_active,
            is_blind=annotator.is_blind,
            labelled=counts.get(annotator.user_id, (0, 0))[0],
            today=counts.get(annotator.user_id, (0, 0))[1],
            median_seconds=_median(seconds.get(annotator.user_id, ())),
            last_seen_at=seen.get(annotator.user_id),
        )
        for annotator in annotators_qs
    ]


def _list_seconds(campaign: Campaign) -> dict[int, list[float]]:
    by_user: dict[int, list[float]] = {}
    measured = _current(campaign).filter(timing__seconds__isnull=False)
    for user, seconds in measured.values_list("annotator", "timing__seconds"):
        if seconds is not None:
            by_user.setdefault(user, []).append(seconds)
    return by_user


def _median(seconds: Sequence[float]) -> float | None:
    return median(seconds) if seconds else None


def with_names(pairs_qs: QuerySet[Pair]) -> QuerySet[Pair]:
    """The pairs with what names them, their query and document, without the long texts."""
    return pairs_qs.select_related("query", "document").defer(
        "document__body", "document__clean_html"
    )


def get_pair(*, access: Access, pair_id: int) -> Pair:
    """A pair of the collection with its campaign, query and document; for leads and admins."""
    check_may_see_people(access)
    pairs_qs = Pair.objects.select_related(
        "campaign__list__collection", "campaign__guideline", "list", "query", "document"
    )
    pair = pairs_qs.filter(pk=pair_id, list__collection=access.collection).first()
    if pair is None:
        raise NotFound("pair")
    return pair
