"""The label that is stored in one statement is the one that the long way would have stored."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from annotation.models import Assignment, Campaign, Label, Pair
from annotation.permissions import Desk
from annotation.services.campaigns import close_campaign
from annotation.services.labelling import submit_label
from annotation.services.leasing import release_leases
from annotation.services.usual_label import store_usual
from annotation.submissions import Submission
from tests.builders import NOW, make_access, make_world
from tests.builders_annotation import (
    LEASE,
    desk_of,
    label,
    make_campaign,
    said,
    seat_for,
)

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(minutes=2)


@pytest.fixture
def campaign() -> Campaign:
    return make_campaign(world=make_world(queries=2, documents=5))


@pytest.fixture
def pair(campaign: Campaign) -> Pair:
    return campaign.pairs.select_related("campaign")[0]


@pytest.fixture
def desk(campaign: Campaign) -> Desk:
    return desk_of(campaign, "ben")


def rows_of(pair: Pair) -> list[Any]:
    """Everything that a label writes."""
    return [
        list(Pair.objects.filter(pk=pair.pk).values()),
        list(Assignment.objects.filter(pair=pair).order_by("pk").values()),
        list(Label.objects.filter(pair=pair).order_by("pair_seq").values()),
    ]


def plant(seat: Assignment, purpose: str) -> None:
    Assignment.objects.filter(pk=seat.pk).update(purpose=purpose)


@pytest.mark.postgres  # SQLite always goes the long way
@pytest.mark.parametrize("purpose", ["pool", "extra", "gold", "repeat"])
@pytest.mark.parametrize("seqs", [(0, 0, 0), (2, 2, 2), (2, 1, 0), (2, 2, 1)])
def test_both_ways_leave_the_same_rows(
    monkeypatch: pytest.MonkeyPatch,
    desk: Desk,
    pair: Pair,
    purpose: str,
    seqs: tuple[int, int, int],
) -> None:
    seat = seat_for(pair=pair, username="ben")
    plant(seat, purpose)
    names = ("label_seq", "consolidated_seq", "committed_seq")
    Pair.objects.filter(pk=pair.pk).update(**dict(zip(names, seqs, strict=True)))
    spans = ({"field": "body", "start": 1, "end": 2},)
    submission = said(
        seat=seat, grade=2, note=" so ", spans=spans, seconds=None, content_hash="", made_at=NOW
    )
    left: list[Any] = []
    for way in (store_usual, lambda **_: False):
        monkeypatch.setattr("annotation.services.labelling.store_usual", way)
        with transaction.atomic():
            receipt = submit_label(desk=desk, submission=submission, at=LATER)
            left.append((receipt, rows_of(pair)))
            transaction.set_rollback(True)
    assert left[0] == left[1]
    assert left[0][1][2][0]["content_hash"] == pair.document.content_hash


@pytest.mark.postgres  # SQLite always goes the long way
def test_a_first_word_under_a_lease_is_usual(desk: Desk, pair: Pair) -> None:
    submission = said(seat=seat_for(pair=pair, username="ben"), grade=3)
    assert store_usual(desk=desk, submission=submission, at=NOW)
    assert Label.objects.get().pk == submission.id


@pytest.mark.postgres  # SQLite always goes the long way
def test_a_repeat_is_as_usual_as_the_first_time(desk: Desk, pair: Pair) -> None:
    """Else somebody could tell by the time that a label takes."""
    label(pair=pair, username="ben", grade=3)
    again = Assignment.objects.create(
        pair=pair,
        seat=1_000,
        occasion=1,
        purpose="repeat",
        state="leased",
        annotator=desk.viewer,
        leased_until=NOW + LEASE,
    )
    assert store_usual(desk=desk, submission=said(seat=again, grade=2), at=NOW)
    assert not store_usual(desk=desk, submission=said(seat=again, grade=2), at=NOW)
    assert list(Label.objects.order_by("pair_seq").values_list("grade", flat=True)) == [3, 2]


def retracted_and_leased_again(desk: Desk, submission: Submission, pair: Pair) -> Submission:
    submit_label(desk=desk, submission=submission, at=NOW)
    label(pair=pair, username="ben", outcome="retracted")
    return replace(submission, id=said(seat=pair.assignments.all()[0]).id)


def lost(desk: Desk, submission: Submission, pair: Pair) -> Submission:
    release_leases(desk=desk)
    return submission


def closed(desk: Desk, submission: Submission, pair: Pair) -> Submission:
    access = make_access(collection=desk.campaign.list.collection)
    close_campaign(access=access, campaign=desk.campaign, at=NOW + LEASE)
    return submission


def repeated(desk: Desk, submission: Submission, pair: Pair) -> Submission:
    submit_label(desk=desk, submission=submission, at=NOW)
    return submission


def id_of_another(desk: Desk, submission: Submission, pair: Pair) -> Submission:
    other = desk.campaign.pairs.exclude(pk=pair.pk).select_related("campaign")[0]
    return replace(submission, id=label(pair=other, username="cem", grade=1).pk)


def training(desk: Desk, submission: Submission, pair: Pair) -> Submission:
    Assignment.objects.filter(public_id=submission.assignment).update(purpose="training")
    return submission


def unknown_revision(desk: Desk, submission: Submission, pair: Pair) -> Submission:
    return replace(submission, guideline_revision=7)


def without_a_grade(desk: Desk, submission: Submission, pair: Pair) -> Submission:
    return replace(submission, outcome="unsure", grade=None)


def seat_of_another(desk: Desk, submission: Submission, pair: Pair) -> Submission:
    return replace(submission, assignment=seat_for(pair=pair, username="cem").public_id)


@pytest.mark.parametrize(
    "change",
    [
        retracted_and_leased_again,
        lost,
        closed,
        repeated,
        id_of_another,
        training,
        unknown_revision,
        without_a_grade,
        seat_of_another,
    ],
)
def test_what_is_not_usual_changes_nothing_and_takes_the_long_way(
    desk: Desk, pair: Pair, change: Callable[[Desk, Submission, Pair], Submission]
) -> None:
    submission = change(desk, said(seat=seat_for(pair=pair, username="ben"), grade=3), pair)
    before = rows_of(pair)
    assert not store_usual(desk=desk, submission=submission, at=NOW)
    assert rows_of(pair) == before


def test_sqlite_always_takes_the_long_way(desk: Desk, pair: Pair) -> None:
    submission = said(seat=seat_for(pair=pair, username="ben"), grade=3)
    is_stored = store_usual(desk=desk, submission=submission, at=NOW)
    assert is_stored == (connection.vendor == "postgresql")
