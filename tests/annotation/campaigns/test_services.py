"""Campaigns from draft to closed, the people in them, and everything that is refused."""

from datetime import timedelta
from typing import Any

import pytest

from annotation.campaigns.services import (
    CampaignRefused,
    add_annotators,
    change_campaign,
    check_may_open,
    close_campaign,
    create_campaign,
    open_campaign,
    remove_annotator,
    reopen_campaign,
)
from annotation.consolidation.services import approve, consolidate
from annotation.models import Assignment, Campaign, CampaignAnnotator, Pair
from judgments.members.services import end_membership
from judgments.models import AuditEntry, Collection, Judgment, Membership
from judgments.permissions import Access, NotFound
from tests.builders import NOW, World, commit, make_access, make_list, make_user, make_world
from tests.builders_annotation import held, label, lease, make_campaign, make_draft, make_guideline
from touchstone.scales import Scale

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=1)


@pytest.fixture
def world() -> World:
    return make_world(queries=2, documents=3)


def annotating(world: World) -> set[str]:
    rows = Membership.objects.filter(collection=world.collection, is_annotating=True)
    return set(rows.values_list("user__username", flat=True))


def actions() -> list[str]:
    rows = AuditEntry.objects.filter(action__startswith="campaign.").order_by("pk")
    return list(rows.values_list("action", flat=True))


def test_a_campaign_begins_as_a_draft(world: World, ada: Access) -> None:
    campaign = create_campaign(
        access=ada,
        at=NOW,
        seed=7,
        judgment_list=world.judgments,
        guideline=make_guideline(world=world),
        name="  First  ",
    )
    campaign.refresh_from_db()
    assert (campaign.name, campaign.state, campaign.overlap, campaign.depth) == (
        "First", "draft", 2, 10,
    )  # fmt: skip
    assert (campaign.rule, campaign.commit, campaign.order) == ("majority", "live", "query")
    assert (campaign.created_by, campaign.seed) == (world.ada, 7)
    assert actions() == ["campaign.created"]


@pytest.mark.parametrize(
    ("design", "code"),
    [
        ({"name": " "}, "name_invalid"),
        ({"name": "x" * 201}, "name_invalid"),
        ({"overlap": 0}, "overlap_invalid"),
        ({"overlap": 21}, "overlap_invalid"),
        ({"depth": 0}, "depth_invalid"),
        ({"rule": "loudest"}, "rule_invalid"),
        ({"commit": "never"}, "commit_invalid"),
        ({"order": "rank"}, "order_invalid"),
    ],
)
def test_a_design_that_makes_no_sense_is_refused(
    world: World, ada: Access, design: dict[str, Any], code: str
) -> None:
    with pytest.raises(CampaignRefused) as refused:
        create_campaign(
            access=ada,
            at=NOW,
            seed=7,
            judgment_list=world.judgments,
            guideline=make_guideline(world=world),
            **({"name": "First"} | design),
        )
    assert refused.value.code == code


def test_a_name_is_taken_once_in_a_list(world: World) -> None:
    make_draft(world=world)
    with pytest.raises(CampaignRefused) as refused:
        make_draft(world=world)
    assert refused.value.code == "name_taken"
    other = make_draft(world=world, name="Second")
    with pytest.raises(CampaignRefused, match="already has a campaign"):
        change_campaign(
            access=make_access(collection=world.collection), campaign=other, at=NOW, name="First"
        )


def test_a_guideline_must_be_for_the_scale_of_the_list(world: World, ada: Access) -> None:
    binary = make_list(collection=world.collection, slug="binary", scale=Scale.parse("0..1"))
    with pytest.raises(CampaignRefused, match="different scale"):
        make_draft(world=world, judgment_list=binary)


def test_lists_and_guidelines_of_others_are_not_found(world: World, ada: Access) -> None:
    other = make_world(slug="films")
    for judgment_list, guideline in (
        (other.judgments, make_guideline(world=world)),
        (world.judgments, make_guideline(world=other)),
    ):
        with pytest.raises(NotFound):
            create_campaign(
                access=ada,
                at=NOW,
                seed=7,
                judgment_list=judgment_list,
                guideline=guideline,
                name="First",
            )


def test_a_draft_can_be_changed_and_its_seats_follow_its_overlap(world: World, ada: Access) -> None:
    campaign = make_draft(world=world)
    changed = change_campaign(
        access=ada, campaign=campaign, at=NOW, overlap=3, name=" Wide ", rule="median"
    )
    changed.refresh_from_db()
    assert (changed.name, changed.overlap, changed.rule, changed.depth) == (
        "Wide", 3, "median", 10,
    )  # fmt: skip
    seats = Assignment.objects.filter(state="free")
    assert sorted(seats.values_list("seat", flat=True)) == [1] * 6 + [2] * 6 + [3] * 6
    change_campaign(access=ada, campaign=campaign, at=NOW, overlap=1)
    assert set(seats.values_list("seat", flat=True)) == {1}
    entry = AuditEntry.objects.filter(action="campaign.changed").order_by("pk")[0]
    assert entry.before is not None
    assert entry.after is not None
    assert (entry.before["overlap"], entry.after["overlap"]) == (2, 3)


def test_an_open_campaign_changes_what_takes_nothing_from_anybody(
    world: World, ada: Access
) -> None:
    campaign = make_campaign(world=world)
    changed = change_campaign(
        access=ada, campaign=campaign, at=NOW,
        name="New", order="shuffled", lease_minutes=30, rule="majority",
    )  # fmt: skip
    assert (changed.name, changed.order, changed.lease_minutes) == ("New", "shuffled", 30)
    close_campaign(access=ada, campaign=campaign, at=NOW)
    with pytest.raises(CampaignRefused, match="is closed"):
        change_campaign(access=ada, campaign=campaign, at=NOW, name="Newer")


def test_grades_follow_the_overlap_of_an_open_campaign_both_ways(world: World, ada: Access) -> None:
    campaign = make_campaign(world=world)
    one, two = campaign.pairs.select_related("campaign").order_by("pk")[:2]
    label(pair=one, username="ben", grade=3)
    label(pair=two, username="ben", grade=1)
    label(pair=two, username="cem", grade=1)
    consolidate(list_id=campaign.list_id, at=NOW)
    current = Judgment.objects.filter(until=None)
    assert current.get().grade == 1
    change_campaign(access=ada, campaign=campaign, at=NOW, overlap=1)
    assert sorted(current.values_list("grade", flat=True)) == [1, 3]
    change_campaign(access=ada, campaign=campaign, at=NOW, overlap=2)
    assert current.get().grade == 1
    assert one.assignments.filter(state="free").count() == 1


def test_what_waits_is_committed_when_a_campaign_becomes_live_and_nothing_else(
    world: World, ada: Access
) -> None:
    campaign = make_campaign(world=world, overlap=1, commit="approval")
    one, two = campaign.pairs.select_related("campaign", "query", "document").order_by("pk")[:2]
    label(pair=one, username="ben", grade=3)
    consolidate(list_id=campaign.list_id, at=NOW)
    approve(access=ada, campaign=campaign, at=NOW)
    commit(judgment_list=world.judgments, grades={(one.query, one.document): 0})
    label(pair=two, username="ben", grade=2)
    change_campaign(access=ada, campaign=campaign, at=NOW, commit="live")
    current = dict(Judgment.objects.filter(until=None).values_list("document", "grade"))
    assert current == {one.document_id: 0, two.document_id: 2}


def test_an_opened_campaign_keeps_its_design(world: World, ada: Access) -> None:
    campaign = make_campaign(world=world)
    for change in ({"rule": "median"}, {"depth": 3}, {"rule": "mean", "name": "New"}):
        with pytest.raises(CampaignRefused, match="can’t be changed once"):
            change_campaign(access=ada, campaign=campaign, at=NOW, **change)
    with pytest.raises(CampaignRefused, match="needs 3 people"):
        change_campaign(access=ada, campaign=campaign, at=NOW, overlap=3)
    with pytest.raises(TypeError, match="seed"):
        change_campaign(access=ada, campaign=campaign, at=NOW, seed=3)


def test_opening_makes_the_pairs_open_and_marks_who_annotates(world: World, ada: Access) -> None:
    campaign = make_draft(world=world, people=["ben", "dora"])
    assert annotating(world) == set()
    check_may_open(campaign)
    opened = open_campaign(access=ada, campaign=campaign, at=LATER)
    assert (opened.state, opened.opened_at, opened.closed_at) == ("open", LATER, None)
    assert set(campaign.pairs.values_list("is_open", flat=True)) == {True}
    assert annotating(world) == {"ben", "dora"}


def test_opening_needs_pairs_and_people(world: World, ada: Access) -> None:
    empty = make_draft(world=world, pairs=[])
    with pytest.raises(CampaignRefused) as refused:
        open_campaign(access=ada, campaign=empty, at=NOW)
    assert refused.value.code == "no_pairs"
    lonely = make_draft(world=world, name="Second", people=["ben"])
    with pytest.raises(CampaignRefused, match="needs 2 people; this campaign has 1"):
        open_campaign(access=ada, campaign=lonely, at=NOW)
    lonely.refresh_from_db()
    assert lonely.state == "draft"


def test_a_pair_is_open_in_one_campaign_of_a_list_at_a_time(world: World, ada: Access) -> None:
    make_campaign(world=world, pairs=[(world.queries[0], world.documents[0])])
    second = make_draft(world=world, name="Second")
    with pytest.raises(CampaignRefused) as refused:
        open_campaign(access=ada, campaign=second, at=NOW)
    assert refused.value.code == "pairs_open_elsewhere"
    assert (
        refused.value.message == "1 pair is already open in another campaign for this list: First."
    )
    assert not Pair.objects.filter(campaign=second, is_open=True).exists()


def test_the_same_pairs_may_be_open_in_another_list(world: World) -> None:
    make_campaign(world=world)
    other = make_list(collection=world.collection, slug="other")
    assert make_campaign(world=world, name="Other", judgment_list=other).state == "open"


def test_a_campaign_is_opened_once(world: World, ada: Access) -> None:
    campaign = make_campaign(world=world)
    for step in (open_campaign, reopen_campaign):
        with pytest.raises(CampaignRefused) as refused:
            step(access=ada, campaign=campaign, at=NOW)
        assert refused.value.code == "state"


def test_closing_ends_leases_and_frees_people(world: World, ada: Access) -> None:
    campaign = make_campaign(world=world)
    lease(campaign=campaign, username="ben")
    label(pair=campaign.pairs.select_related("campaign")[0], username="cem", grade=1)
    closed = close_campaign(access=ada, campaign=campaign, at=LATER)
    assert (closed.state, closed.closed_at) == ("closed", LATER)
    assert held(campaign=campaign, username="ben") == []
    assert set(campaign.pairs.values_list("is_open", flat=True)) == {False}
    assert annotating(world) == set()
    states = Assignment.objects.exclude(state="voided").values_list("state", flat=True)
    assert sorted(states) == ["done"] + ["free"] * 11
    with pytest.raises(CampaignRefused, match="is closed"):
        close_campaign(access=ada, campaign=campaign, at=LATER)


def test_a_closed_campaign_can_be_opened_again(world: World, ada: Access) -> None:
    campaign = make_campaign(world=world)
    close_campaign(access=ada, campaign=campaign, at=LATER)
    again = reopen_campaign(access=ada, campaign=campaign, at=LATER)
    assert (again.state, again.opened_at, again.closed_at) == ("open", NOW, None)
    assert annotating(world) == {"ben", "cem"}
    assert len(lease(campaign=again, username="ben")) == 6
    assert actions()[-3:] == ["campaign.opened", "campaign.closed", "campaign.reopened"]


def test_reopening_names_the_campaign_that_has_the_pairs_now(world: World, ada: Access) -> None:
    campaign = make_campaign(world=world)
    close_campaign(access=ada, campaign=campaign, at=LATER)
    make_campaign(world=world, name="Second")
    campaign.refresh_from_db()
    with pytest.raises(CampaignRefused, match=r"6 pairs are already open .*: Second\."):
        reopen_campaign(access=ada, campaign=campaign, at=LATER)


def test_people_come_go_and_come_back(world: World, ada: Access) -> None:
    campaign = make_campaign(world=world)
    lease(campaign=campaign, username="ben")
    remove_annotator(access=ada, campaign=campaign, person=world.ben, at=NOW)
    assert annotating(world) == {"cem"}
    assert held(campaign=campaign, username="ben") == []
    with pytest.raises(NotFound):
        remove_annotator(access=ada, campaign=campaign, person=world.ben, at=NOW)
    with pytest.raises(NotFound):
        remove_annotator(access=ada, campaign=campaign, person=world.dora, at=NOW)
    add_annotators(access=ada, campaign=campaign, people=[world.ben], at=LATER)
    back = campaign.annotators.get(user=world.ben)
    assert (back.is_active, back.joined_at) == (True, NOW)
    assert annotating(world) == {"ben", "cem"}


def test_who_annotates_elsewhere_too_stays_marked(world: World, ada: Access) -> None:
    first = make_campaign(world=world)
    other = make_list(collection=world.collection, slug="other")
    make_campaign(world=world, name="Other", judgment_list=other, people=["ben", "dora"])
    close_campaign(access=ada, campaign=first, at=NOW)
    assert annotating(world) == {"ben", "dora"}


def test_a_lead_who_annotates_is_not_blind(world: World, ada: Access) -> None:
    campaign = make_draft(world=world, people=["ada", "ben", "dora"])
    blind = CampaignAnnotator.objects.filter(campaign=campaign).order_by("user__username")
    assert list(blind.values_list("user__username", "is_blind")) == [
        ("ada", False),
        ("ben", True),
        ("dora", True),
    ]


def test_who_comes_back_to_an_open_campaign_is_as_blind_as_before(
    world: World, ada: Access
) -> None:
    campaign = make_campaign(world=world, people=["ben", "dora"])
    end_membership(access=ada, username="dora", at=NOW)
    Membership.ever.filter(user=world.dora).update(ended_at=None)
    assert annotating(world) == {"ben", "dora"}
    end_membership(access=ada, username="dora", at=NOW)
    close_campaign(access=ada, campaign=campaign, at=NOW)
    Membership.ever.filter(user=world.dora).update(ended_at=None)
    assert annotating(world) == set()


def test_people_who_left_do_not_count_when_a_campaign_is_opened(world: World, ada: Access) -> None:
    campaign = make_draft(world=world)
    end_membership(access=ada, username="cem", at=NOW)
    with pytest.raises(CampaignRefused, match="needs 2 people; this campaign has 1"):
        open_campaign(access=ada, campaign=campaign, at=NOW)


def test_only_members_annotate(world: World, ada: Access) -> None:
    campaign = make_draft(world=world)
    people = [world.dora, world.eve]
    with pytest.raises(CampaignRefused, match="Eve is not a member"):
        add_annotators(access=ada, campaign=campaign, people=people, at=NOW)
    assert not campaign.annotators.filter(user=world.dora).exists()


def steps(campaign: Campaign) -> list[tuple[Any, dict[str, Any]]]:
    someone = [make_user(username="ben")]
    return [
        (change_campaign, {"name": "Mine"}),
        (add_annotators, {"people": someone}),
        (remove_annotator, {"person": someone[0]}),
        (open_campaign, {}),
        (reopen_campaign, {}),
        (close_campaign, {}),
    ]


@pytest.mark.parametrize("username", ["ben", "dora"])
def test_only_leads_run_campaigns(world: World, username: str) -> None:
    campaign = make_draft(world=world)
    access = make_access(collection=world.collection, username=username)
    for step, arguments in steps(campaign):
        with pytest.raises(NotFound):
            step(access=access, campaign=campaign, at=NOW, **arguments)
    with pytest.raises(NotFound):
        create_campaign(
            access=access,
            at=NOW,
            seed=1,
            judgment_list=world.judgments,
            guideline=campaign.guideline,
            name="Mine",
        )


def test_nobody_runs_the_campaigns_of_others(world: World) -> None:
    campaign = make_draft(world=world)
    own = Collection.objects.get(slug="books-of-eve")
    access = make_access(collection=own, username="eve")
    for step, arguments in steps(campaign):
        with pytest.raises(NotFound):
            step(access=access, campaign=campaign, at=NOW, **arguments)
