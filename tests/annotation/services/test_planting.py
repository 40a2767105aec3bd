"""Gold and repeats among the pairs that somebody is given, and what becomes of their labels."""

from collections import Counter
from datetime import timedelta

import pytest

from annotation.models import Assignment, Campaign, GoldCheck, Label, Pair
from annotation.selectors import list_due_lists
from annotation.selectors.gold import count_used_up, list_checked_people
from annotation.selectors.own_campaigns import count_progress
from annotation.selectors.own_labels import list_own_labels
from annotation.selectors.shown_pairs import list_leased_pairs
from annotation.selectors.standing import get_standing
from annotation.selectors.streams import get_stream, order_of
from annotation.services.checking import check_labels
from annotation.services.consolidating import consolidate
from annotation.services.gold import change_checks, mark_gold, retire_gold
from annotation.services.labelling import submit_label
from annotation.services.leasing import lease_next, release_expired, release_leases
from judgments.models import Judgment
from judgments.permissions import Access
from tests.builders import NOW, World, commit, make_access, make_world
from tests.builders_annotation import desk_of, held, label, lease, make_campaign, said

pytestmark = pytest.mark.django_db
both_orders = pytest.mark.parametrize("order", [Campaign.Order.BY_QUERY, Campaign.Order.SHUFFLED])


@pytest.fixture
def world() -> World:
    return make_world(queries=5, documents=20)


@pytest.fixture
def ada(world: World) -> Access:
    return make_access(collection=world.collection)


def make_checked(world: World, ada: Access, *, every: int = 5, **design: int | str) -> Campaign:
    """A campaign in which every so-and-so-many-th pair is gold; 4 is right."""
    percents = {name: int(design.pop(name, 0)) for name in ("gold_percent", "repeat_percent")}
    campaign = make_campaign(world=world, overlap=1, **design)
    for pair in campaign.pairs.select_related("campaign__list").order_by("pk")[::every]:
        mark_gold(access=ada, pair=pair, low=4, high=4, reason="", at=NOW)
    change_checks(access=ada, campaign=campaign, at=NOW, **percents)
    return campaign


def meet(campaign: Campaign, username: str = "ben") -> list[Assignment]:
    """Go through everything, in the order of the page; labels are left out, to save time."""
    desk, met = desk_of(campaign, username), list[Assignment]()
    while lease_next(desk=desk, count=60, at=NOW):
        shown = [pair.assignment for pair in list_leased_pairs(desk)]
        seats = {seat.public_id: seat for seat in held(campaign=campaign, username=username)}
        met += [seats[public_id] for public_id in shown]
        leased_qs = Assignment.objects.filter(public_id__in=shown)
        leased_qs.update(state=Assignment.State.DONE, leased_until=None)
    return met


def work(campaign: Campaign, username: str = "ben") -> list[Assignment]:
    """Label everything with a 4, in the order of the page; the seats, in that order."""
    desk, seats = desk_of(campaign, username), list[Assignment]()
    while lease_next(desk=desk, count=10, at=NOW):
        for shown in list_leased_pairs(desk):
            seat = Assignment.objects.select_related("pair").get(public_id=shown.assignment)
            at = NOW + timedelta(seconds=len(seats))
            submit_label(desk=desk, submission=said(seat=seat, grade=4, at=at), at=at)
            seats.append(seat)
    return seats


def purposes(seats: list[Assignment]) -> Counter[str]:
    return Counter(str(seat.purpose) for seat in seats)


@both_orders
def test_the_share_of_gold_is_kept_and_nobody_meets_it_twice(
    world: World, ada: Access, order: str
) -> None:
    campaign = make_checked(world, ada, gold_percent=10, order=order)
    seats = meet(campaign)
    counts = purposes(seats)
    assert counts["pool"] == 80
    assert 7 <= counts["gold"] <= 10
    gold = [seat.pair_id for seat in seats if seat.purpose == "gold"]
    assert len(gold) == len(set(gold))


@both_orders
def test_gold_is_met_where_the_order_has_it(world: World, ada: Access, order: str) -> None:
    campaign = make_checked(world, ada, gold_percent=15, order=order)
    seats, own_order = meet(campaign), order_of(desk_of(campaign, "ben"))
    keys = [own_order.key(seat.pair.query_id, seat.pair.document_id) for seat in seats]
    assert keys == sorted(keys)
    assert purposes(seats)["gold"] > 8


def test_a_query_of_nothing_but_gold_is_met_as_a_whole(world: World, ada: Access) -> None:
    campaign = make_campaign(world=world, overlap=1)
    for pair in campaign.pairs.select_related("campaign__list").filter(query__qid="q3"):
        mark_gold(access=ada, pair=pair, low=4, high=4, reason="", at=NOW)
    change_checks(access=ada, campaign=campaign, at=NOW, gold_percent=30)
    seats = meet(campaign)
    places = [place for place, seat in enumerate(seats) if seat.purpose == "gold"]
    assert len(places) in (0, 20)
    assert places == list(range(min(places, default=0), max(places, default=-1) + 1))


@both_orders
def test_what_somebody_labelled_comes_again_later_once(order: str) -> None:
    repeats = 0
    for seed in range(3):  # in one order of fifty, next to no second place lies ahead
        world = make_world(queries=20, documents=5, slug=f"books-{seed}")
        ada = make_access(collection=world.collection)
        campaign = make_checked(world, ada, repeat_percent=10, order=order, seed=seed)
        seats = work(campaign)
        counts = purposes(seats)
        assert counts["pool"] == 80
        assert counts["repeat"] <= 9
        first = {seat.pair_id: at for at, seat in enumerate(seats) if seat.purpose == "pool"}
        again = {seat.pair_id: at for at, seat in enumerate(seats) if seat.purpose == "repeat"}
        assert len(again) == counts["repeat"]
        assert all(place - first[pair] >= 20 for pair, place in again.items())
        people = list_checked_people(access=ada, campaign=campaign)
        person = next(person for person in people if person.name == "Ben")
        assert (person.repeats, person.alike) == (counts["repeat"], counts["repeat"])
        repeats += counts["repeat"]
    assert repeats >= 4


def test_nothing_is_planted_where_nothing_was_asked_for(world: World, ada: Access) -> None:
    campaign = make_checked(world, ada)
    assert purposes(meet(campaign)) == {"pool": 80}


def test_counts_do_not_tell_whether_something_was_planted(world: World, ada: Access) -> None:
    campaign = make_checked(world, ada, gold_percent=10)
    desk = desk_of(campaign, "ben")
    seen = {count_progress(desk).all}
    while lease_next(desk=desk, count=60, at=NOW):
        if not Assignment.objects.filter(pair__campaign=campaign, state="free").exists():
            break  # with the last pairs it is known how many there were
        seen.add(count_progress(desk).all)
        for seat in held(campaign=campaign, username="ben"):
            label(pair=seat.pair, username="ben", grade=4)
            seen.add(count_progress(desk).all)
    assert seen == {80 + 8}
    meet(campaign)
    assert count_progress(desk).left == 0


def test_the_own_history_holds_gold_like_everything_else(world: World, ada: Access) -> None:
    campaign = make_checked(world, ada, gold_percent=15)
    seats = work(campaign)
    assert {seat.purpose for seat in seats} == {"pool", "gold"}
    history = list_own_labels(desk_of(campaign, "ben"), limit=200)
    assert {one.pair.assignment for one in history} == {seat.public_id for seat in seats}


def gold_seat(campaign: Campaign, username: str = "ben") -> Assignment:
    """A gold pair that somebody holds; what comes before it is passed over."""
    for _ in range(20):
        seats = lease(campaign=campaign, username=username)
        for seat in seats:
            if seat.purpose == Assignment.Purpose.GOLD:
                return seat
        passed_qs = Assignment.objects.filter(pk__in=[seat.pk for seat in seats])
        passed_qs.update(state=Assignment.State.DONE, leased_until=None)
    raise AssertionError("no gold came")


def test_a_label_of_gold_says_nothing_of_the_pairs_grade(world: World, ada: Access) -> None:
    campaign = make_checked(world, ada, gold_percent=15)
    seat = gold_seat(campaign)
    consolidate(list_id=campaign.list_id, at=NOW + timedelta(hours=1))
    grades = {(seat.pair.query, seat.pair.document): 1}
    commit(judgment_list=world.judgments, grades=grades)
    label(pair=seat.pair, username="ben", grade=3)
    pair = Pair.objects.get(pk=seat.pair_id)
    assert (pair.label_seq, pair.consolidated_seq, pair.committed_seq) == (1, 1, 1)
    consolidate(list_id=campaign.list_id, at=NOW + timedelta(hours=2))
    of_pair = Judgment.objects.filter(query=pair.query_id, document=pair.document_id)
    assert list(of_pair.values_list("grade", "until")) == [(1, None)]
    assert Pair.objects.get(pk=pair.pk).state == Pair.State.OPEN


def test_gold_that_is_given_back_comes_again_and_takes_no_seat_from_anybody(
    world: World, ada: Access
) -> None:
    campaign = make_checked(world, ada, gold_percent=15)
    seat = gold_seat(campaign)
    release_leases(desk=desk_of(campaign, "ben"))
    assert set(seat.pair.assignments.values_list("state", flat=True)) == {"voided"}
    assert purposes(meet(campaign))["gold"] > 8


def test_a_label_of_gold_that_comes_after_its_lease_has_its_seat(world: World, ada: Access) -> None:
    campaign = make_checked(world, ada, gold_percent=15)
    seat = gold_seat(campaign)
    release_expired(at=NOW + campaign.lease + timedelta(seconds=1))
    late = said(seat=seat, grade=2)
    submit_label(desk=desk_of(campaign, "ben"), submission=late, at=NOW)
    assert Label.objects.get(pk=late.id).assignment_id == seat.pk
    assert Assignment.objects.get(pk=seat.pk).state == Assignment.State.DONE


def test_labels_of_gold_are_due_until_they_are_checked(world: World, ada: Access) -> None:
    campaign = make_checked(world, ada, gold_percent=15)
    seat = gold_seat(campaign)
    consolidate(list_id=campaign.list_id, at=NOW + timedelta(hours=1))
    assert list_due_lists() == []
    label(pair=seat.pair, username="ben", grade=1)
    assert list_due_lists() == [campaign.list_id]
    assert check_labels(list_id=campaign.list_id, at=NOW) == 1
    assert check_labels(list_id=campaign.list_id, at=NOW) == 0
    assert list_due_lists() == []
    assert GoldCheck.objects.get().error == -3
    label(pair=seat.pair, username="ben", grade=4)  # thinks again
    check_labels(list_id=campaign.list_id, at=NOW)
    person = next(p for p in list_checked_people(access=ada, campaign=campaign) if p.name == "Ben")
    assert person.accuracy is not None
    assert (person.accuracy.checks, person.accuracy.exact) == (1, 1)


def test_a_label_without_a_grade_is_checked_and_counts_for_nothing(
    world: World, ada: Access
) -> None:
    campaign = make_checked(world, ada, gold_percent=15)
    label(pair=gold_seat(campaign).pair, username="ben")
    check_labels(list_id=campaign.list_id, at=NOW)
    assert GoldCheck.objects.get().error is None
    people = list_checked_people(access=ada, campaign=campaign)
    assert all(person.accuracy is None for person in people)


def test_retired_gold_is_planted_no_more_and_its_labels_are_still_checked(
    world: World, ada: Access
) -> None:
    campaign = make_checked(world, ada, gold_percent=15)
    seat = gold_seat(campaign)
    for item in campaign.gold.select_related("campaign", "pair__query", "pair__document"):
        retire_gold(access=ada, item=item, at=NOW)
    label(pair=seat.pair, username="ben", grade=4)
    assert check_labels(list_id=campaign.list_id, at=NOW) == 1
    release_leases(desk=desk_of(campaign, "ben"))
    assert "gold" not in purposes(meet(campaign))


def test_the_lead_is_told_when_somebody_has_met_all_gold(world: World, ada: Access) -> None:
    campaign = make_checked(world, ada, every=50, gold_percent=30)
    assert count_used_up(campaign) == 0
    meet(campaign)
    assert count_used_up(campaign) == 1
    change_checks(access=ada, campaign=campaign, at=NOW, when_used_up="go_on")
    assert count_used_up(Campaign.objects.get(pk=campaign.pk)) == 0


def test_whoever_has_met_all_gold_is_asked_nothing_more_where_the_lead_wants_that(
    world: World, ada: Access
) -> None:
    campaign = make_checked(world, ada, every=50, gold_percent=30)
    change_checks(access=ada, campaign=campaign, at=NOW, when_used_up="stop")
    campaign = Campaign.objects.get(pk=campaign.pk)
    met = meet(campaign)
    assert purposes(met)["gold"] == 2
    assert len(met) < 100  # and not all pairs
    desk = desk_of(campaign, "ben")
    words = get_standing(desk).pause
    assert "nothing more for you" in words
    assert "gold" not in words
    assert get_standing(desk_of(campaign, "cem")).pause == ""
    assert count_used_up(campaign) == 1
    fresh = campaign.pairs.select_related("campaign__list").filter(gold=None)
    for pair in fresh.exclude(assignments__annotator=desk.viewer)[:20]:
        mark_gold(access=ada, pair=pair, low=4, high=4, reason="", at=NOW)
    assert get_standing(desk).pause == ""
    assert len(meet(campaign)) > 0


def test_gold_comes_again_only_where_the_lead_wants_that_and_only_long_after(
    world: World, ada: Access
) -> None:
    campaign = make_campaign(world=world, overlap=1, order=Campaign.Order.SHUFFLED)
    early = get_stream(desk_of(campaign, "ben")).pairs[3:40:8]
    for pair in campaign.pairs.select_related("campaign__list").filter(pk__in=early):
        mark_gold(access=ada, pair=pair, low=4, high=4, reason="", at=NOW)
    plan = {"gold_percent": 30, "when_used_up": "reuse", "reuse_after": 50}
    change_checks(access=ada, campaign=campaign, at=NOW, **plan)
    campaign = Campaign.objects.get(pk=campaign.pk)
    desk, turn, met_at = desk_of(campaign, "ben"), 0, dict[int, int]()
    while lease_next(desk=desk, count=4, at=NOW):
        for shown in list_leased_pairs(desk):
            seat = Assignment.objects.get(public_id=shown.assignment)
            if seat.purpose == Assignment.Purpose.GOLD:
                assert seat.occasion == 0 or turn - met_at[seat.pair_id] >= 50
                assert (seat.occasion > 0) == (seat.pair_id in met_at)
                met_at[seat.pair_id] = turn
            at = NOW + timedelta(seconds=turn)
            submit_label(desk=desk, submission=said(seat=seat, grade=3, at=at), at=at)
            turn += 1
    (ben, _) = list_checked_people(access=ada, campaign=campaign)
    assert ben.unmet == 0
    assert ben.again > 0
    assert check_labels(list_id=campaign.list_id, at=NOW) == ben.met
