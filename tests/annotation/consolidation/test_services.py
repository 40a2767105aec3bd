"""From labels to grades: what a list is told, and what it is not told twice."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.adjudication.services import adjudicate
from annotation.campaigns.services import close_campaign, reopen_campaign
from annotation.consolidation.services import (
    Consolidated,
    approve,
    commit_conclusions,
    consolidate,
)
from annotation.due import list_due_lists
from annotation.labelling.leasing import release_expired
from annotation.labelling.services import submit_label
from annotation.models import Campaign, Label, Pair
from judgments.models import AuditEntry, Judgment, JudgmentVersion
from judgments.permissions import NotFound
from tests.builders import NOW, World, commit, make_access, make_member, make_world
from tests.builders_annotation import LEASE, context_of, label, make_campaign, said, seat_for

pytestmark = pytest.mark.django_db
STEP = timedelta(seconds=settings.LIVE_COMMIT_INTERVAL)
MINUTE = timedelta(minutes=1)


@pytest.fixture(scope="module")
def built(shared_rows: None) -> tuple[World, Campaign]:
    world = make_world(queries=2, documents=3)
    make_member(collection=world.collection, username="fay", role="annotator")
    return world, make_campaign(world=world, people=["ben", "cem", "fay"])


@pytest.fixture
def pair(campaign: Campaign) -> Pair:
    return campaign.pairs.select_related("campaign", "list", "query", "document")[0]


def run(world: World, minutes: int = 1) -> Consolidated:
    return consolidate(list_id=world.judgments.pk, at=NOW + minutes * MINUTE)


def state_of(pair: Pair) -> tuple[str, int | None]:
    pair.refresh_from_db()
    return pair.state, pair.grade


def judged(pair: Pair) -> Judgment | None:
    return Judgment.objects.filter(
        list=pair.list, query=pair.query, document=pair.document, until__isnull=True
    ).first()


def label_all(campaign: Campaign, pairs: Iterable[Pair] = ()) -> None:
    """Two grades for each of the pairs, or for all there are."""
    for pair in pairs or campaign.pairs.all():
        for name in ("ben", "cem"):
            label(pair=pair, username=name, grade=2)


def test_a_complete_pair_is_judged_with_everything_that_led_to_it(world: World, pair: Pair) -> None:
    labels = [label(pair=pair, username=name, grade=3) for name in ("ben", "cem")]
    done = run(world)
    assert done.version is not None
    assert (done.pairs, done.wait_seconds) == (1, 0)
    version = JudgmentVersion.objects.get()
    assert (version.author, version.source, version.added) == (None, "labels", 1)
    assert version.reason == "Labels of First"
    judgment = judged(pair)
    assert judgment is not None
    assert judgment.grade == 3
    assert judgment.evidence == {
        "campaign": str(pair.campaign.public_id),
        "votes": {"3": 2},
        "labels": [str(made.pk) for made in labels],
        "guideline": [1],
        "rule": "majority",
        "adjudicated": False,
    }
    assert state_of(pair) == ("complete", 3)
    assert (pair.label_seq, pair.consolidated_seq, pair.committed_seq) == (2, 2, 2)


def test_an_incomplete_pair_is_not_judged(world: World, pair: Pair) -> None:
    label(pair=pair, username="ben", grade=3)
    assert run(world).version is None
    assert state_of(pair) == ("open", None)
    assert list_due_lists() == []


def test_running_twice_changes_nothing(world: World, pair: Pair) -> None:
    for name in ("ben", "cem"):
        label(pair=pair, username=name, grade=3)
    run(world)
    before = [list(model.objects.values()) for model in (Pair, Judgment, JudgmentVersion)]
    Pair.objects.update(consolidated_seq=0, committed_seq=0)
    assert run(world, 2).version is None
    assert run(world, 3) == Consolidated()
    assert [list(model.objects.values()) for model in (Pair, Judgment, JudgmentVersion)] == before


@pytest.mark.parametrize(
    ("rule", "grades", "expected"),
    [
        ("majority", (1, 3), ("tied", None)),
        ("median", (1, 4), ("complete", 3)),
        ("mean", (0, 1), ("complete", 1)),
    ],
)
def test_the_rule_of_the_campaign_decides(
    rule: str, grades: tuple[int, int], expected: tuple[str, int | None]
) -> None:
    world = make_world(slug="films", queries=2, documents=3)
    pair = make_campaign(world=world, rule=rule).pairs.all()[0]
    for name, grade in zip(("ben", "cem"), grades, strict=True):
        label(pair=pair, username=name, grade=grade)
    run(world)
    assert state_of(pair) == expected
    judgment = judged(pair)
    assert (judgment and judgment.grade) == expected[1]


def test_a_label_without_a_grade_has_no_vote(world: World, pair: Pair) -> None:
    label(pair=pair, username="ben", outcome="unsure")
    label(pair=pair, username="cem", grade=1)
    run(world)
    assert state_of(pair) == ("open", None)
    assert judged(pair) is None


def test_a_surplus_label_has_no_vote() -> None:
    world = make_world(slug="films", queries=2, documents=3)
    pair = make_campaign(world=world, overlap=1).pairs.select_related("campaign")[0]
    lost = seat_for(pair=pair, username="ben")
    release_expired(at=NOW + LEASE + MINUTE)
    label(pair=pair, username="cem", grade=1)
    late = said(seat=lost, grade=4)
    submit_label(context=context_of(pair.campaign, "ben"), submission=late, at=NOW + LEASE + MINUTE)
    run(world)
    assert Label.objects.get(pk=late.id).assignment is None
    judgment = judged(pair)
    assert judgment is not None
    assert (judgment.grade, judgment.evidence["votes"]) == (1, {"1": 1})


def test_an_extra_label_completes_a_pair_that_somebody_could_not_grade(
    world: World, pair: Pair
) -> None:
    label(pair=pair, username="ben", outcome="unjudgeable")
    for name in ("cem", "fay"):
        label(pair=pair, username=name, grade=2)
    run(world)
    judgment = judged(pair)
    assert judgment is not None
    assert judgment.evidence["votes"] == {"2": 2}


def test_a_correction_counts_instead_of_what_it_corrects(world: World, pair: Pair) -> None:
    for name in ("ben", "cem"):
        label(pair=pair, username=name, grade=3)
    run(world)
    label(pair=pair, username="ben", grade=1)
    run(world, 2)
    assert state_of(pair) == ("tied", None)
    label(pair=pair, username="cem", grade=1)
    run(world, 3)
    judgment = judged(pair)
    assert judgment is not None
    assert (judgment.grade, judgment.evidence["votes"]) == (1, {"1": 2})


def test_a_label_that_is_taken_back_takes_its_judgment_with_it(world: World, pair: Pair) -> None:
    for name in ("ben", "cem"):
        label(pair=pair, username=name, grade=3)
    run(world)
    label(pair=pair, username="cem", outcome="retracted")
    done = run(world, 2)
    assert done.version is not None
    assert done.version.removed == 1
    assert state_of(pair) == ("open", None)
    assert judged(pair) is None


def test_a_label_that_is_taken_back_gives_back_what_was_there_before_the_campaign(
    world: World, pair: Pair
) -> None:
    commit(judgment_list=world.judgments, grades={(pair.query, pair.document): 0})
    for name in ("ben", "cem"):
        label(pair=pair, username=name, grade=3)
    run(world)
    label(pair=pair, username="ben", grade=4)
    label(pair=pair, username="cem", grade=4)
    run(world, 2)
    label(pair=pair, username="cem", outcome="retracted")
    run(world, 3)
    judgment = judged(pair)
    assert judgment is not None
    assert (judgment.grade, judgment.evidence) == (0, {})


def test_a_judgment_that_somebody_else_put_there_since_is_not_taken_away(
    world: World, pair: Pair
) -> None:
    for name in ("ben", "cem"):
        label(pair=pair, username=name, grade=3)
    run(world)
    commit(judgment_list=world.judgments, grades={(pair.query, pair.document): 2})
    label(pair=pair, username="cem", outcome="retracted")
    assert run(world, 2).version is None
    judgment = judged(pair)
    assert judgment is not None
    assert judgment.grade == 2


def test_an_import_is_not_undone_by_labels_that_were_there_before(world: World, pair: Pair) -> None:
    for name in ("ben", "cem"):
        label(pair=pair, username=name, grade=3)
    run(world)
    commit(judgment_list=world.judgments, grades={(pair.query, pair.document): 0})
    assert list_due_lists() == []
    assert run(world, 2) == Consolidated()
    judgment = judged(pair)
    assert judgment is not None
    assert judgment.grade == 0


def test_a_new_label_after_an_import_is_heard(world: World, pair: Pair) -> None:
    for name in ("ben", "cem"):
        label(pair=pair, username=name, grade=3)
    run(world)
    commit(judgment_list=world.judgments, grades={(pair.query, pair.document): 0})
    label(pair=pair, username="ben", grade=3, note="still")
    run(world, 2)
    judgment = judged(pair)
    assert judgment is not None
    assert judgment.grade == 3


def test_all_that_is_due_becomes_one_version(world: World, campaign: Campaign) -> None:
    label_all(campaign)
    assert run(world).pairs == 6
    assert JudgmentVersion.objects.get().added == 6


@pytest.fixture
def portions_of_four(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotation.consolidation.services.AT_ONCE", 4)


@pytest.mark.usefixtures("portions_of_four")
def test_what_is_much_is_concluded_in_portions_and_each_becomes_a_version(
    world: World, campaign: Campaign
) -> None:
    label_all(campaign)
    done = run(world)
    assert done.version is not None
    assert (done.pairs, done.version.number) == (6, 2)
    assert [version.added for version in JudgmentVersion.objects.order_by("number")] == [4, 2]
    assert list_due_lists() == []
    assert not campaign.pairs.exclude(committed_seq=2, consolidated_seq=2).exists()


@pytest.mark.usefixtures("portions_of_four")
def test_whoever_ends_in_the_midst_of_it_keeps_the_portions_before(
    world: World, campaign: Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    label_all(campaign)
    portions = []

    def end_in_the_second(**words: Any) -> Any:
        portions.append(words["concluded"])
        if len(portions) == 2:
            raise RuntimeError("killed")
        return commit_conclusions(**words)

    with monkeypatch.context() as patch:
        patch.setattr("annotation.consolidation.services.commit_conclusions", end_in_the_second)
        with pytest.raises(RuntimeError):
            run(world)
    assert JudgmentVersion.objects.get().added == 4
    assert (run(world, 2).pairs, JudgmentVersion.objects.count()) == (2, 2)


@pytest.mark.parametrize("commit", Campaign.Commit.values)
def test_more_pairs_take_no_more_statements(commit: str) -> None:
    world = make_world(slug="films", queries=2, documents=3)
    made = make_campaign(world=world, people=["ben", "cem"], commit=commit)
    first, *others = made.pairs.all()
    counts = []
    for minutes, pairs in enumerate(([first], others)):
        label_all(made, pairs)
        with CaptureQueriesContext(connection) as done:
            assert run(world, minutes).pairs == len(pairs)
        counts.append(len(done))
        written = [one["sql"] for one in done if one["sql"].startswith('UPDATE "annotation_pair"')]
        assert len(written) == 1, "all of them complete with one grade, and each is written once"
    assert counts[0] >= counts[1]


def test_versions_made_of_labels_keep_their_distance(world: World, campaign: Campaign) -> None:
    first, second = campaign.pairs.all()[:2]
    for name in ("ben", "cem"):
        label(pair=first, username=name, grade=2)
    consolidate(list_id=world.judgments.pk, at=NOW)
    for name in ("ben", "cem"):
        label(pair=second, username=name, grade=2)
    soon = consolidate(list_id=world.judgments.pk, at=NOW + STEP / 5)
    assert soon.version is None
    assert soon.wait_seconds == pytest.approx(0.4)
    assert consolidate(list_id=world.judgments.pk, at=NOW + STEP).version is not None


def test_a_clock_that_is_behind_waits_no_longer_than_the_interval(
    world: World, campaign: Campaign
) -> None:
    first, second = campaign.pairs.all()[:2]
    for name in ("ben", "cem"):
        label(pair=first, username=name, grade=2)
    consolidate(list_id=world.judgments.pk, at=NOW)
    label(pair=second, username="ben", grade=2)
    early = consolidate(list_id=world.judgments.pk, at=NOW - timedelta(days=1))
    assert early.wait_seconds == STEP.total_seconds()


def test_an_import_does_not_keep_labels_waiting(world: World, pair: Pair) -> None:
    commit(judgment_list=world.judgments, grades={(pair.query, pair.document): 0})
    for name in ("ben", "cem"):
        label(pair=pair, username=name, grade=2)
    assert consolidate(list_id=world.judgments.pk, at=NOW).version is not None


def test_due_lists_are_those_with_a_label_that_was_not_heard_yet(world: World, pair: Pair) -> None:
    assert list_due_lists() == []
    label(pair=pair, username="ben", grade=2)
    assert list_due_lists() == [world.judgments.pk]
    run(world)
    assert list_due_lists() == []


def test_closing_concludes_first_and_what_comes_later_waits_for_a_reopening(
    world: World, campaign: Campaign
) -> None:
    access = make_access(collection=world.collection)
    first, second = campaign.pairs.select_related("campaign")[:2]
    seats = [seat_for(pair=second, username=name) for name in ("ben", "cem")]
    for name in ("ben", "cem"):
        label(pair=first, username=name, grade=2)
    close_campaign(access=access, campaign=campaign, at=NOW + MINUTE)
    assert judged(first) is not None
    for seat, name in zip(seats, ("ben", "cem"), strict=True):
        submission = said(seat=seat, grade=1, made_at=NOW)
        submit_label(context=context_of(campaign, name), submission=submission, at=NOW + 2 * MINUTE)
    assert list_due_lists() == []
    assert run(world, 3) == Consolidated()
    reopen_campaign(access=access, campaign=campaign, at=NOW + 4 * MINUTE)
    assert list_due_lists() == [world.judgments.pk]
    run(world, 5)
    judgment = judged(second)
    assert judgment is not None
    assert judgment.grade == 1


def test_an_approval_campaign_concludes_at_once_and_commits_when_the_lead_says_so() -> None:
    world = make_world(slug="films", queries=2, documents=3)
    campaign = make_campaign(world=world, commit="approval")
    access = make_access(collection=world.collection)
    pair, other = campaign.pairs.all()[:2]
    for name in ("ben", "cem"):
        label(pair=pair, username=name, grade=3)
    assert run(world) == Consolidated(version=None, pairs=1)
    assert state_of(pair) == ("complete", 3)
    assert JudgmentVersion.objects.count() == 0
    for name in ("ben", "cem"):
        label(pair=other, username=name, grade=1)
    version = approve(access=access, campaign=campaign, at=NOW + MINUTE, reason="Looks right")
    assert version is not None
    assert (version.author, version.reason, version.source) == (world.ada, "Looks right", "labels")
    assert version.added == 2
    assert approve(access=access, campaign=campaign, at=NOW + MINUTE) is None
    actions = AuditEntry.objects.filter(action="campaign.approved")
    assert [entry.after for entry in actions] == [
        {"pairs": 2, "version": 1},
        {"pairs": 0, "version": None},
    ]


def test_approving_again_does_not_undo_what_was_imported_since() -> None:
    world = make_world(slug="films", queries=2, documents=3)
    campaign = make_campaign(world=world, commit="approval")
    access = make_access(collection=world.collection)
    pair = campaign.pairs.all()[0]
    for name in ("ben", "cem"):
        label(pair=pair, username=name, grade=3)
    approve(access=access, campaign=campaign, at=NOW)
    commit(judgment_list=world.judgments, grades={(pair.query, pair.document): 0})
    assert approve(access=access, campaign=campaign, at=NOW) is None


def test_a_closed_campaign_can_still_be_approved() -> None:
    world = make_world(slug="films", queries=2, documents=3)
    campaign = make_campaign(world=world, commit="approval")
    access = make_access(collection=world.collection)
    pair = campaign.pairs.all()[0]
    for name in ("ben", "cem"):
        label(pair=pair, username=name, grade=3)
    close_campaign(access=access, campaign=campaign, at=NOW + MINUTE)
    assert JudgmentVersion.objects.count() == 0
    assert state_of(pair) == ("complete", 3)
    assert approve(access=access, campaign=campaign, at=NOW + MINUTE) is not None


@pytest.mark.parametrize("username", ["ben", "dora"])
def test_only_leads_approve(world: World, campaign: Campaign, username: str) -> None:
    access = make_access(collection=world.collection, username=username)
    with pytest.raises(NotFound):
        approve(access=access, campaign=campaign, at=NOW)


def test_nobody_approves_in_a_collection_of_others(world: World, campaign: Campaign) -> None:
    from judgments.models import Collection

    own = Collection.objects.get(slug="books-of-eve")
    with pytest.raises(NotFound):
        approve(access=make_access(collection=own, username="eve"), campaign=campaign, at=NOW)


def test_adjudications_and_labels_become_versions_of_their_own(
    world: World, campaign: Campaign
) -> None:
    access = make_access(collection=world.collection)
    Campaign.objects.update(commit="approval")
    campaign.refresh_from_db()
    first, second = campaign.pairs.select_related("campaign", "list", "query", "document")[:2]
    for name in ("ben", "cem"):
        label(pair=first, username=name, grade=3)
    adjudicate(access=access, pair=second, grade=4, reason="It says so.", at=NOW)
    approve(access=access, campaign=campaign, at=NOW)
    versions = list(
        JudgmentVersion.objects.order_by("number").values_list(
            "source", "reason_text__text", "author", "added"
        )
    )
    assert versions == [
        ("labels", "Labels of First", world.ada.pk, 1),
        ("adjudication", "It says so.", world.ada.pk, 1),
    ]
