"""All campaigns that someone leads, those first in which something waits for a decision.

Counted by few statements, however many campaigns there are.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Final

from django.conf import settings
from django.core.paginator import Page
from django.db.models import Count, Exists, F, OuterRef, QuerySet

from annotation.campaigns.queries import IN_GOLD, at_work_qs, is_overdue
from annotation.dashboards.approvals import count_waiting
from annotation.dashboards.monitoring import AT_WORK
from annotation.models import (
    Campaign,
    CampaignAnnotator,
    CheckAction,
    GoldItem,
    Label,
    Pair,
    QualityReport,
    Question,
)
from annotation.quality.costs import Rates
from annotation.quality.queries import get_quality_page
from judgments.budgets.queries import used_now
from judgments.budgets.rules import State, in_words, standing_of
from judgments.models import Budget, Collection, Membership, Role, User
from judgments.pages.paging import paginate
from judgments.permissions import ADMIN, Access
from judgments.storage.caches import read_many_cached, write_cached

KEPT: Final = 3600  # seconds for which a verdict of the same figures is used
VERDICTS_AT_ONCE: Final = 25  # that one look computes; the next computes further ones
PER_PAGE: Final = 100
# what waits for a decision, the most urgent first; the template has the words and the page of each
URGENT: Final = ("overdue", "budget", "adjudication", "approval", "questions", "actions", "close")
Verdict = tuple[str, str]  # the text, and how it is coloured


@dataclass(frozen=True)
class Decision:
    """Something in a campaign that waits for its lead. kind: of URGENT. count: of what."""

    kind: str
    count: int


@dataclass(frozen=True)
class CampaignRow:
    """A campaign in the overview. at_work: people who labelled in the last minutes.

    spent: labels that were given at the price of a label, in hundredths of the currency; None
    without a price. budget: the state of the budget that is used most; None where there is none.
    """

    campaign: Campaign
    done: int
    pairs: int
    people: int
    at_work: int
    verdict: Verdict
    due_on: date | None
    is_overdue: bool
    spent: int | None
    budget: State | None
    decisions: tuple[Decision, ...]

    @property
    def spent_words(self) -> str:
        """What was spent, with the currency."""
        return "" if self.spent is None else in_words(self.spent, "money", settings.CURRENCY)


@dataclass(frozen=True)
class CollectionRow:
    """A collection that one leads in which there is no campaign."""

    slug: str
    name: str


@dataclass(frozen=True)
class WorkOverview:
    """waiting: how many campaigns wait for a decision. leads: whether there is any collection."""

    rows: "Page[CampaignRow]"
    waiting: int
    empty: tuple[CollectionRow, ...]
    leads: bool


def get_work_overview(*, viewer: User, now: datetime, page: str) -> WorkOverview:
    """The campaigns of all collections that the viewer leads, or of all for an administrator.

    First come those with something urgent, then by when they are due, open ones before others.
    """
    roles = _list_roles(viewer)
    collections_qs = Collection.objects.filter(archived_at=None).order_by("name", "slug")
    if not viewer.is_superuser:
        collections_qs = collections_qs.filter(pk__in=roles)
    collections = list(collections_qs)
    campaigns = list(
        Campaign.objects.filter(
            list__collection__in=collections, archived_at=None, list__archived_at=None
        )
        .select_related("list__collection", "guideline")
        .order_by("-pk")
    )
    rows = sorted(_rows(campaigns, now), key=_rank)
    used = {campaign.list.collection_id for campaign in campaigns}

    def with_verdicts(shown: list[CampaignRow]) -> list[CampaignRow]:
        return list(_add_verdicts(viewer, roles, shown))

    return WorkOverview(
        rows=paginate(rows, page=page, show=with_verdicts, per_page=PER_PAGE),
        waiting=sum(bool(row.decisions) for row in rows),
        empty=tuple(CollectionRow(one.slug, one.name) for one in collections if one.pk not in used),
        leads=bool(collections),
    )


def _list_roles(viewer: User) -> dict[int, str]:
    own_qs = Membership.objects.filter(user=viewer, role=Role.LEAD)
    return dict.fromkeys(own_qs.values_list("collection_id", flat=True), str(Role.LEAD))


def _rank(row: CampaignRow) -> tuple[int, int, date, int]:
    urgency = min((URGENT.index(one.kind) for one in row.decisions), default=len(URGENT))
    place = (Campaign.State.OPEN, Campaign.State.DRAFT, Campaign.State.CLOSED)
    is_open = place.index(Campaign.State(row.campaign.state))
    return urgency, is_open, row.due_on or date.max, -row.campaign.pk


def _rows(campaigns: Sequence[Campaign], now: datetime) -> Iterator[CampaignRow]:
    ids = [one.pk for one in campaigns]
    states = _count_states(ids)
    questions = _grouped(Question.objects.filter(campaign__in=ids, state=Question.State.WAITING))
    actions_qs = CheckAction.objects.filter(campaign__in=ids, undoes=None, taken_by=None)
    actions = _grouped(actions_qs.filter(undone_by=None))
    people = _grouped(at_work_qs().filter(campaign__in=ids))
    at_work = _count_at_work(ids, now)
    given = _count_given(campaigns)
    budgets = _find_budgets(campaigns, now)
    unapproved = _list_unapproved(campaigns)
    for campaign in campaigns:
        counts = states.get(campaign.pk, {})
        pairs = sum(counts.values())
        done = counts.get(Pair.State.COMPLETE, 0) + counts.get(Pair.State.ADJUDICATED, 0)
        is_open, budget = campaign.state == Campaign.State.OPEN, budgets.get(campaign.pk)
        result = {
            "overdue": int(is_overdue(campaign, now) and done < pairs),
            "budget": int(is_open and budget == "over"),
            "adjudication": counts.get(Pair.State.TIED, 0),
            "approval": count_waiting(campaign) if campaign.pk in unapproved else 0,
            "questions": questions.get(campaign.pk, 0),
            "actions": actions.get(campaign.pk, 0) if is_open else 0,
            "close": int(is_open and pairs > 0 and not counts.get(Pair.State.OPEN, 0)),
        }
        price = campaign.label_price
        yield CampaignRow(
            campaign=campaign,
            done=done,
            pairs=pairs,
            people=people.get(campaign.pk, 0),
            at_work=at_work.get(campaign.pk, 0) if is_open else 0,
            verdict=("", ""),
            due_on=campaign.due_on,
            is_overdue=bool(result["overdue"]),
            spent=None if price is None else price * given.get(campaign.pk, 0),
            budget=budget,
            decisions=tuple(Decision(kind, result[kind]) for kind in URGENT if result[kind]),
        )


def _grouped(rows: QuerySet[Any]) -> dict[int, int]:
    """How many rows each campaign has."""
    return dict(rows.order_by().values_list("campaign").annotate(Count("pk")))


def _count_states(ids: Iterable[int]) -> dict[int, dict[str, int]]:
    """The pairs of each campaign by state; without gold, as on the campaign's page."""
    pairs_qs = Pair.objects.filter(campaign__in=ids)
    pairs_qs = pairs_qs.exclude(Exists(GoldItem.objects.filter(IN_GOLD)))
    result: dict[int, dict[str, int]] = {}
    rows = pairs_qs.order_by().values_list("campaign", "state").annotate(count=Count("pk"))
    for campaign, state, count in rows:
        result.setdefault(campaign, {})[state] = count
    return result


def _count_at_work(ids: Iterable[int], now: datetime) -> dict[int, int]:
    """How many people labelled in each campaign in the last minutes; by the people's index."""
    places = CampaignAnnotator.objects.filter(
        campaign=OuterRef("pair__campaign"), user=OuterRef("annotator"), is_active=True, paused=""
    )
    people = CampaignAnnotator.objects.filter(campaign__in=ids).values("user")
    recent_qs = Label.objects.filter(
        Exists(places),
        annotator__in=people,
        received_at__gt=now - AT_WORK,
        received_at__lte=now,
        pair__campaign__in=ids,
    )
    rows = recent_qs.order_by().values_list("pair__campaign")
    return dict(rows.annotate(Count("annotator", distinct=True)))


def _count_given(campaigns: Iterable[Campaign]) -> dict[int, int]:
    """How many labels were given in each campaign that has a price."""
    priced = [one.pk for one in campaigns if one.label_price is not None]
    if not priced:
        return {}
    labels_qs = Label.objects.filter(pair__campaign__in=priced).order_by()
    return dict(labels_qs.values_list("pair__campaign").annotate(Count("pk")))


def _find_budgets(campaigns: Sequence[Campaign], now: datetime) -> dict[int, State]:
    """The state of the budget that is used most of each campaign, its collection's included."""
    collections = {one.list.collection_id for one in campaigns}
    result: dict[tuple[int, str], list[Budget]] = {}
    for budget in Budget.objects.filter(collection__in=collections).order_by("pk"):
        result.setdefault((budget.collection_id, budget.subject), []).append(budget)
    states: dict[int, State] = {}
    for campaign in campaigns:
        collection = campaign.list.collection_id
        own = [
            *result.get((collection, "collection"), ()),
            *result.get((collection, f"campaign:{campaign.pk}"), ()),
        ]
        standings = [
            standing_of(
                limit=budget.limit,
                used=used_now(budget, now),
                each=1 if budget.unit == Budget.Unit.LABELS else campaign.label_price or 1,
                warn_percent=budget.warn_percent,
            )
            for budget in own
        ]
        if standings:
            states[campaign.pk] = max(standings, key=lambda one: one.share).state
    return states


def _list_unapproved(campaigns: Iterable[Campaign]) -> set[int]:
    """The approval campaigns with conclusions that their list was not told of."""
    ids = [one.pk for one in campaigns if one.commit == Campaign.Commit.APPROVAL]
    waiting_qs = Pair.objects.filter(campaign__in=ids, consolidated_seq__gt=F("committed_seq"))
    return set(waiting_qs.order_by().values_list("campaign", flat=True).distinct())


def _add_verdicts(
    viewer: User, roles: Mapping[int, str], rows: Sequence[CampaignRow]
) -> Iterator[CampaignRow]:
    """The rows with whether the labels are good enough: of the figures that are stored now.

    What others have looked at since the figures were computed comes from the cache; of the others,
    so many are computed.
    """
    reports_qs = QualityReport.objects.filter(campaign__in=[row.campaign.pk for row in rows])
    computed = dict(reports_qs.exclude(computed_at=None).values_list("campaign", "computed_at"))
    names = {
        row.campaign.pk: f"overview-verdict:{row.campaign.public_id}:{at.timestamp()}:{row.done}"
        for row in rows
        if (at := computed.get(row.campaign.pk)) is not None
    }
    known = read_many_cached(names.values(), tuple[str, str])
    left = VERDICTS_AT_ONCE
    for row in rows:
        name = names.get(row.campaign.pk, "")
        verdict = known.get(name, ("", ""))
        if name and name not in known and left:
            left -= 1
            verdict = _verdict(viewer, roles, row.campaign)
            write_cached(name, verdict, KEPT)
        yield replace(row, verdict=verdict)


def _verdict(viewer: User, roles: Mapping[int, str], campaign: Campaign) -> Verdict:
    collection = campaign.list.collection
    access = Access(viewer, collection, roles.get(collection.pk, ADMIN))
    verdict = get_quality_page(access=access, campaign=campaign, rates=Rates()).verdict
    return (verdict.text, verdict.tone) if verdict else ("", "")
