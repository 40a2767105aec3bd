"""What leads see of campaigns and pairs, and how little of it anyone else does."""

from datetime import timedelta

import pytest

from annotation.adjudication.filters import Narrowing
from annotation.adjudication.pairs import Source, get_pair_page, get_pairs_page, list_widest
from annotation.adjudication.services import adjudicate
from annotation.campaigns.queries import (
    PairCounts,
    get_campaign,
    get_dashboard,
    get_pair,
    list_campaigns,
    list_candidates,
    list_contributors,
    list_extremes,
    rank_disagreements,
)
from annotation.campaigns.services import close_campaign, remove_annotator
from annotation.consolidation.services import consolidate
from annotation.dashboards.approvals import count_waiting
from annotation.guidelines.queries import get_guideline, list_guidelines
from annotation.labelling.leasing import release_expired
from annotation.labelling.services import submit_label
from annotation.models import Campaign, Pair
from judgments.models import Collection, Document
from judgments.permissions import Access, NotFound
from tests.builders import NOW, World, make_access, make_user, make_world
from tests.builders_annotation import (
    LEASE,
    context_of,
    label,
    make_campaign,
    make_draft,
    make_guideline,
    said,
    seat_for,
)

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]
YESTERDAY = NOW - timedelta(days=1)


@pytest.fixture
def world() -> World:
    return make_world(queries=1, documents=6)


@pytest.fixture
def campaign(world: World) -> Campaign:
    """Six pairs: agreed, two apart, four apart, tied and decided, half done, untouched."""
    campaign = make_campaign(world=world, name="Spring")
    pairs = list(campaign.pairs.select_related("campaign__list", "list", "query", "document"))
    given = [(2, 2), (1, 3), (0, 4), (0, 1), (2, None), (None, None)]
    for pair, grades in zip(pairs, given, strict=True):
        for username, grade, seconds in zip(("ben", "cem"), grades, (4.0, 9.0), strict=True):
            if grade is not None:
                label(pair=pair, username=username, grade=grade, seconds=seconds)
    consolidate(list_id=campaign.list_id, at=NOW)
    access = make_access(collection=world.collection)
    adjudicate(access=access, pair=pairs[3], grade=1, reason="Just so.", at=NOW)
    return campaign


def test_the_dashboard_says_how_far_pairs_and_people_are(
    world: World, ada: Access, campaign: Campaign
) -> None:
    page = get_dashboard(access=ada, campaign=campaign, now=NOW)
    assert page.counts == PairCounts(
        open=2, complete=1, tied=2, adjudicated=1, labels=9, labels_needed=12
    )
    assert page.counts.all == 6
    assert (page.disagreements, page.guideline_revision) == (3, 1)
    ben, cem = page.annotators
    assert (ben.username, ben.name, ben.labelled, ben.today, ben.median_seconds) == (
        "ben", "Ben", 5, 5, 4.0,
    )  # fmt: skip
    assert (cem.labelled, cem.median_seconds, cem.last_seen_at) == (4, 9.0, NOW)


def test_corrections_count_once_and_what_was_taken_back_does_not(world: World, ada: Access) -> None:
    campaign = make_campaign(world=world)
    first, second = campaign.pairs.select_related("campaign")[:2]
    label(pair=first, username="ben", grade=1, at=YESTERDAY)
    label(pair=first, username="ben", grade=2, at=YESTERDAY, seconds=None)
    label(pair=second, username="ben", grade=2)
    label(pair=second, username="ben", outcome="retracted")
    remove_annotator(access=ada, campaign=campaign, person=world.cem, at=NOW)
    ben, cem = get_dashboard(access=ada, campaign=campaign, now=NOW).annotators
    assert (ben.labelled, ben.today, ben.median_seconds, ben.last_seen_at) == (1, 0, None, NOW)
    assert (cem.labelled, cem.is_active, cem.last_seen_at) == (0, False, None)


def test_what_an_approval_would_change_is_counted(world: World, ada: Access) -> None:
    campaign = make_campaign(world=world, commit="approval")
    complete, begun = campaign.pairs.select_related("campaign")[:2]
    for username in ("ben", "cem"):
        label(pair=complete, username=username, grade=1)
    label(pair=begun, username="ben", grade=1)
    consolidate(list_id=campaign.list_id, at=NOW)
    assert count_waiting(campaign) == 1
    live = make_campaign(world=make_world(slug="films"), name="Live")
    assert count_waiting(live) == 0


def test_disagreements_come_widest_first_decided_ones_last(ada: Access, campaign: Campaign) -> None:
    dashboard = get_dashboard(access=ada, campaign=campaign, now=NOW)
    found = list_widest(access=ada, campaign=campaign, pair_ids=dashboard.widest)
    assert [(pair.document.docid, grades, pair.state) for pair, grades, _ in found] == [
        ("d3", [0, 4], "tied"),
        ("d2", [1, 3], "tied"),
        ("d4", [0, 1], "adjudicated"),
    ]
    assert (found[2].pair.grade, found[2].pair.query.qid) == (1, "q1")
    assert dashboard.disagreements == 3
    ranked = rank_disagreements(campaign)
    assert [pk for _, _, pk in ranked] == [row.pair.pk for row in found]
    assert [is_decided for is_decided, _, _ in ranked] == [False, False, True]


def test_a_surplus_label_does_not_make_a_disagreement(world: World, ada: Access) -> None:
    campaign = make_campaign(world=world, overlap=1)
    pair = campaign.pairs.select_related("campaign")[0]
    lost = seat_for(pair=pair, username="ben")
    late = NOW + LEASE + timedelta(seconds=1)
    release_expired(at=late)
    label(pair=pair, username="cem", grade=1)
    submit_label(context=context_of(campaign, "ben"), submission=said(seat=lost, grade=4), at=late)
    assert list_extremes(campaign) == []
    statements = get_pair_page(access=ada, pair_id=pair.pk).asked.labels
    assert [(one.annotator, one.is_in_overlap) for one in statements] == [
        ("Cem", True),
        ("Ben", False),
    ]


def test_a_pair_tells_everything_that_was_said_about_it(
    world: World, ada: Access, campaign: Campaign
) -> None:
    pair = campaign.pairs.get(document__docid="d4")
    label(pair=pair, username="ben", grade=4, note="changed my mind")
    Document.objects.filter(pk=pair.document_id).update(content_hash="f" * 64)
    page = get_pair_page(access=ada, pair_id=pair.pk)
    detail = page.asked
    assert [
        (one.annotator, one.grade, one.is_current, one.note, one.is_of_this_text)
        for one in detail.labels
    ] == [
        ("Ben", 0, False, "", False),
        ("Cem", 1, True, "", False),
        ("Ben", 4, True, "changed my mind", False),
    ]
    assert [(one.who, one.grade, one.reason) for one in detail.decisions] == [
        ("Ada", 1, "Just so.")
    ]
    assert detail.sources == (Source("bm25", "bm25-run", 4),)
    assert [(one.grade, one.since, one.until) for one in page.judgments] == [(1, 2, None)]
    assert (detail.grade, page.left) == (1, 2)


def test_campaigns_are_listed_with_how_far_they_are(
    world: World, ada: Access, campaign: Campaign
) -> None:
    draft = make_draft(world=world, name="Draft", pairs=[], people=["ben"])
    assert [
        (one, one.pair_count, one.complete_count, one.people) for one in list_campaigns(access=ada)
    ] == [(draft, 0, 0, 1), (campaign, 6, 2, 2)]


def test_candidates_are_the_members_who_do_not_annotate_yet(
    world: World, ada: Access, campaign: Campaign
) -> None:
    found = list_candidates(access=ada, campaign=campaign)
    assert [user.username for user in found] == ["ada", "dora"]


def test_guidelines_are_found_in_their_own_collection(world: World, ada: Access) -> None:
    own = make_guideline(world=world)
    foreign = make_guideline(world=make_world(slug="films"), name="Other")
    assert list_guidelines(access=ada) == [own]
    assert get_guideline(access=ada, guideline_id=own.pk) == own
    with pytest.raises(NotFound):
        get_guideline(access=ada, guideline_id=foreign.pk)


def test_researchers_see_pseudonyms_and_only_once_it_is_closed(
    world: World, ada: Access, campaign: Campaign
) -> None:
    dora = make_access(collection=world.collection, username="dora")
    ben = make_access(collection=world.collection, username="ben")
    expected = [("person 2", 5), ("person 3", 4)]
    for viewer in (dora, ben):
        with pytest.raises(NotFound):
            list_contributors(access=viewer, campaign=campaign)
    found = list_contributors(access=ada, campaign=campaign)
    assert [(one.pseudonym, one.labelled) for one in found] == expected
    campaign = close_campaign(access=ada, campaign=campaign, at=NOW)
    found = list_contributors(access=dora, campaign=campaign)
    assert [(one.pseudonym, one.labelled) for one in found] == expected
    with pytest.raises(NotFound):
        list_contributors(access=ben, campaign=campaign)


def test_an_admin_may_look(world: World, campaign: Campaign) -> None:
    root = make_user(username="root", is_superuser=True)
    access = make_access(collection=world.collection, username=root.username)
    assert get_dashboard(access=access, campaign=campaign, now=NOW).counts.all == 6
    assert len(list_campaigns(access=access)) == 1


@pytest.mark.parametrize("username", ["ben", "dora", "eve"])
def test_nobody_else_may(world: World, campaign: Campaign, username: str) -> None:
    own = "books-of-eve" if username == "eve" else "books"
    access = make_access(collection=Collection.objects.get(slug=own), username=username)
    pair = Pair.objects.order_by("pk")[0]
    for attempt in (
        lambda: get_campaign(access=access, campaign_id=campaign.public_id),
        lambda: get_dashboard(access=access, campaign=campaign, now=NOW),
        lambda: list_widest(access=access, campaign=campaign, pair_ids=()),
        lambda: get_pairs_page(
            access=access, campaign=campaign, show="", qid="", narrowing=Narrowing(), page=""
        ),
        lambda: list_candidates(access=access, campaign=campaign),
        lambda: get_pair(access=access, pair_id=pair.pk),
        lambda: get_pair_page(access=access, pair_id=pair.pk),
    ):
        with pytest.raises(NotFound):
            attempt()


@pytest.mark.parametrize("username", ["ben", "dora"])
def test_lists_of_campaigns_and_guidelines_are_for_leads(world: World, username: str) -> None:
    access = make_access(collection=world.collection, username=username)
    for attempt in (
        lambda: list_campaigns(access=access),
        lambda: list_guidelines(access=access),
        lambda: get_guideline(access=access, guideline_id=1),
    ):
        with pytest.raises(NotFound):
            attempt()
