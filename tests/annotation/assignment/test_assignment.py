"""Who labels which queries: rules, what they leave to no one, and the pages for them."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.assignment.queries import get_coverage
from annotation.assignment.services import AssignmentRefused, add_rule, remove_rule
from annotation.labelling.leasing import lease_next
from annotation.labelling.own_campaigns import count_progress
from annotation.models import Campaign
from judgments.members.services import set_tags
from judgments.models import AuditEntry
from tests.annotation.page_reading import client_of
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import context_of, held, lease, make_campaign

pytestmark = pytest.mark.django_db
both_orders = pytest.mark.parametrize("order", [Campaign.Order.BY_QUERY, Campaign.Order.SHUFFLED])


@pytest.fixture
def world() -> World:
    return make_world(queries=4, documents=3)  # q1 and q3 are in "head", q2 and q4 in "tail"


@pytest.fixture
def campaign(world: World) -> Campaign:
    return make_campaign(world=world, overlap=1)


def rule(world: World, campaign: Campaign, **said: Any) -> int:
    access = make_access(collection=world.collection)
    made = add_rule(access=access, campaign=campaign, at=NOW, **said)
    campaign.refresh_from_db()
    return made.pk


def tag(world: World, username: str, *tags: str) -> None:
    access = make_access(collection=world.collection)
    set_tags(access=access, username=username, tags=tags, at=NOW)


def queries_of(campaign: Campaign, username: str) -> set[str]:
    return {seat.pair.query.qid for seat in lease(campaign=campaign, username=username)}


@both_orders
def test_people_get_the_queries_of_the_rules_that_they_meet(world: World, order: str) -> None:
    campaign = make_campaign(world=world, overlap=2, order=order)
    rule(world, campaign, scope="segment", segment="head", people=["ben"])
    rule(world, campaign, scope="queries", queries=["q2", "q3"], tags=["DE ", "medicine"])
    assert queries_of(campaign, "ben") == {"q1", "q4"}
    assert queries_of(campaign, "cem") == {"q4"}
    assert count_progress(context_of(campaign, "cem")).left == 3
    tag(world, "cem", "medicine", "de", "fr")
    assert queries_of(campaign, "cem") == {"q2", "q4"}
    tag(world, "ben", "de")
    assert queries_of(campaign, "ben") == {"q1", "q4"}


def test_a_rule_takes_back_what_others_hold_and_gives_it_to_those_it_names(
    world: World, campaign: Campaign
) -> None:
    assert queries_of(campaign, "ben") == {"q1", "q2", "q3", "q4"}
    made = rule(world, campaign, scope="queries", queries=["q1"], people=["cem"])
    assert {one.pair.query.qid for one in held(campaign=campaign, username="ben")} == {
        "q2", "q3", "q4",
    }  # fmt: skip
    assert queries_of(campaign, "cem") == {"q1"}
    remove_rule(
        access=make_access(collection=world.collection), campaign=campaign, rule_id=made, at=NOW
    )
    campaign.refresh_from_db()
    assert not campaign.is_assigned
    assert [one.action for one in AuditEntry.objects.order_by("pk")][-2:] == [
        "campaign.assignment_added",
        "campaign.assignment_removed",
    ]


def test_coverage_names_queries_with_too_few_people(world: World) -> None:
    campaign = make_campaign(world=world, overlap=2)
    assert get_coverage(campaign).first == ()
    rule(world, campaign, scope="segment", segment="tail", tags=["fr"])
    rule(world, campaign, scope="queries", queries=["q1"], people=["ben"])
    found = get_coverage(campaign)
    assert (found.unserved, found.thin) == (2, 1)
    assert [(one.query_id, one.people) for one in found.first] == [("q2", 0), ("q4", 0), ("q1", 1)]
    tag(world, "ben", "fr")
    tag(world, "cem", "fr")
    assert [one.query_id for one in get_coverage(campaign).first] == ["q1"]


def test_rules_ask_nothing_of_labels_and_three_queries_of_taking_seats(
    world: World, campaign: Campaign
) -> None:
    def cost(username: str) -> int:
        context = context_of(campaign, username)
        with CaptureQueriesContext(connection) as queries:
            lease_next(context=context, count=2, at=NOW)
        return len(queries)

    plain, at_hand = cost("ben"), cost("ben")
    rule(world, campaign, scope="all", people=["ben", "cem"])
    rule(world, campaign, scope="segment", segment="head", people=["ben", "cem"])
    assert cost("cem") == plain + 3  # rules, people, tags
    assert cost("cem") == at_hand == 1


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"scope": "all"}, "nobody"),
        ({"scope": "all", "people": ["dora"]}, "no_annotator"),
        ({"scope": "segment", "segment": "nope", "tags": ["de"]}, "segment_unknown"),
        ({"scope": "queries", "queries": ["q9"], "tags": ["de"]}, "query_unknown"),
        ({"scope": "queries", "tags": ["de"]}, "queries_invalid"),
        ({"scope": "all", "tags": ["x" * 41]}, "tags_invalid"),
    ],
)
def test_a_rule_that_means_nothing_is_refused(
    world: World, campaign: Campaign, said: dict[str, Any], code: str
) -> None:
    with pytest.raises(AssignmentRefused) as refusal:
        rule(world, campaign, **said)
    assert refusal.value.code == code


def test_a_lead_sets_tags_and_rules_on_pages_and_over_rest(
    world: World, campaign: Campaign
) -> None:
    ada = client_of("ada")
    members = ada.post(
        reverse("member-tags", args=["books", "ben"]), {"tags": "FR, de"}, follow=True
    )
    assert 'value="de, fr"' in members.text
    url = reverse("campaign-assignment", args=["books", campaign.public_id])
    said = {"scope": "queries", "queries": "q1, q2\nq3", "tags": "it"}
    page = ada.post(url, said, follow=True).text
    assert "No one can label 3 queries." in page
    assert (
        "No one can label 3 queries."
        in ada.get(reverse("campaign", args=["books", campaign.public_id])).text
    )
    assert "Choose people, or enter languages or skills." in ada.post(url, {"scope": "all"}).text
    rest = reverse("api-campaign-assignment", args=[campaign.public_id])
    body = json.dumps({"scope": "segment", "segment": "tail", "people": ["ben"]})
    answer = ada.post(rest, body, content_type="application/json")
    assert answer.status_code == 201
    rules = answer.json()["rules"]
    assert [(one["scope"], one["people"], one["tags"]) for one in rules] == [
        ("queries", [], ["it"]),
        ("segment", ["ben"], []),
    ]
    gone = ada.post(
        reverse("campaign-assignment-remove", args=["books", campaign.public_id, rules[0]["id"]]),
        follow=True,
    )
    assert "Rule removed." in gone.text
    assert ada.get(rest).json()["coverage"] == {"unserved": 0, "thin": 0, "first": []}
