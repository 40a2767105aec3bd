"""A lead sets people's labels aside, or pauses people: what that does, previews, and takes back.

Three people, pairs of two labels. Ben is a spammer: he says 0 of everything. Worked by hand: Cem
gives d1 to d4 of q1 the grades 4, 3, 2, 1; Dora says 0 of d1 of q2 as Ben does.
"""

from datetime import timedelta

import pytest
from django.urls import reverse

from annotation.campaigns.queries import count_pairs, get_dashboard
from annotation.campaigns.services import close_campaign, reopen_campaign
from annotation.consolidation.services import consolidate
from annotation.dashboards.monitoring import get_monitor_page
from annotation.gold.action_rules import Rule
from annotation.gold.actions import (
    change_rules,
    pause_people,
    set_labels_aside,
    undo_action,
)
from annotation.gold.checking import check_labels
from annotation.gold.queries import count_standing, count_used_up
from annotation.gold.services import GoldRefused, change_checks, mark_gold
from annotation.labelling.leasing import lease_next
from annotation.labelling.services import submit_label
from annotation.models import AsidePreview, Assignment, Campaign, CheckAction, Label, Pair
from annotation.overlap_requests.queries import find_obstacle
from annotation.permissions import AnnotatorPaused
from annotation.quality.without import MOST_LABELS, measure_harm
from annotation.set_aside.queries import get_without_people, people_key
from annotation.set_aside.services import preview_aside
from evaluation.evaluations.refreshing import refresh_evaluations
from judgments.models import AuditEntry, Judgment, User
from judgments.permissions import Access, NotFound
from tests.annotation.page_reading import client_of, of, words
from tests.api.callers import by_token, post_json
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import context_of, label, lease, make_campaign, said
from tests.evaluation.builders import make_run

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=2)


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    world = make_world(queries=2, documents=4)
    campaign = make_campaign(world=world, people=("ben", "cem", "dora"), rule="mean")
    for number, grade in enumerate((4, 3, 2, 1)):
        pair = pair_of(campaign, "q1", number)
        label(pair=pair, username="ben", grade=0)
        label(pair=pair, username="cem", grade=grade)
    for username in ("ben", "dora"):
        label(pair=pair_of(campaign, "q2", 0), username=username, grade=0)
    consolidate(list_id=campaign.list_id, at=NOW)
    return world, campaign


def pair_of(campaign: Campaign, qid: str, number: int) -> Pair:
    pairs_qs = campaign.pairs.select_related("campaign").filter(query__qid=qid)
    return pairs_qs.order_by("document__docid")[number]


def grades(campaign: Campaign, qid: str = "q1") -> list[int]:
    held_qs = Judgment.objects.filter(list=campaign.list_id, until=None, query__qid=qid)
    return list(held_qs.order_by("document__docid").values_list("grade", flat=True))


def seats(campaign: Campaign, state: str) -> int:
    return Assignment.objects.filter(pair__campaign=campaign, state=state).count()


def aside(ada: Access, campaign: Campaign, *people: User) -> list[CheckAction]:
    return set_labels_aside(access=ada, campaign=campaign, people=people, at=NOW)


def conclude(campaign: Campaign, hours: int = 1) -> None:
    consolidate(list_id=campaign.list_id, at=NOW + timedelta(hours=hours))


def requeued() -> CheckAction:
    return CheckAction.objects.get(action="requeue", undoes=None)


def test_a_spammers_labels_count_no_longer_and_others_label_the_pairs(
    world: World, ada: Access, campaign: Campaign
) -> None:
    assert grades(campaign) == [2, 2, 1, 1]
    labels, free = Label.objects.count(), seats(campaign, "free")
    taken = aside(ada, campaign, world.ben)
    assert [action.action for action in taken] == ["pause", "requeue"]
    assert (len(taken[1].seats), taken[1].taken_by) == (5, world.ada)
    conclude(campaign)
    assert grades(campaign) == []
    assert seats(campaign, "free") == free + 5
    assert Label.objects.count() == labels
    with pytest.raises(AnnotatorPaused):
        lease_next(context=context_of(campaign, "ben"), count=5, at=NOW)
    label(pair=pair_of(campaign, "q1", 0), username="dora", grade=4)
    conclude(campaign, 2)
    assert grades(campaign) == [4]
    entry = AuditEntry.objects.filter(action="check.acted").latest("pk")
    assert (entry.actor, entry.after["labels_set_aside"]) == (world.ada, 5)


def test_restoring_brings_the_labels_back_and_voids_the_seats_that_nobody_took(
    world: World, ada: Access, campaign: Campaign
) -> None:
    needed = count_pairs(campaign).labels_needed
    aside(ada, campaign, world.ben)
    conclude(campaign)
    label(pair=pair_of(campaign, "q1", 0), username="dora", grade=4)
    undo_action(access=ada, action=requeued(), at=LATER)
    conclude(campaign, 3)
    # 0, 4 and Dora's 4 beside them have the mean 3
    assert grades(campaign) == [3, 2, 1, 1]
    assert count_pairs(campaign).labels_needed == needed + 1
    assert seats(campaign, "aside") == 0
    assert AuditEntry.objects.filter(action="check.undone").count() == 1


def test_pressing_twice_or_by_two_leads_does_it_once(
    world: World, ada: Access, campaign: Campaign
) -> None:
    aside(ada, campaign, world.ben)
    before = list(Assignment.objects.order_by("pk").values())
    assert aside(ada, campaign, world.ben) == []
    assert pause_people(access=ada, campaign=campaign, people=[world.ben], at=NOW) == []
    assert list(Assignment.objects.order_by("pk").values()) == before
    undo_action(access=ada, action=requeued(), at=LATER)
    with pytest.raises(GoldRefused):
        undo_action(access=ada, action=requeued(), at=LATER)
    assert len(aside(ada, campaign, world.ben)) == 1


def test_many_people_at_once_but_only_of_the_campaign(
    world: World, ada: Access, campaign: Campaign
) -> None:
    taken = aside(ada, campaign, world.ben, world.cem)
    assert sorted((one.annotator.username, len(one.seats)) for one in taken) == [
        ("ben", 0),
        ("ben", 5),
        ("cem", 0),
        ("cem", 4),
    ]
    with pytest.raises(NotFound):
        aside(ada, campaign, world.eve)
    with pytest.raises(GoldRefused):
        aside(ada, campaign)


def test_nobody_but_a_lead_may(world: World, campaign: Campaign) -> None:
    for username in ("ben", "dora"):
        access = make_access(collection=world.collection, username=username)
        with pytest.raises(NotFound):
            aside(access, campaign, world.ben)


def test_in_a_closed_campaign_grades_follow_from_the_labels_that_are_left(
    world: World, ada: Access, campaign: Campaign
) -> None:
    closed = close_campaign(access=ada, campaign=campaign, at=NOW)
    free = seats(campaign, "free")
    (taken,) = aside(ada, closed, world.ben)
    assert taken.action == "requeue"
    assert (grades(campaign), grades(campaign, "q2")) == ([4, 3, 2, 1], [0])
    assert seats(campaign, "free") == free
    undo_action(access=ada, action=taken, at=LATER)
    assert grades(campaign) == [2, 2, 1, 1]
    aside(ada, closed, world.ben)
    reopen_campaign(access=ada, campaign=closed, at=LATER)
    conclude(campaign)
    assert grades(campaign) == []
    assert seats(campaign, "free") == free + 5


def test_closing_lets_the_labels_that_are_left_decide(
    world: World, ada: Access, campaign: Campaign
) -> None:
    aside(ada, campaign, world.ben)
    conclude(campaign)
    assert grades(campaign) == []
    close_campaign(access=ada, campaign=campaign, at=LATER)
    assert grades(campaign) == [4, 3, 2, 1]


def test_without_any_label_left_a_pair_of_a_closed_campaign_is_unjudged(
    world: World, ada: Access, campaign: Campaign
) -> None:
    closed = close_campaign(access=ada, campaign=campaign, at=NOW)
    aside(ada, closed, world.ben, world.cem)
    assert (grades(campaign), grades(campaign, "q2")) == ([], [0])


def test_the_preview_says_what_agreement_grades_and_leaderboard_would_be(
    world: World, ada: Access, campaign: Campaign
) -> None:
    # by the means 2, 2, 1, 1 `best` and `even` differ in nothing; by Cem's alone `best` is better
    make_run(collection=world.collection, rankings={"q1": ["d1", "d2"]}, ranker="best", name="best")
    make_run(collection=world.collection, rankings={"q1": ["d2", "d1"]}, ranker="even", name="even")
    refresh_evaluations(list_id=campaign.list_id, at=NOW)
    campaign.list.refresh_from_db()
    key = people_key([world.ben.pk])
    assert preview_aside(campaign_id=campaign.pk, people=key, clock=lambda: NOW)
    assert not preview_aside(campaign_id=campaign.pk, people=key, clock=lambda: NOW)
    page = get_without_people(access=ada, campaign=campaign, chosen=[world.ben])
    outcome = page.outcome
    assert outcome is not None
    assert page.is_current
    assert (outcome.labels, outcome.pairs, outcome.reopened) == (5, 5, 5)
    assert (outcome.changed, outcome.tied, outcome.lost) == (3, 0, 0)
    assert outcome.alpha.value is not None
    assert outcome.alpha_without.value is None  # one label a pair is left
    after = {row.ranker: row.after for row in outcome.board}
    before = {row.ranker: row.before for row in outcome.board}
    assert before["best"] == before["even"]
    assert after["best"] > after["even"]
    # the report says the same of him, and nothing of those whom there is no room to compute
    harm = measure_harm(campaign, [world.ben.pk, world.cem.pk], [5, MOST_LABELS])
    assert set(harm) == {str(world.ben.pk)}
    shifts = [abs(row.shift) for row in outcome.board]
    assert harm[str(world.ben.pk)]["shift"] == max(shifts) > 0
    assert harm[str(world.ben.pk)]["moved"] == outcome.moved
    both = people_key([world.ben.pk, world.cem.pk])
    preview_aside(campaign_id=campaign.pk, people=both, clock=lambda: NOW)
    found = get_without_people(access=ada, campaign=campaign, chosen=[world.ben, world.cem]).outcome
    assert found is not None
    assert (found.changed, found.lost) == (0, 4)
    assert grades(campaign) == [2, 2, 1, 1]
    assert AsidePreview.objects.count() == 2


def check(campaign: Campaign, wrong: int, right: int) -> None:
    """Ben labels gold: first so many wrong, then so many right."""
    pairs = campaign.pairs.filter(gold__isnull=False).exclude(
        assignments__annotator__username="ben"
    )
    for number, pair in enumerate(pairs.order_by("pk")[: wrong + right]):
        seat = Assignment.objects.create(
            pair=pair,
            seat=1_000,
            purpose=Assignment.Purpose.GOLD,
            state=Assignment.State.LEASED,
            annotator=context_of(campaign, "ben").viewer,
            leased_until=LATER,
        )
        at = NOW + timedelta(minutes=number)
        submission = said(seat=seat, grade=0 if number < wrong else 4, at=at)
        submit_label(context=context_of(campaign, "ben"), submission=submission, at=at)
        check_labels(list_id=campaign.list_id, at=at)


@pytest.fixture
def golden() -> Campaign:
    """A campaign of 20 gold pairs, whose right grade is 4, and two plain ones that Ben labelled."""
    world = make_world(slug="gold", queries=2, documents=20)
    pairs = [(world.queries[1], document) for document in world.documents]
    plain = [(world.queries[0], document) for document in world.documents[:2]]
    campaign = make_campaign(world=world, pairs=[*plain, *pairs])
    lead = make_access(collection=world.collection)
    for pair in campaign.pairs.select_related("campaign__list").filter(query__qid="q2"):
        mark_gold(access=lead, pair=pair, low=4, high=4, reason="", at=NOW)
    label(pair=pair_of(campaign, "q1", 0), username="ben", grade=0)
    return campaign


def lead_of(campaign: Campaign) -> Access:
    return make_access(collection=campaign.list.collection)


def rules(campaign: Campaign, **below: int) -> None:
    made = [Rule(action, percent, 8) for action, percent in below.items()]
    change_rules(access=lead_of(campaign), campaign=campaign, rules=made, at=LATER)


def test_who_is_paused_at_65_percent_has_labels_set_aside_below_50(golden: Campaign) -> None:
    rules(golden, pause=65, requeue=50)
    # 2 right of 8: Wilson's upper end is 59 %, below 65 but not below 50
    check(golden, wrong=6, right=2)
    taken = CheckAction.objects.order_by("pk").values_list("action", "right", "checks")
    assert list(taken) == [("pause", 2, 8), ("requeue", 2, 8)]


def test_a_changed_rule_is_asked_at_once_about_somebody_who_is_paused(golden: Campaign) -> None:
    rules(golden, pause=65)
    check(golden, wrong=6, right=2)
    assert [action.action for action in CheckAction.objects.all()] == ["pause"]
    rules(golden, pause=65, requeue=50)
    assert [action.action for action in CheckAction.objects.order_by("pk")] == ["pause", "requeue"]
    rules(golden, pause=65, requeue=50)
    assert CheckAction.objects.count() == 2


def test_a_rule_that_is_switched_on_later_acts_on_what_is_known(golden: Campaign) -> None:
    check(golden, wrong=8, right=0)
    assert not CheckAction.objects.exists()
    rules(golden, requeue=50)
    # setting aside implies pausing
    assert [action.action for action in CheckAction.objects.order_by("pk")] == ["pause", "requeue"]


def test_rules_that_set_aside_whom_they_would_not_pause_are_refused(golden: Campaign) -> None:
    with pytest.raises(GoldRefused) as refused:
        rules(golden, pause=50, requeue=65)
    assert refused.value.code == "rules_clash"
    form = {f"{action}_below": 60 for action in ("tell", "warn", "pause", "requeue")}
    form |= {f"{action}_after": 8 for action in ("tell", "warn", "pause", "requeue")}
    sent = form | {"pause_on": "on", "requeue_on": "on", "pause_below": 50}
    page = client_of("ada").post(of("campaign-rules", golden), sent, follow=True)
    assert "can’t be above the threshold for pausing" in words(page)


def test_paused_people_are_neither_at_work_nor_to_be_checked_nor_to_fill_seats(
    world: World, ada: Access, campaign: Campaign
) -> None:
    gold = pair_of(campaign, "q2", 3)
    mark_gold(access=ada, pair=gold, low=4, high=4, reason="", at=NOW)
    change_checks(
        access=ada, campaign=campaign, gold_percent=5, repeat_percent=0, when_used_up="warn",
        feedback_after=0, at=NOW,
    )  # fmt: skip
    for username in ("ben", "cem", "dora"):
        Assignment.objects.create(
            pair=gold, seat=1_000 + len(username) + ord(username[0]), purpose="gold",
            state="done", annotator=context_of(campaign, username).viewer,
        )  # fmt: skip
    assert count_used_up(campaign) == 3
    assert get_monitor_page(access=ada, campaign=campaign, now=NOW).at_work == 3
    # Ben and Cem have labelled this pair: Dora is the one who could
    pair = pair_of(campaign, "q1", 0)
    assert find_obstacle(pair) is None
    pause_people(access=ada, campaign=campaign, people=[world.dora, world.ben], at=NOW)
    assert count_used_up(campaign) == 1
    assert get_monitor_page(access=ada, campaign=campaign, now=NOW).at_work == 1
    assert get_dashboard(access=ada, campaign=campaign, now=NOW).people == 1
    obstacle = find_obstacle(pair)
    assert obstacle is not None
    assert obstacle.code == "nobody_left"
    assert count_standing(campaign) == 0  # rules did nothing
    assert grades(campaign) == [2, 2, 1, 1]
    undo_action(access=ada, action=CheckAction.objects.get(annotator=world.dora), at=LATER)
    assert lease(campaign=campaign, username="dora")


def test_a_lead_chooses_looks_confirms_and_restores_on_the_page(
    world: World, ada: Access, campaign: Campaign
) -> None:
    client = client_of("ada")
    url = of("campaign-aside", campaign)
    gold = client.get(of("campaign-gold", campaign)).content.decode()
    assert f'action="{url}"' in gold
    assert 'type="checkbox" name="person" value="ben"' in gold
    preview_aside(campaign_id=campaign.pk, people=str(world.ben.pk), clock=lambda: NOW)
    page = client.get(url, {"person": ["ben"]})
    assert 'data-alpha="without"' in page.content.decode()
    sent = {"person": ["ben"], "act": "set_aside", "reason": "Guesses."}
    done = client.post(url, sent, follow=True)
    assert "5 labels set aside, 1 person paused." in words(done)
    assert AuditEntry.objects.latest("pk").after["reason"] == "Guesses."
    again = client.post(url, sent, follow=True)
    assert "already done" in words(again)
    undo = reverse("check-action-undo", args=["books", requeued().pk])
    page = client.post(undo, {"back": "aside"}, follow=True)
    assert page.redirect_chain[-1][0] == url
    assert seats(campaign, "aside") == 0
    assert client.get(url, {"person": ["nobody"]}).status_code == 404


def test_leads_do_the_same_over_rest(world: World, campaign: Campaign) -> None:
    url = f"/api/v1/campaigns/{campaign.public_id}/aside"
    api = by_token("ada")
    preview_aside(campaign_id=campaign.pk, people=str(world.ben.pk), clock=lambda: NOW)
    body = api.get(f"{url}?people=ben").json()
    assert (body["is_current"], body["outcome"]["labels"], body["outcome"]["changed"]) == (
        True,
        5,
        3,
    )
    assert {one["username"]: one["labels"] for one in body["people"]} == {
        "ben": 5,
        "cem": 4,
        "dora": 1,
    }
    assert api.get(url).json()["outcome"] is None
    done = post_json(api, url, {"people": ["ben"], "action": "set_aside"}).json()["actions"]
    assert [(one["action"], one["labels"], one["taken_by"]) for one in done] == [
        ("pause", 0, "ada"),
        ("requeue", 5, "ada"),
    ]
    assert post_json(api, url, {"people": ["ben"], "action": "set_aside"}).json()["actions"] == []
    undone = post_json(api, f"{url}/{done[1]['id']}/undo", {})
    assert undone.json()["undone"] is True
    assert post_json(api, f"{url}/{done[1]['id']}/undo", {}).status_code == 422
    assert post_json(api, url, {"people": ["eve"], "action": "pause"}).status_code == 404
    assert post_json(api, url, {"people": [], "action": "pause"}).status_code == 400
    for username in ("ben", "dora", "eve"):
        assert by_token(username).get(url).status_code == 404
        sent = post_json(by_token(username), url, {"people": ["ben"], "action": "pause"})
        assert sent.status_code == 404
