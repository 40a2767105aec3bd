"""Gold for leads: the pairs whose answer is known, and how much of them is planted.

Nothing of this is for annotators: what they see comes from shown_pairs.py and own_labels.py alone.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.core.paginator import Page
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from annotation.consolidation.overlap import overlap_grades
from annotation.gold.accuracy import Accuracy, accuracy
from annotation.models import (
    Assignment,
    Campaign,
    CheckAction,
    CheckPlan,
    GoldCheck,
    GoldItem,
    Label,
    Pair,
    StandIn,
)
from annotation.permissions import check_may_watch
from judgments.models import User
from judgments.pages.paging import paginate
from judgments.permissions import Access, NotFound, check_may_see_people
from touchstone.scales import Scale

# With less gold than this for every hundred other pairs, a busy annotator meets all of it.
ENOUGH_PERCENT = 5


@dataclass(frozen=True)
class CheckedPerson:
    """How someone does. met, unmet: gold pairs they labelled, and how many
    can still reach them; is_used_up: none can, though other pairs can.
    repeats, alike: pairs that they labelled twice, and how often with the same grade."""

    username: str
    name: str
    given: int
    met: int
    unmet: int
    is_used_up: bool
    accuracy: Accuracy | None
    repeats: int
    alike: int
    is_paused: bool

    @property
    def planted_percent(self) -> float:
        return 100 * self.met / max(1, self.given)


@dataclass(frozen=True)
class GoldPage:
    """A campaign's gold. plain: how many other pairs it has. takeable: decided pairs whose labels
    agree, and which are not gold yet."""

    campaign: Campaign
    plan: CheckPlan
    rows: "Page[GoldItem]"
    items: int
    plain: int
    takeable: int
    shows_retired: bool
    people: tuple[CheckedPerson, ...]
    actions: tuple[CheckAction, ...]

    @property
    def percent(self) -> int:
        """How much gold there is for every hundred other pairs."""
        return 100 * self.items // max(1, self.plain)

    @property
    def is_little(self) -> bool:
        return self.plan.gold_percent > 0 and self.percent < ENOUGH_PERCENT


def get_check_plan(campaign: Campaign) -> CheckPlan:
    """How the campaign checks labels; what holds where no one has said anything is: not at all."""
    return getattr(campaign, "check_plan", None) or CheckPlan(campaign=campaign)


def get_gold_item(*, access: Access, item_id: int) -> GoldItem:
    """One gold item of the collection; for leads and admins."""
    check_may_see_people(access)
    items_qs = GoldItem.objects.select_related(
        "campaign__list__collection", "pair__query", "pair__document"
    )
    item = items_qs.filter(pk=item_id, campaign__list__collection=access.collection).first()
    if item is None:
        raise NotFound("gold item")
    return item


def find_gold(*, access: Access, pair: Pair) -> GoldItem | None:
    """The right answer of a pair, where it is gold now; for leads and admins."""
    check_may_watch(access, pair.campaign)
    return GoldItem.objects.select_related("created_by").filter(pair=pair, retired_at=None).first()


def get_gold_page(
    *, access: Access, campaign: Campaign, page: str, shows_retired: bool
) -> GoldPage:
    """All gold of a campaign, the newest first; for leads and admins."""
    check_may_watch(access, campaign)
    items_qs = GoldItem.objects.filter(campaign=campaign, retired_at__isnull=not shows_retired)
    shown_qs = items_qs.select_related("pair__query", "pair__document", "created_by")
    in_use_qs = GoldItem.objects.filter(campaign=campaign, retired_at=None)
    items = in_use_qs.count()
    return GoldPage(
        campaign=campaign,
        plan=get_check_plan(campaign),
        rows=paginate(
            shown_qs.defer("pair__document__body", "pair__document__clean_html").order_by("-pk"),
            page=page,
            show=list,
        ),
        items=items,
        plain=campaign.pairs.count() - items,
        takeable=len(list_agreed_decisions(access=access, campaign=campaign)),
        shows_retired=shows_retired,
        people=tuple(list_checked_people(access=access, campaign=campaign)),
        actions=tuple(list_actions(access=access, campaign=campaign)),
    )


def get_check_action(*, access: Access, action_id: int) -> CheckAction:
    """Something that a rule of the collection's campaigns did; for leads and admins."""
    check_may_see_people(access)
    own_qs = _actions().select_related("campaign__list__collection", "newest")
    action = own_qs.filter(pk=action_id, campaign__list__collection=access.collection).first()
    if action is None:
        raise NotFound("action")
    return action


def list_actions(*, access: Access, campaign: Campaign) -> list[CheckAction]:
    """What rules and leads did about people, the last first; for leads and admins."""
    check_may_watch(access, campaign)
    return list(_actions().filter(campaign=campaign).order_by("-pk"))


def count_standing(campaign: Campaign) -> int:
    """How many actions of rules stand that no lead has taken back."""
    rules_qs = CheckAction.objects.filter(campaign=campaign, undoes=None, taken_by=None)
    return rules_qs.filter(undone_by=None).count()


def _actions() -> QuerySet[CheckAction]:
    """What was done, with who did it and who took it back."""
    people = ("annotator", "taken_by", "undone_by__taken_by")
    return CheckAction.objects.filter(undoes=None).select_related(*people)


def list_checked_people(*, access: Access, campaign: Campaign) -> list[CheckedPerson]:
    """How those who annotate now do where the answer is known; for leads and admins."""
    check_may_watch(access, campaign)
    errors = list_errors(campaign)
    repeats = list_alike(campaign)
    purposes, states = Assignment.Purpose, Assignment.State
    gold = Q(purpose=purposes.GOLD, state=states.DONE)
    seats_qs = Assignment.objects.filter(pair__campaign=campaign, annotator__isnull=False)
    counted = (
        seats_qs.exclude(purpose=purposes.TRAINING)
        .order_by()
        .values_list("annotator")
        .annotate(
            given=Count("pk", filter=Q(state=states.DONE)),
            met=Count("pk", filter=gold),
        )
    )
    counts = {person: (given, met) for person, given, met in counted}
    people = []
    for annotator in campaign.annotators.filter(is_active=True).select_related("user"):
        given, met = counts.get(annotator.user_id, (0, 0))
        twice = repeats.get(annotator.user_id, [])
        person = CheckedPerson(
            username=annotator.user.username,
            name=str(annotator.user),
            given=given,
            met=met,
            unmet=count_unmet(campaign, annotator.user),
            is_used_up=is_used_up(campaign, annotator.user),
            accuracy=accuracy(errors.get(annotator.user_id, [])),
            repeats=len(twice),
            alike=sum(twice),
            is_paused=bool(annotator.paused),
        )
        people.append(person)
    return sorted(people, key=lambda person: person.name)


def count_used_up(campaign: Campaign) -> int:
    """How many people have met all the gold there is, where the leads are to be told."""
    plan = get_check_plan(campaign)
    told = (CheckPlan.UsedUp.WARN, CheckPlan.UsedUp.STOP)
    if not plan.gold_percent or plan.when_used_up not in told:
        return 0
    annotators_qs = campaign.annotators.filter(is_active=True).select_related("user")
    annotators_qs = annotators_qs.filter(paused="")
    return sum(is_used_up(campaign, annotator.user) for annotator in annotators_qs)


def is_used_up(campaign: Campaign, person: User) -> bool:
    """Whether no gold can reach someone any more, though other pairs can.

    Where there is no gold at all, or nothing else to label, none is used up.
    """
    if not campaign.gold.filter(retired_at=None).exists() or count_unmet(campaign, person):
        return False
    return _open_to(person).filter(pair__campaign=campaign).exists()


def count_unmet(campaign: Campaign, person: User) -> int:
    """How many gold pairs can still reach someone.

    In queries that they have come to, those drawn for them whose places are open to them; in
    others, all that they have never had a seat at, if any other pair of the query is open to them.
    """
    known = Assignment.objects.filter(annotator=person, pair=OuterRef("pair"))
    items_qs = campaign.gold.filter(retired_at=None).exclude(Exists(known))
    open_to = _open_to(person)
    drawn = StandIn.objects.filter(annotator=person, shown=OuterRef("pair"))
    replaced = open_to.filter(pair=OuterRef("replaced"))
    come_to = StandIn.objects.filter(
        campaign=campaign, annotator=person, query=OuterRef("pair__query"), replaced=None
    )
    of_query = open_to.filter(pair__campaign=campaign, pair__query=OuterRef("pair__query"))
    reaching = Exists(drawn.filter(Exists(replaced))) | (~Exists(come_to) & Exists(of_query))
    return items_qs.filter(reaching).count()


def _open_to(person: User) -> QuerySet[Assignment]:
    """Seats that someone holds or could be leased."""
    own = Assignment.objects.filter(annotator=person, pair=OuterRef("pair"))
    met = Exists(own.exclude(state=Assignment.State.VOIDED))
    free_qs = Assignment.objects.filter(~met, state=Assignment.State.FREE)
    held_qs = Assignment.objects.filter(annotator=person, state=Assignment.State.LEASED)
    return (free_qs | held_qs).exclude(purpose=Assignment.Purpose.TRAINING)


def list_errors(campaign: Campaign) -> dict[int, list[int]]:
    """The errors of each person's labels of gold pairs that hold, in the order they were made."""
    checks_qs = GoldCheck.objects.filter(
        item__campaign=campaign, error__isnull=False, label__superseded_by__isnull=True
    )
    errors: dict[int, list[int]] = defaultdict(list)
    rows = checks_qs.order_by("label__received_at", "label").values_list(
        "label__annotator", "error"
    )
    for person, error in rows:
        errors[person].append(error or 0)
    return errors


def list_alike(campaign: Campaign) -> dict[int, list[bool]]:
    """For each person, whether they gave the same grade again, pair by pair."""
    graded_qs = Label.objects.filter(
        outcome=Label.Outcome.GRADED, superseded_by__isnull=True, pair__campaign=campaign
    )
    first_qs = graded_qs.filter(
        pair=OuterRef("pair"), annotator=OuterRef("annotator"), assignment__occasion=0
    )
    again_qs = graded_qs.filter(assignment__purpose=Assignment.Purpose.REPEAT)
    rows = again_qs.annotate(first=Subquery(first_qs.values("grade")[:1])).order_by()
    alike: dict[int, list[bool]] = defaultdict(list)
    for person, grade, first in rows.values_list("annotator", "grade", "first"):
        if first is not None:
            alike[person].append(grade == first)
    return alike


def list_agreed_decisions(*, access: Access, campaign: Campaign) -> list[tuple[int, int]]:
    """The decided pairs that are fit for gold, with their grades: two people or more have
    labelled them, at least half of them said what was decided, and no one was further than a
    step from it."""
    check_may_watch(access, campaign)
    in_use = GoldItem.objects.filter(pair=OuterRef("pk"), retired_at=None)
    decided_qs = campaign.pairs.filter(state=Pair.State.ADJUDICATED).exclude(Exists(in_use))
    decided = dict(decided_qs.values_list("pk", "grade"))
    said: dict[int, list[int]] = defaultdict(list)
    labels_qs = overlap_grades().filter(pair__campaign=campaign, pair__state=Pair.State.ADJUDICATED)
    for pair_id, grade in labels_qs.order_by().values_list("pair_id", "grade"):
        if grade is not None:
            said[pair_id].append(grade)
    codes = Scale.from_json(campaign.list.scale).codes
    return [
        (pk, grade)
        for pk, grade in sorted(decided.items())
        if grade is not None and _agree(said[pk], grade, codes)
    ]


def _agree(grades: Sequence[int], decided: int, codes: Sequence[int]) -> bool:
    steps = [abs(codes.index(grade) - codes.index(decided)) for grade in grades]
    return len(steps) >= 2 and max(steps) <= 1 and 2 * steps.count(0) >= len(steps)


def list_unchecked() -> QuerySet[Label]:
    """The labels of gold pairs that no one has compared with the right answer yet."""
    # not `gold_check__isnull`: without statistics PostgreSQL takes nearly all labels as checked
    # then, and begins with all there are instead of with those of gold
    unchecked = ~Exists(GoldCheck.objects.filter(label=OuterRef("pk")))
    gold_qs = Label.objects.filter(unchecked, assignment__purpose=Assignment.Purpose.GOLD)
    return gold_qs.exclude(outcome=Label.Outcome.RETRACTED)
