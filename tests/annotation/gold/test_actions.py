"""What a campaign does about someone who is right too rarely, and how it is taken back."""

from datetime import datetime, timedelta

import pytest
from django.urls import reverse

from annotation.campaigns.queries import count_pairs
from annotation.campaigns.services import add_annotators
from annotation.consolidation.services import consolidate
from annotation.gold.action_rules import Rule
from annotation.gold.actions import change_rules, undo_action
from annotation.gold.checking import check_labels
from annotation.gold.queries import list_actions
from annotation.gold.services import GoldRefused, mark_gold
from annotation.labelling.leasing import lease_next
from annotation.labelling.own_campaigns import count_progress
from annotation.labelling.queries import get_warning
from annotation.labelling.services import submit_label
from annotation.models import Assignment, Campaign, CheckAction, Pair
from annotation.permissions import AnnotatorPaused
from judgments.models import AuditEntry, Judgment
from judgments.permissions import Access
from tests.annotation.page_reading import client_of, of, words
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import context_of, held, label, lease, make_campaign, said

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(hours=2)


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    """The pairs of q2 are gold; 4 is right."""
    world = make_world(queries=2, documents=14)
    ada = make_access(collection=world.collection)
    campaign = make_campaign(world=world)
    for pair in campaign.pairs.select_related("campaign__list").filter(query__qid="q2"):
        mark_gold(access=ada, pair=pair, low=4, high=4, reason="", at=NOW)
    return world, campaign


def minute(number: int) -> datetime:
    return NOW + timedelta(minutes=number)


def check(campaign: Campaign, grades: list[int], *, start: int = 0) -> None:
    """Ben labels gold, a pair a minute, and the worker looks at it."""
    unmet = Pair.objects.filter(campaign=campaign, gold__isnull=False).exclude(
        assignments__annotator__username="ben"
    )
    for number, (pair, grade) in enumerate(zip(unmet.order_by("pk"), grades, strict=False)):
        seat = Assignment.objects.create(
            pair=pair,
            seat=1_000,
            purpose=Assignment.Purpose.GOLD,
            state=Assignment.State.LEASED,
            annotator=context_of(campaign, "ben").viewer,
            leased_until=LATER,
        )
        at = minute(start + number)
        submission = said(seat=seat, grade=grade, at=at)
        submit_label(context=context_of(campaign, "ben"), submission=submission, at=at)
        check_labels(list_id=campaign.list_id, at=at)


def rule(ada: Access, campaign: Campaign, *actions: str) -> None:
    rules = [Rule(action, 65, 5) for action in actions]
    change_rules(access=ada, campaign=campaign, rules=rules, at=NOW)


def plain(campaign: Campaign, number: int) -> Pair:
    pairs = campaign.pairs.select_related("campaign").filter(gold__isnull=True).order_by("pk")
    return pairs[number]


def test_somebody_who_is_wrong_too_often_is_paused_and_told_why(
    world: World, ada: Access, campaign: Campaign
) -> None:
    rule(ada, campaign, "pause")
    lease(campaign=campaign, username="ben", count=5)
    check(campaign, [2, 2, 2, 2])
    assert not CheckAction.objects.exists()
    check(campaign, [2], start=4)
    (action,) = list_actions(access=ada, campaign=campaign)
    assert (action.action, action.right, action.checks) == ("pause", 0, 5)
    with pytest.raises(AnnotatorPaused):
        lease_next(context=context_of(campaign, "ben"), count=5, at=NOW)
    assert held(campaign=campaign, username="ben") == []
    lease_next(context=context_of(campaign, "cem"), count=5, at=NOW)
    ben = client_of("ben")
    answer = ben.get(reverse("api-campaign-next", args=[campaign.public_id])).json()
    assert "differ from the agreed grades" in answer["paused"]
    assert (answer["is_open"], answer["pairs"]) == (True, [])


def test_a_label_that_was_made_before_the_pause_is_still_taken(
    world: World, ada: Access, campaign: Campaign
) -> None:
    rule(ada, campaign, "pause")
    seat = lease(campaign=campaign, username="ben", count=1)[0]
    check(campaign, [2] * 5)
    receipt = submit_label(
        context=context_of(campaign, "ben"), submission=said(seat=seat, grade=1), at=NOW
    )
    assert receipt.is_stored


def test_a_lead_lets_somebody_go_on_and_the_rule_counts_anew(
    world: World, ada: Access, campaign: Campaign
) -> None:
    rule(ada, campaign, "pause")
    check(campaign, [2] * 5)
    action = CheckAction.objects.get()
    undo_action(access=ada, action=action, at=NOW)
    assert lease_next(context=context_of(campaign, "ben"), count=5, at=NOW) > 0
    with pytest.raises(GoldRefused):
        undo_action(access=ada, action=action, at=NOW)
    check(campaign, [2] * 4, start=5)
    assert CheckAction.objects.count() == 2
    check(campaign, [2], start=9)
    assert CheckAction.objects.filter(undoes=None).count() == 2
    audited = AuditEntry.objects.filter(action__startswith="check.").order_by("pk")
    assert list(audited.values_list("action", flat=True)) == [
        "check.acted",
        "check.undone",
        "check.acted",
    ]


def test_labels_since_the_last_good_check_are_set_aside_and_count_again_when_undone(
    world: World, ada: Access, campaign: Campaign
) -> None:
    rule(ada, campaign, "requeue")
    before, after, alone = (plain(campaign, number) for number in range(3))
    for pair, at in ((before, minute(0)), (after, minute(2))):
        label(pair=pair, username="cem", grade=3, at=at)
        label(pair=pair, username="ben", grade=3, at=at)
    label(pair=alone, username="ben", grade=3, at=minute(2))
    check(campaign, [4], start=1)
    consolidate(list_id=campaign.list_id, at=NOW)
    assert graded(after) == [3]
    done = count_progress(context_of(campaign, "ben")).done
    check(campaign, [0] * 8, start=10)
    consolidate(list_id=campaign.list_id, at=LATER)
    assert (graded(before), graded(after)) == ([3], [])
    assert free(after) == 1
    assert free(alone) == campaign.overlap
    assert count_progress(context_of(campaign, "ben")).done == done + 8
    # whose labels are set aside is paused, until a lead lets them go on
    undo_action(access=ada, action=CheckAction.objects.get(action="pause"), at=LATER)
    mine = {seat.pair_id for seat in lease(campaign=campaign, username="ben")}
    assert mine.isdisjoint({after.pk, alone.pk})
    counts = count_pairs(campaign)
    assert counts.labels_needed == 14 * campaign.overlap
    requeue = CheckAction.objects.get(action="requeue")
    undo_action(access=ada, action=requeue, at=LATER)
    consolidate(list_id=campaign.list_id, at=LATER + timedelta(hours=1))
    assert graded(after) == [3]
    assert free(after) == 0
    assert count_pairs(campaign).labels_needed == 14 * campaign.overlap


def graded(pair: Pair) -> list[int]:
    held_qs = Judgment.objects.filter(query=pair.query_id, document=pair.document_id, until=None)
    return list(held_qs.values_list("grade", flat=True))


def free(pair: Pair) -> int:
    return pair.assignments.filter(state=Assignment.State.FREE).count()


def test_a_seat_that_somebody_else_took_meanwhile_stays_theirs(
    world: World, ada: Access, campaign: Campaign
) -> None:
    add_annotators(access=ada, campaign=campaign, people=[world.dora], at=NOW)
    rule(ada, campaign, "requeue")
    pair = plain(campaign, 0)
    for username in ("ben", "cem"):
        label(pair=pair, username=username, grade=3)
    check(campaign, [0] * 5)
    label(pair=pair, username="dora", grade=1, at=minute(9))
    undo_action(access=ada, action=CheckAction.objects.get(action="requeue"), at=LATER)
    states = pair.assignments.exclude(state="voided").values_list("annotator__username", "state")
    assert sorted(states) == [("ben", "done"), ("cem", "done"), ("dora", "done")]


def test_a_warning_is_read_where_one_labels_until_it_is_taken_back(
    world: World, ada: Access, campaign: Campaign
) -> None:
    rule(ada, campaign, "warn", "tell")
    check(campaign, [2] * 5)
    assert {action.action for action in list_actions(access=ada, campaign=campaign)} == {
        "warn",
        "tell",
    }
    assert get_warning(context_of(campaign, "ben")).startswith("Several of your labels")
    assert get_warning(context_of(campaign, "cem")) == ""
    assert lease_next(context=context_of(campaign, "ben"), count=5, at=NOW) > 0
    undo_action(access=ada, action=CheckAction.objects.get(action="warn"), at=NOW)
    assert get_warning(context_of(campaign, "ben")) == ""


def test_leads_choose_the_rules_see_what_was_done_and_undo_it(
    world: World, ada: Access, campaign: Campaign
) -> None:
    form = {f"{action}_below": 65 for action in ("tell", "warn", "pause", "requeue")}
    form |= {f"{action}_after": 5 for action in ("tell", "warn", "pause", "requeue")}
    client = client_of("ada")
    client.post(of("campaign-rules", campaign), form | {"pause_on": "on"})
    check(campaign, [2] * 5)
    assert "Accuracy on gold was below the threshold" in words(client.get(of("campaign", campaign)))
    assert "0 right of 5" in words(client.get(of("campaign-gold", campaign)))
    action = CheckAction.objects.get()
    page = client.post(reverse("check-action-undo", args=["books", action.pk]), follow=True)
    assert "undone by Ada" in words(page)
