"""Gold and repeats among the pairs that someone is given, and what becomes of their labels."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterable
from copy import deepcopy
from datetime import datetime, timedelta
from uuid import UUID

import pytest

from annotation.campaigns.services import change_campaign
from annotation.consolidation.services import consolidate
from annotation.due import list_due_lists
from annotation.gold.checking import check_labels
from annotation.gold.queries import count_unmet, count_used_up, list_checked_people
from annotation.gold.services import change_checks, mark_gold, retire_gold
from annotation.labelling.leasing import lease_next, release_expired, release_leases
from annotation.labelling.own_labels import list_own_labels
from annotation.labelling.services import submit_label
from annotation.labelling.shown_pairs import list_leased_pairs
from annotation.models import Assignment, Campaign, GoldCheck, Label, Pair
from annotation.seats.streams import order_of
from annotation.training.standing import get_standing
from judgments.models import Judgment, Query
from judgments.permissions import Access
from tests.builders import NOW, World, commit, make_access, make_world
from tests.builders_annotation import context_of, held, lease, make_campaign, said

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
both_orders = pytest.mark.parametrize("order", [Campaign.Order.BY_QUERY, Campaign.Order.SHUFFLED])


def make_checked(world: World, ada: Access, *, every: int = 5, **design: int | str) -> Campaign:
    """A campaign in which every so-and-so-many-th pair is gold; 4 is right."""
    percents = {name: int(design.pop(name, 0)) for name in ("gold_percent", "repeat_percent")}
    campaign = make_campaign(world=world, overlap=1, **design)
    for pair in campaign.pairs.select_related("campaign__list").order_by("pk")[::every]:
        mark_gold(access=ada, pair=pair, low=4, high=4, reason="", at=NOW)
    change_checks(access=ada, campaign=campaign, at=NOW, **percents)
    return campaign


Plant = Callable[..., Campaign]


@pytest.fixture(scope="module")
def built(shared_rows: None) -> Campaign:
    """Sixty pairs, of which every fifth is gold; two or three in each of five queries."""
    world = make_world(queries=5, documents=12)
    return make_checked(world, make_access(collection=world.collection))


@pytest.fixture
def ada(built: Campaign) -> Access:
    return make_access(collection=built.list.collection)


@pytest.fixture
def plant(built: Campaign, ada: Access) -> Plant:
    """Lets gold be planted in the sixty pairs, so many for every hundred others."""

    def plant(gold_percent: int = 0, order: str = Campaign.Order.BY_QUERY) -> Campaign:
        campaign = change_campaign(access=ada, campaign=deepcopy(built), at=NOW, order=order)
        change_checks(access=ada, campaign=campaign, at=NOW, gold_percent=gold_percent)
        return campaign

    return plant


def make_repeating(*, repeat_percent: int, order: str = Campaign.Order.BY_QUERY) -> Campaign:
    """Eighty pairs of five queries without gold, some of which come again."""
    world = make_world(slug="films", queries=5, documents=16)
    campaign = make_campaign(world=world, overlap=1, order=order)
    ada = make_access(collection=world.collection)
    change_checks(access=ada, campaign=campaign, at=NOW, repeat_percent=repeat_percent)
    return campaign


def make_with_gold_in(
    pairs_of: Callable[[Campaign, list[Query]], Iterable[Pair]], *, overlap: int = 1
) -> Campaign:
    """Fifty pairs of five queries, with gold where `pairs_of` a campaign and its queries says."""
    world = make_world(slug="films", queries=5, documents=10)
    campaign, ada = (
        make_campaign(world=world, overlap=overlap),
        make_access(collection=world.collection),
    )
    for pair in pairs_of(campaign, world.queries):
        mark_gold(access=ada, pair=pair, low=4, high=4, reason="", at=NOW)
    change_checks(access=ada, campaign=campaign, at=NOW, gold_percent=30)
    return campaign


def list_first_of_two(campaign: Campaign, queries: list[Query]) -> list[Pair]:
    """A pair of each of the two queries that Ben meets first."""
    order = order_of(context_of(campaign, "ben"))
    first = order.sort_chunks(query.pk for query in queries)[:2]
    pairs_qs = campaign.pairs.select_related("campaign__list")
    return [pairs_qs.filter(query=query)[0] for query in first]


def work(campaign: Campaign, username: str = "ben") -> list[Assignment]:
    """Label everything with a 4, in the order of the page; the seats, in that order.

    No worker runs meanwhile, so that pairs that were replaced do not come at the end.
    """
    context, met = context_of(campaign, username), list[UUID]()
    while lease_next(context=context, count=10, at=NOW):
        for shown in list_leased_pairs(context):
            at = NOW + timedelta(seconds=len(met))
            seat = Assignment(public_id=shown.assignment)
            submit_label(context=context, submission=said(seat=seat, grade=4, at=at), at=at)
            met.append(shown.assignment)
    seats_qs = Assignment.objects.select_related("pair", "stand_in__replaced")
    seats = seats_qs.in_bulk(met, field_name="public_id")
    return [seats[one] for one in met]


def purposes(seats: list[Assignment]) -> Counter[str]:
    return Counter(str(seat.purpose) for seat in seats)


@both_orders
def test_the_share_of_gold_is_kept_and_nobody_meets_it_twice(plant: Plant, order: str) -> None:
    campaign = plant(gold_percent=17, order=order)
    seats = work(campaign)
    counts = purposes(seats)
    assert sum(counts.values()) == 48
    assert 5 <= counts["gold"] <= 10  # 1.6 in each of five queries
    gold = [seat.pair_id for seat in seats if seat.purpose == "gold"]
    assert len(gold) == len(set(gold))


@both_orders
def test_gold_is_met_where_the_order_has_what_it_replaces(plant: Plant, order: str) -> None:
    campaign = plant(gold_percent=25, order=order)
    seats, own_order = work(campaign), order_of(context_of(campaign, "ben"))
    places = [seat.stand_in.replaced if seat.stand_in else seat.pair for seat in seats]
    keys = [
        own_order.key(pair=pair.pk, query=pair.query_id, document=pair.document_id)
        for pair in places
        if pair is not None
    ]
    assert keys == sorted(keys)
    assert purposes(seats)["gold"] > 8


def test_a_query_of_nothing_but_gold_is_never_met() -> None:
    campaign = make_with_gold_in(
        lambda campaign, queries: campaign.pairs.select_related("campaign__list").filter(
            query=queries[2]
        )
    )
    assert purposes(work(campaign)) == {"pool": 40}
    ada = make_access(collection=campaign.list.collection)
    (ben, _) = list_checked_people(access=ada, campaign=campaign)
    assert (ben.unmet, ben.is_used_up) == (0, False)  # there is nothing else to label either


@both_orders
def test_what_somebody_labelled_comes_again_later_once(order: str) -> None:
    campaign = make_repeating(repeat_percent=30, order=order)
    seats = work(campaign)
    counts = purposes(seats)
    assert counts["pool"] == 80  # what was replaced came at the end
    # five at most in each of five queries, and none before there are thirty labels: how many of
    # them come later is drawn (shuffled: 11.5 on average, 2.3 standard deviation)
    assert 3 <= counts["repeat"] <= 22
    first = {seat.pair_id: at for at, seat in enumerate(seats) if seat.purpose == "pool"}
    again = {seat.pair_id: at for at, seat in enumerate(seats) if seat.purpose == "repeat"}
    assert len(again) == counts["repeat"]
    assert all(place - first[pair] >= 20 for pair, place in again.items())
    ada = make_access(collection=campaign.list.collection)
    people = list_checked_people(access=ada, campaign=campaign)
    person = next(person for person in people if person.name == "Ben")
    assert (person.repeats, person.alike) == (counts["repeat"], counts["repeat"])


def test_query_by_query_a_repeat_comes_between_two_queries() -> None:
    campaign = make_repeating(repeat_percent=15)
    queries = [seat.pair.query_id for seat in work(campaign)]
    blocks = [query for query, _ in itertools.groupby(queries)]
    whole = [query for query in blocks if blocks.count(query) == 1]
    assert len(blocks) > 5
    places = {query: [n for n, one in enumerate(queries) if one == query] for query in whole}
    for own in places.values():
        assert own[-1] - own[0] == len(own) - 1  # nothing of another query within one


def test_nothing_is_planted_where_nothing_was_asked_for(plant: Plant) -> None:
    assert purposes(work(plant())) == {"pool": 48}


def test_the_own_history_holds_gold_like_everything_else(plant: Plant) -> None:
    campaign = plant(gold_percent=15)
    seats = work(campaign)
    assert {seat.purpose for seat in seats} == {"pool", "gold"}
    history = list_own_labels(context_of(campaign, "ben"), limit=200)
    assert {one.pair.assignment for one in history} == {seat.public_id for seat in seats}


def gold_seat(campaign: Campaign, username: str = "ben") -> Assignment:
    """A place that shows someone gold; what comes before it is passed over."""
    for _ in range(20):
        seats = lease(campaign=campaign, username=username)
        for seat in seats:
            if seat.stand_in_id is not None:
                return Assignment.objects.select_related("stand_in__shown", "pair").get(pk=seat.pk)
        passed_qs = Assignment.objects.filter(pk__in=[seat.pk for seat in seats])
        passed_qs.update(state=Assignment.State.DONE, leased_until=None)
    raise AssertionError("no gold came")


def shown_in(seat: Assignment) -> Pair:
    assert seat.stand_in is not None
    assert seat.stand_in.shown is not None
    return seat.stand_in.shown


def label_in(seat: Assignment, grade: int | None = None, at: datetime = NOW) -> Label:
    """Ben's label of what this place shows."""
    context = context_of(seat.pair.campaign, "ben")
    submission = said(seat=seat, grade=grade, at=at)
    submit_label(context=context, submission=submission, at=at)
    return Label.objects.get(pk=submission.id)


def test_a_label_of_gold_says_nothing_of_the_pairs_grade(plant: Plant) -> None:
    campaign = plant(gold_percent=15)
    seat = gold_seat(campaign)
    consolidate(list_id=campaign.list_id, at=NOW + timedelta(hours=1))
    gold = shown_in(seat)
    commit(judgment_list=campaign.list, grades={(gold.query, gold.document): 1})
    label_in(seat, 3)
    pair = Pair.objects.get(pk=gold.pk)
    assert (pair.label_seq, pair.consolidated_seq, pair.committed_seq) == (1, 1, 1)
    consolidate(list_id=campaign.list_id, at=NOW + timedelta(hours=2))
    of_pair = Judgment.objects.filter(query=pair.query_id, document=pair.document_id)
    assert list(of_pair.values_list("grade", "until")) == [(1, None)]
    assert Pair.objects.get(pk=pair.pk).state == Pair.State.OPEN


def test_gold_that_is_given_back_comes_again_in_its_place(plant: Plant) -> None:
    campaign = plant(gold_percent=15)
    seat = gold_seat(campaign)
    release_leases(context=context_of(campaign, "ben"))
    states = Assignment.objects.filter(pair=seat.pair_id).values_list("state", flat=True)
    assert sorted(states) == ["free", "voided"]
    shown = {one.stand_in_id for one in lease(campaign=campaign, username="ben")}
    assert seat.stand_in_id in shown


def test_a_label_of_gold_that_comes_after_its_lease_is_one_of_gold(plant: Plant) -> None:
    campaign = plant(gold_percent=15)
    seat = gold_seat(campaign)
    release_expired(at=NOW + campaign.lease + timedelta(seconds=1))
    stored = label_in(seat, 2)
    assert stored.pair == shown_in(seat)
    assert stored.assignment is not None
    assert (stored.assignment.purpose, stored.assignment.state) == ("gold", "done")


def test_labels_of_gold_are_due_until_they_are_checked(plant: Plant, ada: Access) -> None:
    campaign = plant(gold_percent=15)
    seat = gold_seat(campaign)
    consolidate(list_id=campaign.list_id, at=NOW + timedelta(hours=1))
    assert list_due_lists() == []
    label_in(seat, 1)
    assert list_due_lists() == [campaign.list_id]
    assert check_labels(list_id=campaign.list_id, at=NOW) == 1
    assert check_labels(list_id=campaign.list_id, at=NOW) == 0
    assert list_due_lists() == []
    assert GoldCheck.objects.get().error == -3
    label_in(seat, 4)  # thinks again
    check_labels(list_id=campaign.list_id, at=NOW)
    person = next(p for p in list_checked_people(access=ada, campaign=campaign) if p.name == "Ben")
    assert person.accuracy is not None
    assert (person.accuracy.checks, person.accuracy.exact) == (1, 1)


def test_a_label_without_a_grade_is_checked_and_counts_for_nothing(
    plant: Plant, ada: Access
) -> None:
    campaign = plant(gold_percent=15)
    label_in(gold_seat(campaign))
    check_labels(list_id=campaign.list_id, at=NOW)
    assert GoldCheck.objects.get().error is None
    people = list_checked_people(access=ada, campaign=campaign)
    assert all(person.accuracy is None for person in people)


def test_retired_gold_is_planted_no_more_and_its_labels_are_still_checked(
    plant: Plant, ada: Access
) -> None:
    campaign = plant(gold_percent=15)
    seat = gold_seat(campaign)
    for item in campaign.gold.select_related("campaign", "pair__query", "pair__document"):
        retire_gold(access=ada, item=item, at=NOW)
    label_in(seat, 4)
    assert check_labels(list_id=campaign.list_id, at=NOW) == 1
    release_leases(context=context_of(campaign, "ben"))
    assert "gold" not in purposes(work(campaign))


def test_the_lead_is_told_when_no_more_gold_can_reach_somebody() -> None:
    campaign = make_with_gold_in(list_first_of_two)
    assert count_used_up(campaign) == 0
    context, used_up = context_of(campaign, "ben"), 0
    for _ in range(15):
        lease_next(context=context, count=5, at=NOW)
        for seat in held(campaign=campaign, username="ben"):
            label_in(seat, 3)
        used_up = max(used_up, count_used_up(campaign))
    assert used_up > 0  # before everything was labelled
    assert count_used_up(campaign) == 0  # and now there is nothing else for him
    ada = make_access(collection=campaign.list.collection)
    change_checks(access=ada, campaign=campaign, at=NOW, when_used_up="go_on")
    assert count_used_up(Campaign.objects.get(pk=campaign.pk)) == 0


def test_gold_that_is_marked_behind_somebody_does_not_count_as_left_for_them() -> None:
    world = make_world(slug="films", queries=5, documents=12)
    ada = make_access(collection=world.collection)
    campaign = make_checked(world, ada, every=30, gold_percent=30)
    context = context_of(campaign, "ben")
    lease_next(context=context, count=36, at=NOW)  # three queries of twelve
    come_to = {seat.pair.query_id for seat in held(campaign=campaign, username="ben")}
    before = count_unmet(campaign, context.viewer)
    fresh = campaign.pairs.select_related("campaign__list").filter(gold=None)
    unseen = fresh.exclude(assignments__annotator=context.viewer)
    ahead = unseen.exclude(query__in=come_to).first()
    released = fresh.filter(query__in=come_to).first()
    assert ahead is not None
    assert released is not None
    for pair in (ahead, released):
        mark_gold(access=ada, pair=pair, low=4, high=4, reason="", at=NOW)
    assert count_unmet(campaign, context.viewer) == before + 1


def test_whoever_no_gold_can_reach_is_asked_nothing_more_where_the_lead_wants_that() -> None:
    # with room for Cem in the queries that have gold, wherever in them Ben meets it
    campaign = make_with_gold_in(list_first_of_two, overlap=2)
    ada = make_access(collection=campaign.list.collection)
    change_checks(access=ada, campaign=campaign, at=NOW, when_used_up="stop")
    campaign = Campaign.objects.get(pk=campaign.pk)
    met = work(campaign)
    assert purposes(met)["gold"] == 2
    assert len(met) <= 20  # of fifty
    context = context_of(campaign, "ben")
    words = get_standing(context).pause
    assert "nothing left for you" in words
    assert "gold" not in words
    assert get_standing(context_of(campaign, "cem")).pause == ""
    assert count_used_up(campaign) == 1
    come_to = {seat.pair.query_id for seat in met}
    fresh = campaign.pairs.select_related("campaign__list").filter(gold=None)
    for pair in fresh.exclude(query__in=come_to)[:5]:
        mark_gold(access=ada, pair=pair, low=4, high=4, reason="", at=NOW)
    assert get_standing(context).pause == ""
    assert len(work(campaign)) > 0
