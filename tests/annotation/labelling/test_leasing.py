"""Leases: who gets which pairs, in whose order, for how long."""

import uuid
from datetime import timedelta
from operator import attrgetter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.campaigns.services import close_campaign, remove_annotator
from annotation.labelling.leasing import (
    MOST,
    lease_next,
    release_expired,
    release_leases,
    renew_leases,
)
from annotation.labelling.services import submit_label
from annotation.labelling.shown_pairs import list_leased_pairs
from annotation.models import Assignment, Campaign
from annotation.permissions import CampaignClosed
from annotation.seats.streams import order_of
from judgments.members.services import end_membership
from judgments.models import User
from judgments.permissions import NotFound
from tests.builders import NOW, World, make_access, make_member, make_world
from tests.builders_annotation import (
    LEASE,
    context_of,
    held,
    label,
    lease,
    make_campaign,
    make_draft,
    said,
)

pytestmark = pytest.mark.django_db
LATER = NOW + LEASE + timedelta(seconds=1)


@pytest.fixture
def world() -> World:
    return make_world(queries=4, documents=10)


@pytest.fixture
def campaign(world: World) -> Campaign:
    return make_campaign(world=world)


def test_the_next_pairs_come_in_the_annotators_own_order(campaign: Campaign) -> None:
    seats = lease(campaign=campaign, username="ben", count=15)
    order = order_of(context_of(campaign, "ben"))
    keys = {
        pair.pk: order.key(pair=pair.pk, query=pair.query_id, document=pair.document_id)
        for pair in campaign.pairs.all()
    }
    assert {seat.pair_id for seat in seats} == set(sorted(keys, key=keys.__getitem__)[: len(seats)])
    shown = [pair.assignment for pair in list_leased_pairs(context_of(campaign, "ben"))]
    assert shown == [seat.public_id for seat in sorted(seats, key=lambda seat: keys[seat.pair_id])]


def test_each_seat_keeps_as_which_one_and_in_which_order_it_was_handed_out(
    campaign: Campaign,
) -> None:
    seats = lease(campaign=campaign, username="ben", count=15)
    order = order_of(context_of(campaign, "ben"))
    seats.sort(
        key=lambda seat: order.key(
            pair=seat.pair_id, query=seat.pair.query_id, document=seat.pair.document_id
        )
    )
    assert [seat.place for seat in seats] == list(range(1, len(seats) + 1))
    assert {seat.order for seat in seats} == {"query"}
    for seat in seats:
        label(pair=seat.pair, username="ben", grade=1)
    Campaign.objects.update(order="shuffled")
    more = lease(campaign=campaign, username="ben", count=10)
    assert {seat.order for seat in more} == {"shuffled"}
    assert {seat.place for seat in more} == set(range(len(seats) + 1, len(seats) + 11))


def test_a_late_label_takes_along_how_its_pair_was_met(world: World) -> None:
    campaign = make_campaign(world=world, overlap=2)
    seat = lease(campaign=campaign, username="ben")[3]
    release_expired(at=LATER)
    submission = said(seat=seat, grade=1, at=LATER)
    submit_label(context=context_of(campaign, "ben"), submission=submission, at=LATER)
    taken = Assignment.objects.get(labels=submission.id)
    assert taken != seat
    assert (taken.order, taken.place) == (seat.order, seat.place)


def test_a_campaign_says_how_long_a_lease_is(world: World) -> None:
    campaign = make_campaign(world=world)
    Campaign.objects.update(lease_minutes=7)
    seat = lease(campaign=campaign, username="ben")[0]
    assert seat.leased_until == NOW + timedelta(minutes=7)


def test_two_people_meet_the_pairs_in_different_orders(campaign: Campaign) -> None:
    titles = []
    for username in ("ben", "cem"):
        lease(campaign=campaign, username=username)
        titles.append([pair.title for pair in list_leased_pairs(context_of(campaign, username))])
    assert titles[0] != titles[1]


def test_query_by_query_a_query_is_gone_through_before_the_next(campaign: Campaign) -> None:
    seats = lease(campaign=campaign, username="ben", count=25)
    ordered = sorted(seats, key=attrgetter("place"))
    queries = [seat.pair.query_id for seat in ordered]
    assert [len(set(queries[start : start + 10])) for start in (0, 10, 20)] == [1, 1, 1]
    assert len(queries) == 25


def test_shuffled_leases_are_as_many_as_asked_for(world: World) -> None:
    campaign = make_campaign(world=world, order=Campaign.Order.SHUFFLED)
    assert len(lease(campaign=campaign, username="ben", count=25)) == 25


def test_nobody_holds_more_than_sixty_seats() -> None:
    world = make_world(queries=8, documents=10)
    campaign = make_campaign(world=world, order=Campaign.Order.SHUFFLED)
    assert len(lease(campaign=campaign, username="ben", count=1_000)) == MOST


def test_asking_again_gives_back_the_same_seats(campaign: Campaign) -> None:
    first = lease(campaign=campaign, username="ben")
    assert lease(campaign=campaign, username="ben") == first


def test_the_next_pairs_come_when_half_are_left(world: World) -> None:
    campaign = make_campaign(world=world, order=Campaign.Order.SHUFFLED)
    for seat in lease(campaign=campaign, username="ben", count=20)[:10]:
        label(pair=seat.pair, username="ben", grade=1)
    assert len(lease(campaign=campaign, username="ben", count=20)) == 10
    label(pair=held(campaign=campaign, username="ben")[0].pair, username="ben", grade=1)
    assert len(lease(campaign=campaign, username="ben", count=20)) == 20


def test_nobody_gets_two_seats_of_a_pair(world: World) -> None:
    campaign = make_campaign(world=world, overlap=2, order=Campaign.Order.SHUFFLED)
    while seats := lease(campaign=campaign, username="ben"):
        for seat in seats:
            label(pair=seat.pair, username="ben", grade=1)
    own = Assignment.objects.filter(annotator__username="ben").values_list("pair", flat=True)
    assert sorted(own) == sorted(campaign.pairs.values_list("pk", flat=True))


def test_a_campaign_is_labelled_to_the_end_by_as_many_as_its_overlap(world: World) -> None:
    campaign = make_campaign(world=world)
    for _ in range(20):
        for username in ("ben", "cem"):
            for seat in lease(campaign=campaign, username=username):
                label(pair=seat.pair, username=username, grade=1)
    states = Assignment.objects.values_list("state", flat=True)
    assert set(states) == {Assignment.State.DONE}
    assert len(states) == 80


def test_an_expired_lease_stays_with_its_person_until_somebody_asks(campaign: Campaign) -> None:
    before = lease(campaign=campaign, username="ben")
    assert lease(campaign=campaign, username="ben", at=LATER) == before
    renewed = {seat.leased_until for seat in held(campaign=campaign, username="ben")}
    assert renewed == {LATER + LEASE}


def test_an_expired_lease_is_taken_over_by_whoever_asks_next(world: World) -> None:
    campaign = make_campaign(world=world, overlap=1, people=["ben", "cem"])
    pairs = {seat.pair_id for seat in lease(campaign=campaign, username="ben", count=60)}
    taken: set[int] = set()
    for _ in range(4):
        for seat in lease(campaign=campaign, username="cem", at=LATER):
            taken.add(seat.pair_id)
            label(pair=seat.pair, username="cem", grade=1, at=LATER)
    assert pairs <= taken
    assert held(campaign=campaign, username="ben") == []


def test_the_sweep_frees_expired_seats_under_new_ids_and_only_those(campaign: Campaign) -> None:
    old = lease(campaign=campaign, username="ben", count=10)
    lease(campaign=campaign, username="cem", count=10, at=NOW + timedelta(minutes=10))
    assert release_expired(at=LATER) == len(old)
    assert release_expired(at=LATER) == 0
    assert len(held(campaign=campaign, username="cem")) == 10
    for seat in old:
        seat.refresh_from_db()
        assert (seat.state, seat.annotator) == ("voided", User.objects.get(username="ben"))
        again = Assignment.objects.get(pair=seat.pair, seat=seat.seat, state="free")
        assert again.public_id != seat.public_id


def test_renewing_keeps_all_leases_for_their_full_length(campaign: Campaign) -> None:
    seats = lease(campaign=campaign, username="ben")
    late = NOW + timedelta(minutes=29)
    assert renew_leases(context=context_of(campaign, "ben"), at=late) == len(seats)
    assert release_expired(at=LATER) == 0


def test_leases_are_given_back_by_name_or_all(campaign: Campaign) -> None:
    seats = lease(campaign=campaign, username="ben")
    context = context_of(campaign, "ben")
    assert release_leases(context=context, assignments=[seats[0].public_id]) == 1
    assert release_leases(context=context, assignments=[uuid.uuid4()]) == 0
    assert len(held(campaign=campaign, username="ben")) == len(seats) - 1
    assert release_leases(context=context) == len(seats) - 1
    assert Assignment.objects.filter(state="free").count() == 80


def test_nobody_gives_back_the_seats_of_others(campaign: Campaign) -> None:
    seats = lease(campaign=campaign, username="ben")
    context = context_of(campaign, "cem")
    assert release_leases(context=context, assignments=[seat.public_id for seat in seats]) == 0
    assert held(campaign=campaign, username="ben") == seats


def test_a_closed_campaign_gives_no_pairs(world: World, campaign: Campaign) -> None:
    close_campaign(access=make_access(collection=world.collection), campaign=campaign, at=NOW)
    with pytest.raises(CampaignClosed):
        lease_next(context=context_of(campaign, "ben"), count=5, at=NOW)


def test_pairs_that_are_added_are_found_without_a_restart(world: World) -> None:
    from tests.builders_annotation import fill

    pairs = [(query, document) for query in world.queries for document in world.documents]
    campaign = make_campaign(world=world, pairs=pairs[:5], overlap=1, people=["ben"])
    for seat in lease(campaign=campaign, username="ben"):
        label(pair=seat.pair, username="ben", grade=1)
    assert lease(campaign=campaign, username="ben") == []
    fill(campaign=campaign, pairs=pairs[5:9])
    assert len(lease(campaign=campaign, username="ben")) == 4


def test_a_seat_that_is_freed_behind_somebody_is_found_at_the_end(world: World) -> None:
    campaign = make_campaign(world=world, overlap=1)
    first = lease(campaign=campaign, username="cem")
    while seats := lease(campaign=campaign, username="ben"):
        for seat in seats:
            label(pair=seat.pair, username="ben", grade=1)
    release_leases(context=context_of(campaign, "cem"))
    again = lease(campaign=campaign, username="ben")
    assert {seat.pair_id for seat in again} == {seat.pair_id for seat in first}


@pytest.mark.parametrize("username", ["ada", "dora", "eve"])
def test_whoever_is_not_in_the_campaign_finds_none(campaign: Campaign, username: str) -> None:
    with pytest.raises(NotFound):
        context_of(campaign, username)


def test_a_draft_is_there_for_nobody(world: World) -> None:
    with pytest.raises(NotFound):
        context_of(make_draft(world=world), "ben")


def test_who_was_removed_finds_no_campaign_and_holds_no_seat(
    world: World, campaign: Campaign
) -> None:
    make_member(collection=world.collection, username="fay", role="annotator")
    lease(campaign=campaign, username="ben")
    remove_annotator(
        access=make_access(collection=world.collection), campaign=campaign, person=world.ben, at=NOW
    )
    assert held(campaign=campaign, username="ben") == []
    with pytest.raises(NotFound):
        context_of(campaign, "ben")


def test_who_left_the_collection_or_was_deactivated_finds_no_campaign(
    world: World, campaign: Campaign
) -> None:
    end_membership(access=make_access(collection=world.collection), username="ben", at=NOW)
    with pytest.raises(NotFound):
        context_of(campaign, "ben")
    User.objects.filter(username="cem").update(is_active=False)
    with pytest.raises(NotFound):
        context_of(campaign, "cem")


def test_asking_with_pairs_at_hand_costs_one_query(campaign: Campaign) -> None:
    lease(campaign=campaign, username="ben")
    context = context_of(campaign, "ben")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        lease_next(context=context, count=60, at=NOW)
    assert len(queries) == 1


def test_leasing_costs_the_same_few_queries_for_any_number_of_seats() -> None:
    world = make_world(queries=2, documents=40)
    campaign = make_campaign(world=world, order=Campaign.Order.SHUFFLED)
    counts = []
    for username, count in (("ben", 2), ("cem", 60)):
        context = context_of(campaign, username)
        with CaptureQueriesContext(connection) as queries:
            lease_next(context=context, count=count, at=NOW)
        counts.append(len(queries))
    assert max(counts) <= 18  # one more where rows that are locked can be passed over
