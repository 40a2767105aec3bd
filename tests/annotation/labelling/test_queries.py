"""What annotators see of their campaign and of what they did themselves."""

from datetime import timedelta

import pytest

from annotation.campaigns.services import close_campaign, remove_annotator
from annotation.labelling.leasing import release_expired
from annotation.labelling.own_campaigns import Progress, count_progress, list_own_campaigns
from annotation.labelling.own_labels import list_own_labels
from annotation.labelling.queries import get_label_shell
from annotation.labelling.services import submit_label, submit_labels
from annotation.labelling.shown_pairs import list_leased_pairs
from annotation.models import Campaign, Label, Pair
from judgments.members.services import end_membership
from judgments.models import Document
from judgments.permissions import NotFound
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import (
    LEASE,
    context_of,
    label,
    lease,
    make_campaign,
    make_draft,
    said,
    seat_for,
)

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]


@pytest.fixture
def world() -> World:
    return make_world(queries=2, documents=10)


@pytest.fixture
def campaign(world: World) -> Campaign:
    return make_campaign(world=world)


def test_a_pair_is_shown_with_all_that_is_needed_to_judge_it(world: World) -> None:
    Document.objects.filter(docid="d1").update(
        url="https://docs.example/1", fields={"kind": "module"}
    )
    campaign = make_campaign(world=world, pairs=[(world.queries[0], world.documents[0])])
    (seat,) = lease(campaign=campaign, username="ben")
    (shown,) = list_leased_pairs(context_of(campaign, "ben"))
    assert (shown.assignment, shown.query_text, shown.query_description) == (
        seat.public_id, "query number 1", "What query 1 is after.",
    )  # fmt: skip
    assert (shown.title, shown.body, shown.url, shown.fields) == (
        "Title 1", "The body of document 1.", "https://docs.example/1", {"kind": "module"},
    )  # fmt: skip
    assert shown.content_hash == world.documents[0].content_hash
    page = get_label_shell(context_of(campaign, "ben"))
    assert page.campaign_name == "First"
    assert (page.guideline.name, page.guideline.revision) == ("How to grade", 1)
    assert [grade["code"] for grade in page.guideline.grades] == [0, 1, 2, 3, 4]


def test_progress_counts_what_is_done_and_what_is_left_for_oneself(campaign: Campaign) -> None:
    context = context_of(campaign, "ben")
    assert count_progress(context) == Progress(0, 20)
    seats = lease(campaign=campaign, username="ben")
    assert count_progress(context) == Progress(0, 20)
    for seat in seats[:3]:
        label(pair=seat.pair, username="ben", grade=1)
    assert count_progress(context) == Progress(3, 17)
    label(pair=seats[0].pair, username="ben", outcome="retracted")
    assert count_progress(context) == Progress(2, 18)


def test_pairs_that_others_filled_are_not_left(world: World) -> None:
    campaign = make_campaign(world=world, overlap=1)
    label(pair=campaign.pairs.select_related("campaign")[0], username="cem", grade=1)
    assert count_progress(context_of(campaign, "ben")) == Progress(0, 19)


def test_own_labels_are_listed_newest_first_as_they_hold_now(campaign: Campaign) -> None:
    pairs = list(campaign.pairs.select_related("campaign", "document")[:4])
    for minute, pair in enumerate(pairs[:3]):
        label(pair=pair, username="ben", grade=minute, at=NOW + timedelta(minutes=minute))
    label(pair=pairs[1], username="ben", grade=4, at=NOW + timedelta(minutes=9), note="second")
    label(pair=pairs[2], username="ben", outcome="retracted", at=NOW + timedelta(minutes=10))
    label(pair=pairs[3], username="cem", grade=0)
    context = context_of(campaign, "ben")
    own = list_own_labels(context)
    assert [(one.grade, one.note, one.pair.title) for one in own] == [
        (4, "second", pairs[1].document.title),
        (0, "", pairs[0].document.title),
    ]
    assert list_own_labels(context, limit=1) == own[:1]
    assert list_own_labels(context, before=own[0].id) == own[1:]


def test_labels_received_together_are_paged_without_loss(campaign: Campaign) -> None:
    for pair in campaign.pairs.select_related("campaign"):
        label(pair=pair, username="ben", grade=1)
    context = context_of(campaign, "ben")
    seen = page = list_own_labels(context, limit=7)
    while page := list_own_labels(context, limit=7, before=page[-1].id):
        seen = seen + page
    assert len({one.id for one in seen}) == len(seen) == 20


def test_labels_received_together_are_listed_in_the_order_in_which_they_were_made(
    campaign: Campaign,
) -> None:
    context = context_of(campaign, "ben")
    seats = lease(campaign=campaign, username="ben")[:8]
    submissions = [
        said(seat=seat, grade=1, made_at=NOW - timedelta(seconds=8 - place))
        for place, seat in enumerate(seats)
    ]
    submit_labels(context=context, submissions=submissions, at=NOW)
    named = [one.pair.assignment for one in list_own_labels(context)]
    assert named == [seat.public_id for seat in reversed(seats)]
    third = list_own_labels(context)[2]
    older = list_own_labels(context, before=third.id)
    assert [one.pair.assignment for one in older] == named[3:]


def test_an_own_label_can_be_corrected_by_the_seat_that_it_names(campaign: Campaign) -> None:
    pair = campaign.pairs.select_related("campaign")[0]
    label(pair=pair, username="ben", grade=1)
    context = context_of(campaign, "ben")
    (own,) = list_own_labels(context)
    seat = pair.assignments.get(public_id=own.pair.assignment)
    submit_label(context=context, submission=said(seat=seat, grade=2, supersedes=own.id), at=NOW)
    assert [one.grade for one in list_own_labels(context)] == [2]


def test_a_surplus_label_is_in_ones_history_too(world: World) -> None:
    campaign = make_campaign(world=world, overlap=1)
    pair = campaign.pairs.select_related("campaign")[0]
    lost = seat_for(pair=pair, username="ben")
    release_expired(at=NOW + LEASE + timedelta(seconds=1))
    label(pair=pair, username="cem", grade=1)
    context = context_of(campaign, "ben")
    submit_label(context=context, submission=said(seat=lost, grade=3), at=NOW)
    assert Label.objects.get(grade=3).assignment is None
    (own,) = list_own_labels(context)
    assert own.pair.assignment == lost.public_id


@pytest.mark.parametrize("username", ["cem", "ada"])
def test_the_label_of_somebody_else_is_not_found(world: World, username: str) -> None:
    campaign = make_campaign(world=world, people=["ada", "ben", "cem"])
    made = label(pair=campaign.pairs.select_related("campaign")[0], username="ben", grade=1)
    context = context_of(campaign, username)
    with pytest.raises(NotFound):
        list_own_labels(context, before=made.pk)
    assert list_own_labels(context) == []


def test_own_campaigns_are_those_that_have_begun_open_ones_first(
    world: World, campaign: Campaign
) -> None:
    access = make_access(collection=world.collection)
    close_campaign(access=access, campaign=campaign, at=NOW)
    make_draft(world=world, name="Draft")
    second = make_campaign(world=world, name="Second", people=["ben", "dora"])
    films = make_world(slug="films", queries=1, documents=2)
    make_campaign(world=films, name="Films")
    own = list_own_campaigns(viewer=world.ben)
    assert [(one.name, one.collection_name, one.is_open) for one in own] == [
        ("Films", "Films", True),
        ("Second", "Books", True),
        ("First", "Books", False),
    ]
    assert own[1].progress == Progress(0, 20)
    assert list_own_campaigns(viewer=world.eve) == []
    remove_annotator(access=access, campaign=second, person=world.ben, at=NOW)
    assert [one.name for one in list_own_campaigns(viewer=world.ben)] == ["Films", "First"]


def test_who_left_a_collection_finds_none_of_its_campaigns(
    world: World, campaign: Campaign
) -> None:
    end_membership(access=make_access(collection=world.collection), username="ben", at=NOW)
    assert list_own_campaigns(viewer=world.ben) == []


def test_a_page_of_sixty_pairs_costs_a_handful_of_queries(
    campaign: Campaign, django_assert_max_num_queries: object
) -> None:
    lease(campaign=campaign, username="ben")
    context = context_of(campaign, "ben")
    with django_assert_max_num_queries(4):
        pairs = list_leased_pairs(context)
    assert len(pairs) == Pair.objects.count() == 20


def test_a_count_asked_for_with_every_label_follows_the_viewers_own_work_at_once(
    world: World,
) -> None:
    campaign = make_campaign(world=world, overlap=1)
    context = context_of(campaign, "ben")
    assert count_progress(context, is_exact=False) == Progress(0, 20)
    pairs = list(campaign.pairs.select_related("campaign")[:3])
    label(pair=pairs[0], username="ben", grade=1)
    label(pair=pairs[1], username="cem", grade=1)
    assert count_progress(context, is_exact=False) == Progress(1, 19)
    assert count_progress(context) == Progress(1, 18)
    assert count_progress(context, is_exact=False) == Progress(1, 18)


def test_pairs_that_the_page_has_are_not_read_again(campaign: Campaign) -> None:
    lease(campaign=campaign, username="ben")
    context = context_of(campaign, "ben")
    everything = list_leased_pairs(context)
    known = [pair.assignment for pair in everything[:4]]
    assert list_leased_pairs(context, without=known) == everything[4:]
