"""Eight people labelling at once collect exactly what is needed, on both databases."""

import random
import threading
import uuid

import pytest
from django.db import connection
from django.db.models import Count, Q
from django.utils import timezone

from annotation.consolidation.rules import RULES
from annotation.consolidation.services import consolidate
from annotation.due import list_due_lists
from annotation.labelling.leasing import lease_next, release_leases
from annotation.labelling.services import submit_label
from annotation.labelling.shown_pairs import list_leased_pairs
from annotation.labelling.submissions import Submission
from annotation.models import Assignment, Campaign, Label
from judgments.models import Judgment
from tests.builders import World, make_member, make_world
from tests.builders_annotation import context_of, make_campaign

PEOPLE = tuple(f"person{number}" for number in range(8))
OVERLAP = 2


@pytest.fixture
def world(transactional_db: None) -> World:
    world = make_world(queries=4, documents=6)
    for username in PEOPLE:
        make_member(collection=world.collection, username=username, role="annotator")
    return world


def work_through(campaign: Campaign, username: str, seed: int) -> set[uuid.UUID]:
    """Label until nothing is left; what was acknowledged. Sometimes give the rest back."""
    dice = random.Random(seed)
    context = context_of(campaign, username)
    acknowledged: set[uuid.UUID] = set()
    for _ in range(100):
        if not lease_next(context=context, count=5, at=timezone.now()):
            break
        for shown in list_leased_pairs(context)[: dice.randint(1, 5)]:
            submission = Submission(
                id=uuid.UUID(int=dice.getrandbits(128), version=4),
                assignment=shown.assignment,
                guideline_revision=1,
                made_at=timezone.now(),
                grade=dice.randint(0, 4),
            )
            submit_label(context=context, submission=submission, at=timezone.now())
            acknowledged.add(submission.id)
        if dice.random() < 0.3:
            release_leases(context=context)
    return acknowledged


def test_eight_people_at_once_fill_every_seat_once(world: World) -> None:
    campaign = make_campaign(world=world, people=PEOPLE, overlap=OVERLAP, rule="median")
    acknowledged: dict[str, set[uuid.UUID]] = {}
    problems: list[BaseException] = []

    def work(username: str, seed: int) -> None:
        try:
            acknowledged[username] = work_through(campaign, username, seed)
        except BaseException as error:  # noqa: BLE001  (told to the test below)
            problems.append(error)
        finally:
            connection.close()

    threads = [
        threading.Thread(target=work, args=(username, seed)) for seed, username in enumerate(PEOPLE)
    ]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        consolidate(list_id=campaign.list_id, at=timezone.now())
        threads[0].join(0.05)
    for thread in threads:
        thread.join(60)
    assert problems == []
    for _ in range(20):
        if not list_due_lists():
            break
        done = consolidate(list_id=campaign.list_id, at=timezone.now())
        threading.Event().wait(done.wait_seconds)
    assert list_due_lists() == []
    check(campaign, set().union(*acknowledged.values()))


def check(campaign: Campaign, acknowledged: set[uuid.UUID]) -> None:
    labels = Label.objects.filter(pair__campaign=campaign)
    assert set(labels.values_list("pk", flat=True)) == acknowledged
    pairs = campaign.pairs.annotate(
        done=Count("assignments", filter=Q(assignments__state="done"), distinct=True),
        people=Count("labels__annotator", distinct=True),
        said=Count("labels", distinct=True),
    )
    assert {(pair.done, pair.people, pair.said) for pair in pairs} == {(OVERLAP,) * 3}
    assert not Assignment.objects.filter(state__in=("free", "leased")).exists()
    current = Judgment.objects.filter(list=campaign.list_id, until__isnull=True)
    grades = {(row.query_id, row.document_id): row.grade for row in current}
    for pair in pairs:
        said = [grade for grade in pair.labels.values_list("grade", flat=True) if grade is not None]
        concluded = RULES["median"](said, range(5))
        assert (pair.state, pair.grade) == ("complete", concluded)
        assert grades[pair.query_id, pair.document_id] == concluded
    assert len(grades) == len(pairs) == 24
