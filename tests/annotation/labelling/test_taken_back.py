"""A pair whose label was taken back: who may label it then."""

from datetime import timedelta

import pytest

from annotation.labelling.leasing import lease_next, release_leases
from annotation.labelling.services import submit_label
from annotation.labelling.submissions import RETRACTED
from annotation.models import Assignment
from tests.builders import NOW, make_member, make_world
from tests.builders_annotation import context_of, held, label, make_campaign, said

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("grade", [3, None])
def test_a_pair_whose_label_was_taken_back_comes_again_although_others_have_filled_it(
    grade: int | None,
) -> None:
    """As gold does: else taking back a label without a grade would tell plain pairs from gold."""
    world = make_world(queries=1, documents=1)
    make_member(collection=world.collection, username="dan", role="annotator")
    campaign = make_campaign(world=world, people=["ben", "cem", "dan"])
    pair = campaign.pairs.get()
    label(pair=pair, username="ben", grade=grade)
    filled = 1 if grade is not None else 2  # a label without a grade opens another seat
    for name in ("cem", "dan")[:filled]:
        label(pair=pair, username=name, grade=2)
    ben, later = context_of(campaign, "ben"), NOW + timedelta(hours=1)
    (seat,) = pair.assignments.filter(annotator__username="ben")
    submit_label(context=ben, submission=said(seat=seat, outcome=RETRACTED, at=later), at=later)
    assert [one.pk for one in held(campaign=campaign, username="ben")] == [seat.pk]
    release_leases(context=ben)
    assert lease_next(context=ben, count=1, at=later) == 1
    (again,) = held(campaign=campaign, username="ben")
    assert again.pair_id == pair.pk
    submit_label(context=ben, submission=said(seat=again, grade=1, at=later), at=later)
    assert not pair.assignments.filter(state=Assignment.State.FREE).exists()
