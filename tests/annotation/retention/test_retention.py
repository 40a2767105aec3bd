"""What a collection no longer keeps is deleted; figures and facts stay."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, transaction

from annotation.models import (
    Campaign,
    JudgeAttempt,
    JudgeCampaign,
    JudgeRevision,
    Label,
    LabelTiming,
    LabelTimingDay,
    MachineJudge,
    Pair,
    Retention,
)
from annotation.quality.material import count_given
from annotation.retention.queries import Choice, get_choice
from annotation.retention.services import (
    EVERY,
    Cleared,
    RetentionRefused,
    choose_retention,
    clear_old,
    forget_timings,
    is_clearing_due,
)
from annotation.tasks import clear_old_of_collections
from config.sweep import list_due
from judgments.models import AuditEntry, Collection
from judgments.permissions import Archived, NotFound
from tests.annotation.page_reading import client_of
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import label, make_campaign

pytestmark = pytest.mark.django_db
PAGE, API = "/c/books/retention", "/api/v1/collections/books/retention"


@pytest.fixture
def world() -> World:
    return make_world()


@pytest.fixture
def campaign(world: World) -> Campaign:
    """Two labels each by Ben and Cem, each with its seconds."""
    campaign = make_campaign(world=world, people=["ben", "cem"], overlap=2)
    for pair in Pair.objects.order_by("pk")[:2]:
        for name in ("ben", "cem"):
            label(pair=pair, username=name, grade=1)
    for place, timing in enumerate(LabelTiming.objects.order_by("pk"), start=1):
        LabelTiming.objects.filter(pk=timing.pk).update(seconds=float(place))
    return campaign


def choose(world: World, name: str = "ada", **days: int | None) -> None:
    access = make_access(collection=world.collection, username=name)
    choose_retention(access=access, choice=Choice(**days), at=NOW)


def later(days: float) -> Any:
    return max(Label.objects.values_list("received_at", flat=True)) + timedelta(days=days)


def make_attempts(world: World, campaign: Campaign) -> JudgeAttempt:
    judge = MachineJudge.objects.create(collection=world.collection, name="Model", created_at=NOW)
    revision = JudgeRevision.objects.create(
        judge=judge,
        number=1,
        guideline_revision=campaign.guideline.revisions.get(),
        configuration={},
        instructions="Judge.",
        created_at=NOW,
    )
    asked = JudgeCampaign.objects.create(
        judge=judge, revision=revision, campaign=campaign, pairs=1, last_pair=1, created_at=NOW
    )
    return JudgeAttempt.objects.create(
        campaign=asked, query=world.queries[0], document=world.documents[0], digest="d",
        content_hash="h", outcome="labelled", grade=2, is_last=True, seconds=1.0,
        prompt_tokens=10, cost=5, answer=b"what it said", detail="because", ended_at=NOW,
    )  # fmt: skip


def test_nothing_is_deleted_where_no_one_chose(world: World, campaign: Campaign) -> None:
    assert get_choice(access=make_access(collection=world.collection)) == Choice()
    assert not is_clearing_due(later(9000))
    assert clear_old(at=later(9000)) is None
    assert LabelTiming.objects.count() == 4


def test_old_times_become_a_sum_of_their_day_and_the_cost_stays(
    world: World, campaign: Campaign
) -> None:
    before = count_given(campaign)
    assert (before["measured"], before["seconds"]) == (4, 10.0)
    choose(world, timing_days=30)
    assert clear_old(at=later(29)) == Cleared(timings=0, answers=0)
    assert clear_old(at=later(29.5)) is None  # once a day
    assert clear_old(at=later(31)) == Cleared(timings=4, answers=0)
    assert not LabelTiming.objects.exists()
    assert sum(day.labels for day in LabelTimingDay.objects.all()) == 4
    assert count_given(campaign) == before
    assert Label.objects.count() == 4


def test_sums_of_a_day_grow_as_people_are_erased_one_after_the_other(campaign: Campaign) -> None:
    before = count_given(campaign)
    for name in ("ben", "cem"):
        own_qs = LabelTiming.objects.filter(label__annotator__username=name)
        assert forget_timings(own_qs) == 2
        assert count_given(campaign) == before


def test_another_collection_keeps_its_own(world: World, campaign: Campaign) -> None:
    other = Collection.objects.create(slug="other", name="Other", created_at=NOW)
    Retention.objects.create(collection=other, timing_days=1, answer_days=1)
    make_attempts(world, campaign)
    assert clear_old(at=later(400)) == Cleared(timings=0, answers=0)


def test_old_answers_are_emptied_and_what_came_of_them_stays(
    world: World, campaign: Campaign
) -> None:
    attempt = make_attempts(world, campaign)
    choose(world, answer_days=7)
    assert clear_old(at=NOW + timedelta(days=6)) == Cleared(timings=0, answers=0)
    assert clear_old(at=NOW + timedelta(days=8)) == Cleared(timings=0, answers=1)
    attempt.refresh_from_db()
    assert (bytes(attempt.answer), attempt.detail) == (b"", "")
    assert (attempt.grade, attempt.prompt_tokens, attempt.cost) == (2, 10, 5)
    assert clear_old(at=NOW + timedelta(days=8) + EVERY) == Cleared(timings=0, answers=0)


@pytest.mark.parametrize(
    "change", [{"answer": b"other"}, {"detail": "other"}, {"grade": 3}, {"answer": b"", "cost": 0}]
)
def test_the_database_lets_an_answer_be_emptied_and_nothing_else(
    world: World, campaign: Campaign, change: dict[str, Any]
) -> None:
    attempt = make_attempts(world, campaign)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        JudgeAttempt.objects.filter(pk=attempt.pk).update(**change)


def test_a_choice_is_audited_once_and_refused_to_others(world: World) -> None:
    choose(world, timing_days=30)
    choose(world, timing_days=30)
    entry = AuditEntry.objects.get(action="retention.changed")
    assert entry.after == {"timing_days": 30, "answer_days": None}
    for name in ("ben", "dora"):
        with pytest.raises(NotFound):
            choose(world, name, timing_days=5)
    for days in (0, -1, 3651):
        with pytest.raises(RetentionRefused):
            choose(world, answer_days=days)
    Collection.objects.update(archived_at=NOW)
    with pytest.raises(Archived):
        choose(world, timing_days=5)


def test_the_sweep_finds_it_and_the_task_does_it(world: World, campaign: Campaign) -> None:
    choose(world, timing_days=1)
    assert ("annotation.clear_old", ()) in set(list_due())
    clear_old_of_collections()
    assert ("annotation.clear_old", ()) not in set(list_due())


def test_the_page_and_rest_choose_and_show_the_same(world: World) -> None:
    ada = client_of("ada")
    assert ada.post(PAGE, {"timing_days": "30", "answer_days": ""}).status_code == 302
    assert 'value="30"' in ada.get(PAGE).content.decode()
    assert ada.get(API).json() == {"timing_days": 30, "answer_days": None}
    answer = ada.put(API, {"answer_days": 7}, content_type="application/json")
    assert answer.json() == {"timing_days": None, "answer_days": 7}
    for days in (0, 3651, "x"):
        assert ada.post(PAGE, {"timing_days": days}).status_code == 200
        refused = ada.put(API, {"timing_days": days}, content_type="application/json")
        assert refused.status_code == 400
    assert Retention.objects.get().answer_days == 7
