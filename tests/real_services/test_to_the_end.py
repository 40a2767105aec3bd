"""Many people at the same pairs, until none is left: no one too many, no one twice."""

import pytest

from tests.builders import make_member, make_world
from tests.builders_annotation import make_campaign
from tests.real_services.to_the_end import label_to_the_end

PEOPLE = tuple(f"annotator{number}" for number in range(8))


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_every_pair_gets_exactly_its_labels_and_nobody_is_at_one_twice() -> None:
    world = make_world(queries=4, documents=8)
    for name in PEOPLE:
        make_member(collection=world.collection, username=name, role="annotator")
    campaign = make_campaign(world=world, people=PEOPLE, overlap=3)
    assert label_to_the_end(campaign_id=campaign.pk, usernames=PEOPLE, patience=120) == []
