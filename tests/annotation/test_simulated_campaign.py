"""Planted people label through the application, and the report's page names each of them."""

import uuid
from datetime import timedelta

import numpy as np
import pytest
from django.urls import reverse

from annotation.services.consolidating import consolidate
from annotation.services.labelling import submit_labels
from annotation.services.leasing import lease_next
from annotation.services.quality import refresh_quality
from annotation.submissions import Submission
from tests.annotation.simulated_campaign import GRADES, PLANTED, PREVALENCE, label_like
from tests.builders import NOW, make_member, make_world
from tests.builders_annotation import desk_of, held, make_campaign

pytestmark = pytest.mark.django_db

KINDS = ("careful",) * 6 + PLANTED
NAMES = [f"{kind.replace(' ', '-')}-{place}" for place, kind in enumerate(KINDS)]
PAIRS, OVERLAP, AT_ONCE = 400, 3, 40
LENGTH = timedelta(days=10)


@pytest.fixture
def world():
    return make_world(queries=20, documents=20)


@pytest.fixture
def campaign(world):
    """A campaign in which everybody leases, labels in batches, and comes back until all is done."""
    for name in NAMES:
        make_member(collection=world.collection, username=name, role="annotator")
    made = make_campaign(world=world, overlap=OVERLAP, people=NAMES, order="shuffled")
    rng = np.random.default_rng(1)
    truth = dict(
        zip(
            made.pairs.order_by("pk").values_list("pk", flat=True),
            rng.choice(GRADES, PAIRS, p=PREVALENCE).tolist(),
            strict=True,
        )
    )
    done = 0
    while sum(_sit_down(made, place, truth, done, rng) for place in range(len(KINDS))):
        done += 1
    consolidate(list_id=made.list_id, at=NOW + LENGTH)
    return made


def _sit_down(campaign, place, truth, done, rng):
    """One person's next labels; how many there were."""
    desk = desk_of(campaign, NAMES[place])
    at = NOW + done * LENGTH / 4
    lease_next(desk=desk, count=AT_ONCE, at=at)
    submissions = []
    for number, seat in enumerate(held(campaign=campaign, username=NAMES[place])):
        grade, seconds = label_like(
            KINDS[place], truth=truth[seat.pair_id], has_turned=done >= 2, rng=rng
        )
        submissions.append(
            Submission(
                id=uuid.uuid4(),
                assignment=seat.public_id,
                guideline_revision=1,
                made_at=at + timedelta(seconds=30 * number),
                outcome="graded",
                grade=grade,
                seconds=seconds,
            )
        )
    receipts = submit_labels(desk=desk, submissions=submissions, at=at + timedelta(hours=1))
    assert all(receipt.is_stored for receipt in receipts)
    return len(submissions)


def test_the_page_names_each_planted_person_and_nobody_careful(client, world, campaign):
    refresh_quality(campaign_id=campaign.pk, clock=lambda: NOW + LENGTH)
    client.force_login(world.ada)
    text = client.get(reverse("campaign-quality", args=["books", campaign.public_id])).text
    grounds = text[text.index('aria-label="Verdict"') : text.index('aria-label="What to do next"')]
    assert "Hasty-6 takes" in grounds
    assert "Generous-7 grades" in grounds
    assert "Always-2-8 says “Partly relevant”" in grounds
    assert "Drifting-9 has changed on" in grounds
    assert "Careful" not in grounds
