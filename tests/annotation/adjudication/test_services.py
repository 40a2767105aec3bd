"""A lead's decision wins over labels, at once and for good."""

from datetime import timedelta

import pytest
from django.db.models import F

from annotation.adjudication.services import AdjudicationRefused, adjudicate, check_may_adjudicate
from annotation.campaigns.services import close_campaign
from annotation.consolidation.services import consolidate
from annotation.models import Adjudication, Campaign, Pair
from judgments.models import AuditEntry, Collection, Judgment, JudgmentVersion
from judgments.permissions import NotFound
from judgments.versions.services import Change, commit_judgments
from tests.builders import NOW, World, make_access, make_world
from tests.builders_annotation import label, make_campaign, make_draft

pytestmark = pytest.mark.django_db


@pytest.fixture
def world() -> World:
    return make_world(queries=1, documents=3)


@pytest.fixture
def campaign(world: World) -> Campaign:
    return make_campaign(world=world)


@pytest.fixture
def pair(campaign: Campaign) -> Pair:
    return first_of(campaign)


def pairs_of(campaign: Campaign) -> list[Pair]:
    return list(
        campaign.pairs.select_related(
            "campaign__list", "campaign__guideline", "list", "query", "document"
        )
    )


def first_of(campaign: Campaign) -> Pair:
    return pairs_of(campaign)[0]


def current() -> list[tuple[int, dict[str, object]]]:
    rows = Judgment.objects.filter(until__isnull=True).order_by("pk")
    return list(rows.values_list("grade", "evidence"))


def test_a_tie_is_decided_in_the_leads_name(world: World, pair: Pair) -> None:
    labels = [
        label(pair=pair, username=name, grade=grade) for name, grade in (("ben", 1), ("cem", 3))
    ]
    consolidate(list_id=world.judgments.pk, at=NOW)
    access = make_access(collection=world.collection)
    made = adjudicate(access=access, pair=pair, grade=2, reason=" Half of it. ", at=NOW)
    assert (made.grade, made.reason, made.decided_by, made.pair_seq) == (
        2, "Half of it.", world.ada, 3,
    )  # fmt: skip
    assert made.guideline_revision.number == 1
    pair.refresh_from_db()
    assert (pair.state, pair.grade, pair.consolidated_seq) == ("adjudicated", 2, 3)
    version = JudgmentVersion.objects.get()
    assert (version.source, version.author, version.reason) == (
        "adjudication", world.ada, "Half of it.",
    )  # fmt: skip
    assert current() == [
        (
            2,
            {
                "campaign": str(pair.campaign.public_id),
                "votes": {"1": 1, "3": 1},
                "labels": [str(one.pk) for one in labels],
                "guideline": [1],
                "rule": "majority",
                "adjudicated": True,
            },
        )
    ]


def test_a_decision_has_a_reason(world: World, pair: Pair) -> None:
    access = make_access(collection=world.collection)
    with pytest.raises(AdjudicationRefused, match="Give a reason"):
        adjudicate(access=access, pair=pair, grade=2, reason=" \0 ", at=NOW)


def test_labels_that_come_later_change_the_evidence_and_not_the_grade(
    world: World, pair: Pair
) -> None:
    access = make_access(collection=world.collection)
    adjudicate(access=access, pair=pair, grade=2, reason="because", at=NOW)
    for name in ("ben", "cem"):
        label(pair=pair, username=name, grade=4)
    consolidate(list_id=world.judgments.pk, at=NOW)
    ((grade, evidence),) = current()
    assert (grade, evidence["votes"], evidence["adjudicated"]) == (2, {"4": 2}, True)
    assert list(JudgmentVersion.objects.values_list("source", "author")) == [
        ("adjudication", world.ada.pk),
        ("labels", None),
    ]


def test_a_decision_that_confirms_a_grade_makes_no_version_and_comes_with_the_next(
    world: World, campaign: Campaign
) -> None:
    access = make_access(collection=world.collection)
    first, second, third = pairs_of(campaign)
    for one in (first, second):
        for name in ("ben", "cem"):
            label(pair=one, username=name, grade=3)
    consolidate(list_id=world.judgments.pk, at=NOW)
    adjudicate(access=access, pair=first, grade=3, reason="Clearly.", at=NOW)
    adjudicate(access=access, pair=second, grade=3, reason="It is.", at=NOW)
    consolidate(list_id=world.judgments.pk, at=NOW)
    assert JudgmentVersion.objects.count() == 1
    first.refresh_from_db()
    assert (first.state, first.grade) == ("adjudicated", 3)
    assert [evidence["adjudicated"] for _, evidence in current()] == [False, False]

    adjudicate(access=access, pair=third, grade=1, reason="Hardly.", at=NOW)
    version = JudgmentVersion.objects.get(number=2)
    assert (version.added, version.changed, version.reason) == (1, 0, "Hardly.")
    assert sorted((grade, evidence["adjudicated"]) for grade, evidence in current()) == [
        (1, True),
        (3, True),
        (3, True),
    ]
    assert not campaign.pairs.exclude(committed_seq=F("consolidated_seq")).exists()


def test_a_confirmation_does_not_undo_what_was_imported_since(
    world: World, campaign: Campaign
) -> None:
    access = make_access(collection=world.collection)
    first, second, _ = pairs_of(campaign)
    for name in ("ben", "cem"):
        label(pair=first, username=name, grade=3)
    consolidate(list_id=world.judgments.pk, at=NOW)
    adjudicate(access=access, pair=first, grade=3, reason="Clearly.", at=NOW)
    commit_judgments(
        judgment_list=world.judgments,
        changes=[Change(first.query_id, first.document_id, 1, {"file": "new.qrels"})],
        by=world.ada,
        at=NOW,
        reason="",
        source=JudgmentVersion.Source.IMPORT,
    )
    adjudicate(access=access, pair=second, grade=2, reason="Half.", at=NOW)
    assert sorted(grade for grade, _ in current()) == [1, 2]


def test_a_decision_that_gives_an_imported_grade_makes_it_that_of_people(
    world: World, pair: Pair
) -> None:
    access = make_access(collection=world.collection)
    commit_judgments(
        judgment_list=world.judgments,
        changes=[Change(pair.query_id, pair.document_id, 2, {"file": "old.qrels"})],
        by=world.ada,
        at=NOW,
        reason="",
        source=JudgmentVersion.Source.IMPORT,
    )
    adjudicate(access=access, pair=pair, grade=2, reason="Half.", at=NOW)
    ((grade, evidence),) = current()
    assert (grade, evidence["adjudicated"]) == (2, True)
    assert JudgmentVersion.objects.count() == 2


def test_the_newest_decision_holds(world: World, pair: Pair) -> None:
    access = make_access(collection=world.collection)
    for grade in (2, 4, 0):
        adjudicate(access=access, pair=pair, grade=grade, reason="because", at=NOW)
    assert [grade for grade, _ in current()] == [0]
    assert Adjudication.objects.count() == 3


def test_a_decision_is_audited_with_what_was_there_before(world: World, pair: Pair) -> None:
    access = make_access(collection=world.collection)
    adjudicate(access=access, pair=pair, grade=2, reason="Clear.", at=NOW)
    entry = AuditEntry.objects.get(action="pair.adjudicated")
    assert (entry.actor, entry.subject) == (world.ada, "q1 d1")
    assert entry.before == {"grade": None, "state": "open"}
    assert entry.after == {"grade": 2, "reason": "Clear."}


def test_a_closed_campaigns_ties_can_still_be_decided(
    world: World, campaign: Campaign, pair: Pair
) -> None:
    access = make_access(collection=world.collection)
    close_campaign(access=access, campaign=campaign, at=NOW + timedelta(minutes=1))
    adjudicate(access=access, pair=first_of(campaign), grade=2, reason="because", at=NOW)
    assert [grade for grade, _ in current()] == [2]


def test_a_pair_that_is_open_in_a_later_campaign_is_decided_there(
    world: World, campaign: Campaign
) -> None:
    access = make_access(collection=world.collection)
    close_campaign(access=access, campaign=campaign, at=NOW)
    later = make_campaign(world=world, name="Second")
    with pytest.raises(AdjudicationRefused, match=r"Second\. Adjudicate it there"):
        adjudicate(access=access, pair=first_of(campaign), grade=2, reason="because", at=NOW)
    check_may_adjudicate(access, first_of(later))


def test_a_draft_has_nothing_to_decide(world: World) -> None:
    access = make_access(collection=world.collection)
    pair = first_of(make_draft(world=world))
    with pytest.raises(AdjudicationRefused, match="not been opened"):
        adjudicate(access=access, pair=pair, grade=2, reason="because", at=NOW)


@pytest.mark.parametrize("grade", [-1, 5])
def test_a_grade_outside_the_scale_is_refused(world: World, pair: Pair, grade: int) -> None:
    access = make_access(collection=world.collection)
    with pytest.raises(AdjudicationRefused, match="no grade"):
        adjudicate(access=access, pair=pair, grade=grade, reason="because", at=NOW)
    assert Adjudication.objects.count() == 0


@pytest.mark.parametrize("username", ["ben", "dora"])
def test_only_leads_decide(world: World, pair: Pair, username: str) -> None:
    access = make_access(collection=world.collection, username=username)
    with pytest.raises(NotFound):
        adjudicate(access=access, pair=pair, grade=2, reason="because", at=NOW)


def test_nobody_decides_in_a_collection_of_others(pair: Pair) -> None:
    own = Collection.objects.get(slug="books-of-eve")
    access = make_access(collection=own, username="eve")
    with pytest.raises(NotFound):
        adjudicate(access=access, pair=pair, grade=2, reason="because", at=NOW)
