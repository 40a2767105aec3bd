"""Campaigns as leads run them, and what annotators and researchers see of them."""

import re
from datetime import datetime, timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.adjudication.services import adjudicate
from annotation.campaigns.queries import count_pairs
from annotation.campaigns.services import close_campaign
from annotation.consolidation.services import consolidate
from annotation.models import Campaign, CampaignAnnotator
from judgments.models import Judgment, JudgmentVersion, Membership
from tests.annotation.page_reading import HTMX, client_of, counted, links, of, words
from tests.builders import (
    NOW,
    World,
    make_access,
    make_collection,
    make_documents,
    make_list,
    make_member,
    make_queries,
    make_user,
    make_world,
)
from tests.builders_annotation import fill, label, lease, make_campaign, make_draft, make_guideline
from touchstone.scales import Scale

pytestmark = pytest.mark.django_db
NAME = "“Quotes” & <b>tags</b> שלום 🎯"
SHOWN_NAME = "“Quotes” &amp; &lt;b&gt;tags&lt;/b&gt; שלום 🎯"


@pytest.fixture
def world() -> World:
    return make_world()


def campaigns_of(slug: str = "books") -> str:
    return reverse("campaigns", args=[slug])


def plan(world: World, **other: object) -> dict[str, object]:
    guideline = world.collection.guidelines.first() or make_guideline(world=world)
    return {
        "name": "Spring",
        "judgment_list": "main",
        "guideline": guideline.pk,
        "overlap": 2,
        "depth": 10,
        "rule": "majority",
        "commit": "live",
        "order": "query",
        "lease_minutes": 240,
    } | other


def labelled(campaign: Campaign, grades: list[tuple[int, int]]) -> None:
    """Ben's and Cem's grades of the first pairs, concluded."""
    for pair, given in zip(campaign.pairs.select_related("campaign"), grades, strict=False):
        for username, grade in zip(("ben", "cem"), given, strict=True):
            label(pair=pair, username=username, grade=grade)
    consolidate(list_id=campaign.list_id, at=later())


def later() -> datetime:
    """When nothing has to wait for a version that a page has just made."""
    return timezone.now() + timedelta(minutes=1)


# finding campaigns


def test_an_empty_collection_says_what_comes_first() -> None:
    collection = make_collection(slug="empty")
    ada = client_of("ada")
    assert "Create a judgment list first" in words(ada.get(campaigns_of("empty")))
    assert "Create a judgment list first" in words(
        ada.get(reverse("campaign-create", args=["empty"]))
    )
    make_list(collection=collection)
    assert "Write a guideline first" in words(ada.get(campaigns_of("empty")))
    assert "Write a guideline first" in words(ada.get(reverse("campaign-create", args=["empty"])))


def test_with_a_guideline_the_next_step_is_a_campaign(world: World) -> None:
    make_guideline(world=world)
    assert "New campaign" in words(client_of("ada").get(campaigns_of()))


def test_leads_see_all_campaigns_and_annotators_their_own(world: World) -> None:
    make_campaign(world=world, name="Ben's own", people=("ben", "cem"))
    queries = make_queries(collection=world.collection, count=1, prefix="other")
    pairs = [(queries[0], world.documents[0])]
    make_campaign(world=world, name="Not Ben's", people=("cem",), overlap=1, pairs=pairs)
    make_draft(world=world, name="Draft", people=("ben",))
    lead = words(client_of("ada").get(campaigns_of()))
    assert all(name in lead for name in ("Ben&#x27;s own", "Not Ben&#x27;s", "Draft"))
    ben = client_of("ben")
    for address in (campaigns_of(), reverse("my-campaigns")):
        seen = words(ben.get(address))
        assert "Ben&#x27;s own" in seen
        assert "0 labelled, 15 left for you" in seen
        assert "Not Ben" not in seen
        assert "Draft" not in seen


def test_the_button_on_the_first_page_leads_to_the_labels(world: World) -> None:
    campaign = make_campaign(world=world)
    assert of_label(campaign) in links(client_of("ben").get(reverse("home"), follow=True))
    assert of_label(campaign) in links(client_of("ben").get(reverse("collection", args=["books"])))
    assert of_label(campaign) not in links(client_of("dora").get(reverse("my-campaigns")))


def test_of_several_campaigns_one_button_goes_on_where_one_labelled_last(world: World) -> None:
    ben = client_of("ben")
    older = make_campaign(world=world, name="Older")
    assert "Continue" not in words(ben.get(reverse("my-campaigns")))
    queries = make_queries(collection=world.collection, count=1, prefix="other")
    pairs = [(queries[0], document) for document in world.documents]
    make_campaign(world=world, name="Newer", people=("ben",), overlap=1, pairs=pairs)
    assert "Start Newer" in words(ben.get(reverse("my-campaigns")))
    labelled(older, [(1, 1)])
    page = ben.get(reverse("my-campaigns"))
    assert "Continue Older" in words(page)
    assert next(link for link in links(page) if "/label/" in link) == of_label(older)


def of_label(campaign: Campaign) -> str:
    return reverse("label", args=[campaign.public_id])


def test_whoever_has_nothing_to_label_reads_how_that_changes(world: World) -> None:
    assert "Nothing to label yet" in words(client_of("ben").get(reverse("my-campaigns")))
    assert "No campaigns yet" in words(client_of("ben").get(campaigns_of()))


def test_a_closed_campaign_stays_in_its_annotators_list_without_a_button(world: World) -> None:
    campaign = make_campaign(world=world)
    labelled(campaign, [(1, 1)])
    close_campaign(access=make_access(collection=world.collection), campaign=campaign, at=NOW)
    page = client_of("ben").get(reverse("my-campaigns"))
    assert "First Books 1" in words(page)
    assert of_label(campaign) not in links(page)


def one_more_campaign(world: World, name: str) -> None:
    queries = make_queries(collection=world.collection, count=1, prefix=name)
    make_campaign(world=world, name=name, pairs=[(queries[0], d) for d in world.documents])


def test_the_list_of_campaigns_asks_no_more_queries_when_there_are_more(world: World) -> None:
    for username in ("ada", "ben"):
        client = client_of(username)
        one_more_campaign(world, f"{username}0")
        with counted() as few:
            client.get(campaigns_of())
        for number in range(1, 5):
            one_more_campaign(world, f"{username}{number}")
        with counted() as many:
            client.get(campaigns_of())
        assert len(many) == len(few)


# planning


def test_every_choice_of_a_plan_says_what_follows_from_it(world: World) -> None:
    make_guideline(world=world)
    seen = words(client_of("ada").get(reverse("campaign-create", args=["books"])))
    for said in (
        "With two or more, agreement can be measured",
        "Use the cutoff of your main measure",
        "Ties go to adjudication",
        "leaderboards follow within seconds",
        "grades wait for your review",
        "documents are not judged against the previous one",
    ):
        assert said in seen


def test_a_campaign_is_planned_and_begins_as_a_draft(world: World) -> None:
    ada = client_of("ada")
    answer = ada.post(reverse("campaign-create", args=["books"]), plan(world, name=NAME, overlap=3))
    made = Campaign.objects.get()
    assert answer["Location"] == of("campaign", made)
    assert (made.state, made.overlap, made.name) == ("draft", 3, NAME)
    page = ada.get(answer["Location"])
    assert SHOWN_NAME in page.content.decode()
    assert "Build the pool." in words(page)
    assert "Each pair needs 3; no one annotates now." in words(page)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": ""}, "This field is required."),
        ({"overlap": 21}, "less than or equal to 20"),
        ({"depth": 0}, "greater than or equal to 1"),
        ({"rule": "dice"}, "is not one of the available choices"),
        ({"judgment_list": "none"}, "not one of the available choices"),
    ],
)
def test_a_plan_that_is_refused_keeps_what_was_typed(
    world: World, wrong: dict[str, object], said: str
) -> None:
    address = reverse("campaign-create", args=["books"])
    page = client_of("ada").post(address, plan(world, name="My plan", depth=17) | wrong)
    assert page.status_code == 200
    assert said in words(page)
    kept = page.content.decode()
    assert "My plan" in kept or "name" in wrong
    assert 'value="17"' in kept or "depth" in wrong
    assert not Campaign.objects.exists()


def test_a_name_that_is_taken_and_a_guideline_of_another_scale_are_refused_in_place(
    world: World,
) -> None:
    make_draft(world=world, name="Spring")
    ada, address = client_of("ada"), reverse("campaign-create", args=["books"])
    assert "already has a campaign with this name" in words(ada.post(address, plan(world)))
    make_list(collection=world.collection, slug="signed", scale=Scale.parse("-1..1"))
    page = ada.post(address, plan(world, name="Other", judgment_list="signed"))
    assert "different scale" in words(page)


def test_the_lists_and_guidelines_of_other_collections_are_no_choice(world: World) -> None:
    films = make_world(slug="films")
    foreign = make_guideline(world=films)
    page = client_of("ada").post(
        reverse("campaign-create", args=["books"]), plan(world, guideline=foreign.pk)
    )
    assert "not one of the available choices" in words(page)
    assert not Campaign.objects.exists()


def test_a_draft_can_be_changed_and_of_an_open_campaign_what_is_safe(world: World) -> None:
    draft = make_draft(world=world)
    ada = client_of("ada")
    assert 'value="First"' in ada.get(of("campaign-change", draft)).content.decode()
    ada.post(of("campaign-change", draft), plan(world, name="Second", overlap=1))
    draft.refresh_from_db()
    assert (draft.name, draft.overlap) == ("Second", 1)
    ada.post(of("campaign-open", draft))
    form = ada.get(of("campaign-change", draft)).content.decode()
    assert 'name="lease_minutes"' in form
    assert 'name="rule"' not in form
    ada.post(of("campaign-change", draft), plan(world, name="Third", rule="mean", overlap=1))
    draft.refresh_from_db()
    assert (draft.name, draft.rule) == ("Third", "majority")
    page = ada.post(of("campaign-change", draft), plan(world, name="Fourth", overlap=3))
    assert "Each pair needs 3 people" in words(page)


# running


def test_a_campaign_goes_from_draft_to_open_to_closed_and_back(world: World) -> None:
    draft = make_draft(world=world, people=())
    ada = client_of("ada")
    page = ada.get(of("campaign", draft))
    assert of("campaign-open", draft) not in links(page)
    ada.post(of("campaign-people-add", draft), {"people": ["ben", "cem"]})
    page = ada.get(of("campaign", draft))
    assert "Ready to open." in words(page)
    assert of("campaign-open", draft) in links(page)
    assert "Annotators see it on their home page" in words(
        ada.post(of("campaign-open", draft), follow=True)
    )
    closed = ada.post(of("campaign-close", draft), follow=True)
    assert "The campaign is closed." in words(closed)
    assert "Reopen" in words(closed)
    ada.post(of("campaign-open", draft))
    draft.refresh_from_db()
    assert draft.state == "open"


def test_opening_what_is_not_ready_is_refused_in_words(world: World) -> None:
    draft = make_draft(world=world, people=("ben",))
    page = client_of("ada").post(of("campaign-open", draft), follow=True)
    assert "Each pair needs 2 people; this campaign has 1." in words(page)


def test_pairs_that_are_open_elsewhere_keep_a_campaign_closed_and_the_page_says_so(
    world: World,
) -> None:
    make_campaign(world=world, name="Earlier")
    draft = make_draft(world=world, name="Later")
    seen = words(client_of("ada").get(of("campaign", draft)))
    assert "Not ready to open." in seen
    assert "already open in another campaign for this list: Earlier" in seen


def test_closing_twice_says_that_it_is_closed(world: World) -> None:
    campaign = make_campaign(world=world)
    ada = client_of("ada")
    ada.post(of("campaign-close", campaign))
    assert "The campaign is closed." in words(ada.post(of("campaign-close", campaign), follow=True))


def test_closing_says_what_is_left_undone_before_and_after(world: World) -> None:
    campaign = make_campaign(world=world)
    labelled(campaign, [(0, 4), (1, 1)])
    held = len(lease(campaign=campaign, username="ben", count=3))
    counts = count_pairs(campaign)
    said = (
        f"{counts.labels_needed - counts.labels} labels are missing, and {counts.open} pairs have "
        f"no grade from this campaign. {held} pairs are taken back from annotators: labels of them "
        "that have not arrived yet count only if the campaign is reopened. 1 pair needs "
        "adjudication, which remains possible."
    )
    ada = client_of("ada")
    assert said in ada.get(of("campaign", campaign)).text
    closed = words(ada.post(of("campaign-close", campaign), follow=True))
    assert f"The campaign is closed. All labels are kept. {said}" in closed


def test_people_are_added_and_removed_and_their_labels_stay(world: World) -> None:
    campaign = make_campaign(world=world)
    labelled(campaign, [(1, 1)])
    ada = client_of("ada")
    page = ada.post(of("campaign-person-remove", campaign, username="cem"), follow=True)
    assert "Cem is no longer in this campaign" in words(page)
    assert "Cem left 1" in words(page)
    assert "1 annotates now" in words(page)
    page = ada.post(of("campaign-people-add", campaign), {"people": ["ada", "cem"]}, follow=True)
    assert "Added: Ada, Cem." in words(page)
    assert "not blind" in words(page)
    assert of_label(campaign) in links(page)


def test_only_members_who_are_not_there_yet_can_be_added(world: World) -> None:
    campaign = make_campaign(world=world)
    page = client_of("ada").post(
        of("campaign-people-add", campaign), {"people": ["eve"]}, follow=True
    )
    assert "Select at least one member" in words(page)
    assert CampaignAnnotator.objects.filter(campaign=campaign).count() == 2


def test_removing_somebody_who_is_not_there_is_not_found(world: World) -> None:
    campaign = make_campaign(world=world)
    for username in ("dora", "nobody"):
        address = of("campaign-person-remove", campaign, username=username)
        assert client_of("ada").post(address).status_code == 404


# the dashboard


def test_the_dashboard_counts_pairs_labels_and_people(world: World) -> None:
    campaign = make_campaign(world=world)
    labelled(campaign, [(1, 1), (0, 4), (2, 3)])
    page = client_of("ada").get(of("campaign", campaign))
    seen = words(page)
    assert "Pairs with a grade 1 of 15" in seen
    assert "Labels 6 of 30" in seen
    assert "Needs adjudication 2" in seen
    assert "2 pairs need adjudication." in seen
    assert "24 labels to go." in seen
    assert "Ben 3" in seen
    assert seen.index("0 Irrelevant 4 Perfect") < seen.index("2 Partly relevant 3 Highly relevant")


def test_an_open_dashboard_asks_for_its_moving_part(world: World) -> None:
    campaign = make_campaign(world=world)
    ada = client_of("ada")
    page = ada.get(of("campaign", campaign))
    assert 'hx-trigger="every 5s, live"' in page.content.decode()
    part = ada.get(of("campaign", campaign), headers=HTMX)
    assert "HX-Request" in part["Vary"]
    assert part.content.decode().lstrip().startswith('<div class="stack" id="progress"')
    assert "<html" not in part.content.decode()
    close_campaign(access=make_access(collection=world.collection), campaign=campaign, at=NOW)
    assert "every 5s" not in ada.get(of("campaign", campaign)).content.decode()


def test_when_every_pair_has_its_labels_the_lead_is_told_to_close(world: World) -> None:
    campaign = make_campaign(world=world, pairs=[(world.queries[0], world.documents[0])])
    labelled(campaign, [(1, 1)])
    assert "Every pair has its labels." in words(client_of("ada").get(of("campaign", campaign)))


def test_an_admin_reads_the_dashboard_and_finds_no_button(world: World) -> None:
    campaign = make_campaign(world=world)
    make_user(username="root", is_superuser=True)
    page = client_of("root").get(of("campaign", campaign))
    assert "Pairs with a grade 0 of 15" in words(page)
    changing = ("close", "people", "pool", "remove", "approve", "decide")
    assert [one for one in links(page) if one.endswith(changing)] == []


def test_a_dashboard_asks_no_more_queries_for_more_pairs_and_people(world: World) -> None:
    small = make_campaign(world=world, pairs=[(world.queries[0], d) for d in world.documents[:3]])
    labelled(small, [(0, 4), (1, 2), (3, 3)])
    ada = client_of("ada")
    ada.get(of("campaign", small))
    with counted() as few:
        ada.get(of("campaign", small))
    close_campaign(access=make_access(collection=world.collection), campaign=small, at=NOW)
    documents = make_documents(collection=world.collection, count=40, prefix="more")
    people = ["ben", "cem"]
    for number in range(6):
        make_member(collection=world.collection, username=f"zoe{number}", role="annotator")
        people.append(f"zoe{number}")
    large = make_campaign(
        world=world, name="Large", people=people, pairs=[(world.queries[1], d) for d in documents]
    )
    labelled(large, [(0, 4)] * 20)
    with counted() as many:
        ada.get(of("campaign", large))
    assert len(many) <= len(few)


# blindness


def test_an_annotator_sees_the_name_the_guideline_and_own_counts_and_nothing_else(
    world: World,
) -> None:
    campaign = make_campaign(world=world, name="Spring")
    labelled(campaign, [(1, 1), (0, 4)])
    page = client_of("ben").get(of("campaign", campaign))
    seen = words(page)
    assert "You labelled 2; 13 are left for you." in seen
    assert "How to grade" in seen
    assert "What 3 means." in seen
    html = page.content.decode()
    for hidden in (
        "Cem",
        "Ada",
        "bm25",
        "/lists/",
        "/pairs",
        "/pool",
        "adjudication",
        "Disagreements",
    ):
        assert hidden not in html
    assert not re.search(r"\b15\b.*pairs", seen)


def test_an_annotator_of_another_campaign_finds_nothing(world: World) -> None:
    campaign = make_campaign(world=world, people=("cem",), overlap=1)
    assert client_of("ben").get(of("campaign", campaign)).status_code == 404


def test_a_campaign_is_not_found_under_another_collection(world: World) -> None:
    campaign = make_campaign(world=world)
    make_world(slug="films")
    for username in ("ada", "ben"):
        address = reverse("campaign", args=["films", campaign.public_id])
        assert client_of(username).get(address).status_code == 404


def test_researchers_see_a_closed_campaign_under_pseudonyms_without_names_and_reasons(
    world: World,
) -> None:
    campaign = make_campaign(world=world)
    labelled(campaign, [(1, 1), (0, 4)])
    access = make_access(collection=world.collection)
    tied = campaign.pairs.get(state="tied")
    adjudicate(access=access, pair=tied, grade=2, reason="a secret reason", at=NOW)
    dora = client_of("dora")
    assert dora.get(of("campaign", campaign)).status_code == 404
    assert "First" not in words(dora.get(campaigns_of()))
    close_campaign(access=access, campaign=campaign, at=NOW)
    assert "First" in words(dora.get(campaigns_of()))
    page = dora.get(of("campaign", campaign))
    seen = words(page)
    assert "Pairs 15" in seen
    assert "Adjudicated 1" in seen
    assert "person 2 2" in seen
    for hidden in ("Ben", "Cem", "Ada", "secret", "/pairs", "/pool"):
        assert hidden not in page.content.decode()


def test_a_researcher_who_annotates_elsewhere_sees_no_closed_campaign(world: World) -> None:
    closed = make_campaign(world=world, name="Closed")
    access = make_access(collection=world.collection)
    close_campaign(access=access, campaign=closed, at=NOW)
    make_campaign(world=world, name="Open", people=("dora", "ben"))
    assert Membership.objects.get(user=world.dora, collection=world.collection).is_annotating
    dora = client_of("dora")
    assert dora.get(of("campaign", closed)).status_code == 404
    assert "Closed" not in words(dora.get(campaigns_of()))
    assert "0 labelled, 15 left for you" in words(dora.get(campaigns_of()))


# approving


def test_an_approval_shows_what_would_change_and_then_changes_it(world: World) -> None:
    campaign = make_campaign(world=world, commit="approval")
    labelled(campaign, [(1, 1), (0, 4), (3, 3)])
    label(pair=campaign.pairs.select_related("campaign")[4], username="ben", grade=2)
    consolidate(list_id=campaign.list_id, at=NOW)
    ada = client_of("ada")
    assert "2 grades to approve." in words(ada.get(of("campaign", campaign)))
    page = ada.get(of("campaign-approve", campaign))
    assert "Approve 2 grades" in words(page)
    assert [row.grade for row in page.context["page"].rows] == [1, 3]
    assert not Judgment.objects.exists()
    done = ada.post(of("campaign-approve", campaign), {"reason": "Looks good"}, follow=True)
    assert "Approved: the list Main is at version 1." in words(done)
    version = JudgmentVersion.objects.get()
    assert (version.reason, version.author, version.added) == ("Looks good", world.ada, 2)
    assert "grades to approve" not in words(ada.get(of("campaign", campaign)))
    assert "Nothing to approve" in words(ada.get(of("campaign-approve", campaign)))
    again = ada.post(of("campaign-approve", campaign), follow=True)
    assert "The list already has these grades." in words(again)


def test_an_approval_shows_what_taken_back_labels_take_back(world: World) -> None:
    campaign = make_campaign(world=world, commit="approval")
    labelled(campaign, [(1, 1)])
    ada = client_of("ada")
    ada.post(of("campaign-approve", campaign))
    pair = campaign.pairs.select_related("campaign")[0]
    label(pair=pair, username="ben", outcome="retracted")
    consolidate(list_id=campaign.list_id, at=later())
    page = ada.get(of("campaign-approve", campaign))
    assert "previous grade" in words(page)
    ada.post(of("campaign-approve", campaign))
    assert not Judgment.objects.filter(until=None).exists()


def test_a_pair_that_keeps_its_grade_is_said_to_be_confirmed(world: World) -> None:
    campaign = make_campaign(world=world, commit="approval")
    labelled(campaign, [(1, 1)])
    ada = client_of("ada")
    ada.post(of("campaign-approve", campaign))
    labelled(campaign, [(1, 1), (2, 2)])
    seen = words(ada.get(of("campaign-approve", campaign)))
    assert "Approve 1 grade" in seen
    assert "1 pair keeps the same grade" in seen


def test_many_changes_come_in_pages(world: World) -> None:
    documents = make_documents(collection=world.collection, count=60, prefix="more")
    campaign = make_draft(world=world, commit="approval", overlap=1, pairs=[])
    fill(campaign=campaign, pairs=[(world.queries[0], document) for document in documents])
    client_of("ada").post(of("campaign-open", campaign))
    for pair in campaign.pairs.select_related("campaign"):
        label(pair=pair, username="ben", grade=1)
    consolidate(list_id=campaign.list_id, at=NOW)
    page = client_of("ada").get(of("campaign-approve", campaign) + "?page=2")
    assert "51–60 of 60" in words(page)
