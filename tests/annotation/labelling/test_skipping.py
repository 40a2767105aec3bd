"""Skipping a whole query, and asking for it again."""

import uuid

import pytest

from annotation.campaigns.services import close_campaign
from annotation.labelling.leasing import lease_next
from annotation.labelling.own_campaigns import count_progress
from annotation.labelling.own_labels import list_own_skips
from annotation.labelling.skipping import SkipRefused, give_back, return_skip, skip_query
from annotation.labelling.submissions import LabelRefused
from annotation.models import Assignment, Campaign, QuerySkip
from annotation.permissions import CampaignClosed
from judgments.models import AuditEntry, Query
from judgments.permissions import NotFound
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import context_of, held, label, lease, make_campaign

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    world = make_world(queries=3, documents=10)
    return world, make_campaign(world=world)


def skip(campaign: Campaign, username: str = "ben", **words: str) -> tuple[Query, QuerySkip]:
    """Someone skips the query that they have before them."""
    seat = lease(campaign=campaign, username=username, count=10)[0]
    words = {"reason": "unclear"} | words
    context = context_of(campaign, username)
    skipped = skip_query(context=context, assignment=seat.public_id, at=NOW, **words)
    return seat.pair.query, skipped.skip


def all_met_by(campaign: Campaign, username: str) -> set[Query]:
    """The queries of everything that someone gets to the end, labelling it all."""
    met = set()
    while seats := lease(campaign=campaign, username=username):
        for seat in seats:
            met.add(seat.pair.query)
            label(pair=seat.pair, username=username, grade=1)
    return met


def test_a_skipped_query_does_not_come_again_and_its_seats_go_back(campaign: Campaign) -> None:
    before = lease(campaign=campaign, username="ben", count=10)
    query, made = skip(campaign, reason="unfamiliar", note="  What is a sloop? ")
    assert {seat.pair.query for seat in before} == {query}
    assert held(campaign=campaign, username="ben") == []
    assert (made.reason, made.note) == ("unfamiliar", "What is a sloop?")
    assert query not in all_met_by(campaign, "ben")
    free = Assignment.objects.filter(pair__query=query, state="free")
    assert free.count() == 20


def test_others_still_get_a_skipped_query(campaign: Campaign) -> None:
    query, _ = skip(campaign)
    assert query in all_met_by(campaign, "cem")


def test_what_was_labelled_before_the_skip_stays(campaign: Campaign) -> None:
    first, *rest = lease(campaign=campaign, username="ben", count=10)
    label(pair=first.pair, username="ben", grade=2)
    skipped = skip_query(
        context=context_of(campaign, "ben"), assignment=rest[0].public_id, reason="other", at=NOW
    )
    assert set(skipped.released) == {seat.public_id for seat in rest}
    first.refresh_from_db()
    assert first.state == Assignment.State.DONE


def test_a_skipped_query_is_not_counted_as_left(campaign: Campaign) -> None:
    assert count_progress(context_of(campaign, "ben")).left == 30
    skip(campaign)
    assert count_progress(context_of(campaign, "ben")).left == 20
    assert count_progress(context_of(campaign, "cem")).left == 30


def test_skipping_twice_is_one_skip(campaign: Campaign) -> None:
    seat = lease(campaign=campaign, username="ben")[0]
    context = context_of(campaign, "ben")
    first = skip_query(context=context, assignment=seat.public_id, reason="unclear", at=NOW)
    again = skip_query(context=context, assignment=seat.public_id, reason="other", at=NOW)
    assert again.skip == first.skip
    assert again.released == ()


def test_a_query_comes_again_to_whoever_asks_for_it(campaign: Campaign) -> None:
    query, made = skip(campaign)
    context = context_of(campaign, "ben")
    assert [one.id for one in list_own_skips(context)] == [made.public_id]
    return_skip(context=context, skip_id=made.public_id, at=NOW)
    assert list_own_skips(context) == []
    assert query in all_met_by(campaign, "ben")
    with pytest.raises(NotFound):
        return_skip(context=context, skip_id=made.public_id, at=NOW)


def test_nobody_returns_the_skip_of_another(campaign: Campaign) -> None:
    _, made = skip(campaign)
    with pytest.raises(NotFound):
        return_skip(context=context_of(campaign, "cem"), skip_id=made.public_id, at=NOW)
    assert list_own_skips(context_of(campaign, "cem")) == []


def test_a_lead_gives_a_query_back_and_the_log_says_so(world: World, campaign: Campaign) -> None:
    query, made = skip(campaign)
    access = make_access(collection=world.collection)
    give_back(access=access, campaign=campaign, skip_id=made.public_id, at=NOW)
    entry = AuditEntry.objects.get(action="campaign.query_given_back")
    assert entry.after == {"query": query.qid, "person": "ben"}
    assert query in all_met_by(campaign, "ben")
    with pytest.raises(NotFound):
        give_back(access=access, campaign=campaign, skip_id=made.public_id, at=NOW)


def test_only_a_lead_gives_a_query_back(world: World, campaign: Campaign) -> None:
    _, made = skip(campaign)
    access = make_access(collection=world.collection, username="dora")
    with pytest.raises(NotFound):
        give_back(access=access, campaign=campaign, skip_id=made.public_id, at=NOW)


def test_a_skip_needs_a_seat_of_ones_own_and_a_known_reason(campaign: Campaign) -> None:
    theirs = lease(campaign=campaign, username="cem")[0].public_id
    context = context_of(campaign, "ben")
    for unknown in (theirs, uuid.uuid4()):
        with pytest.raises(NotFound):
            skip_query(context=context, assignment=unknown, reason="unclear", at=NOW)
    own = lease(campaign=campaign, username="ben")[0].public_id
    with pytest.raises(SkipRefused):
        skip_query(context=context, assignment=own, reason="bored", at=NOW)
    with pytest.raises(LabelRefused):
        skip_query(context=context, assignment=own, reason="other", note="x" * 1_001, at=NOW)
    assert not QuerySkip.objects.exists()


def test_nothing_is_skipped_in_a_closed_campaign(world: World, campaign: Campaign) -> None:
    seat = lease(campaign=campaign, username="ben")[0]
    access = make_access(collection=world.collection)
    close_campaign(access=access, campaign=campaign, at=NOW)
    with pytest.raises(CampaignClosed):
        skip_query(
            context=context_of(campaign, "ben"), assignment=seat.public_id, reason="unclear", at=NOW
        )


def test_a_query_that_comes_back_comes_before_what_is_done(campaign: Campaign) -> None:
    query, made = skip(campaign)
    while seats := lease(campaign=campaign, username="ben"):
        for seat in seats:
            label(pair=seat.pair, username="ben", grade=1)
    return_skip(context=context_of(campaign, "ben"), skip_id=made.public_id, at=NOW)
    lease_next(context=context_of(campaign, "ben"), count=60, at=NOW)
    assert {seat.pair.query for seat in held(campaign=campaign, username="ben")} == {query}
