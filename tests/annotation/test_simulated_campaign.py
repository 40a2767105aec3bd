"""Planted people label through the application, gold among their pairs: the rules pause the
spammer, and the report's page names each of them."""

import uuid
from datetime import datetime, timedelta

import numpy as np
import pytest
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse

from annotation.consolidation.services import consolidate
from annotation.gold.action_rules import Rule
from annotation.gold.actions import change_rules, undo_action
from annotation.gold.checking import check_labels
from annotation.gold.services import change_checks, mark_gold
from annotation.labelling.leasing import lease_next
from annotation.labelling.services import submit_labels
from annotation.labelling.submissions import Submission
from annotation.models import Assignment, Campaign, CheckAction, GoldCheck
from annotation.permissions import AnnotatorPaused
from annotation.quality.services import refresh_quality
from judgments.models import AuditEntry
from judgments.permissions import Access
from tests.annotation.simulated_campaign import GRADES, PLANTED, PREVALENCE, label_like
from tests.builders import NOW, World, make_member, make_world
from tests.builders_annotation import context_of, held, make_campaign, shown_at

# Who meets which pair when, and which of them are gold, follows from the campaign's secret and from
# ids, which begin at 1.
pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]

KINDS = ("careful",) * 5 + PLANTED
NAMES = [f"{kind.replace(' ', '-')}-{place}" for place, kind in enumerate(KINDS)]
SPAMMER = NAMES[KINDS.index("always 2")]
PAIRS, OVERLAP, AT_ONCE, AT_A_TIME = 600, 3, 20, 10
GOLD = (20, 20, 8, 20, 20)  # pairs of each grade: of 20 checks, 5 at most are right by always 2
APART = timedelta(days=1)
TURNED_AT = NOW + 4 * APART


@pytest.fixture
def world() -> World:
    return make_world(queries=20, documents=30)


@pytest.fixture
def truth(world: World) -> dict[int, int]:
    """The pairs of an open campaign, with their true grades."""
    for name in NAMES:
        make_member(collection=world.collection, username=name, role="annotator")
    campaign = make_campaign(world=world, overlap=OVERLAP, people=NAMES, order="shuffled")
    Campaign.objects.update(secret="the scene's")
    grades = np.random.default_rng(1).choice(GRADES, PAIRS, p=PREVALENCE).tolist()
    pair_ids = campaign.pairs.order_by("pk").values_list("pk", flat=True)
    return dict(zip(pair_ids, grades, strict=True))


@pytest.fixture
def campaign(ada: Access, truth: dict[int, int]) -> Campaign:
    """Everyone comes back until there is nothing left for them. Ada talks to whom the rules
    pause, and lets them go on, but for the spammer."""
    campaign = Campaign.objects.select_related("list__collection").get()
    for grade, count in enumerate(GOLD):
        of_grade = [pair for pair, true in truth.items() if true == grade]
        # spread over the queries: gold stands in for pairs of its own query
        chosen = of_grade[:: len(of_grade) // count][:count]
        for pair in campaign.pairs.select_related("campaign__list").filter(pk__in=chosen):
            mark_gold(access=ada, pair=pair, low=grade, high=grade, reason="", at=NOW)
    change_checks(access=ada, campaign=campaign, gold_percent=15, at=NOW)
    change_rules(access=ada, campaign=campaign, rules=[Rule("pause", 50, 8)], at=NOW)
    rng, at = np.random.default_rng(1), NOW
    while sum([_sit_down(campaign, place, truth, at, rng) for place in range(len(KINDS))]):
        for action in _list_pauses().exclude(annotator__username=SPAMMER):
            undo_action(access=ada, action=action, at=at)
        at += APART
    consolidate(list_id=campaign.list_id, at=at)
    refresh_quality(campaign_id=campaign.pk, clock=lambda: at)
    return campaign


def _list_pauses() -> QuerySet[CheckAction]:
    return CheckAction.objects.filter(action="pause", undoes=None, undone_by=None)


def _sit_down(
    campaign: Campaign, place: int, truth: dict[int, int], at: datetime, rng: np.random.Generator
) -> int:
    """One person's labels of a day, a few at a time, with the worker behind; how many."""
    context, done = context_of(campaign, NAMES[place]), 0
    try:
        lease_next(context=context, count=AT_ONCE, at=at)
        while seats := held(campaign=campaign, username=NAMES[place])[:AT_A_TIME]:
            said = []
            for seat in seats:
                said.append(_say(KINDS[place], seat, truth[shown_at(seat)], at, rng))
                at += timedelta(seconds=30)
            assert all(
                one.is_stored for one in submit_labels(context=context, submissions=said, at=at)
            )
            check_labels(list_id=campaign.list_id, at=at)
            done += len(said)
    except AnnotatorPaused:
        return 0
    return done


def _say(
    kind: str, seat: Assignment, true: int, at: datetime, rng: np.random.Generator
) -> Submission:
    grade, seconds = label_like(kind, truth=true, has_turned=at >= TURNED_AT, rng=rng)
    return Submission(
        id=uuid.uuid4(),
        assignment=seat.public_id,
        guideline_revision=1,
        made_at=at,
        outcome="graded",
        grade=grade,
        seconds=seconds,
    )


def test_the_rules_pause_the_spammer_and_the_page_names_each_planted_person(
    client: Client, world: World, campaign: Campaign
) -> None:
    paused = _list_pauses().get()
    assert paused.annotator.username == SPAMMER
    checks = GoldCheck.objects.filter(label__annotator=paused.annotator)
    assert checks.count() <= 20
    acted = AuditEntry.objects.filter(action="check.acted")
    assert any(entry.subject.startswith(SPAMMER) for entry in acted)

    client.force_login(world.ada)
    text = client.get(reverse("campaign-quality", args=["books", campaign.public_id])).text
    grounds = text[text.index('aria-label="Verdict"') : text.index('aria-label="What to do next"')]
    assert "Hasty-5 takes" in grounds
    assert "Generous-6 grades" in grounds
    assert "Always-2-7 gives “Partly relevant”" in grounds
    # the day is estimated: people label once a day, and the last labels before may look alike
    days = [f"Drifting-8 changed on {TURNED_AT + days * APART:%Y-%m-%d}" for days in (-1, 0, 1)]
    assert any(day in grounds for day in days)
    assert "Careful" not in grounds
