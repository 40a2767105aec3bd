"""The demo's shop: products with pictures that are drawn, and a campaign that no one has begun."""

import pytest

from annotation.labelling.leasing import lease_next
from annotation.labelling.shown_pairs import list_leased_pairs
from annotation.permissions import get_annotator_context
from config.demo.shop.building import DEPTH, SLUG, build_shop, list_products, list_queries
from evaluation.models import Run
from judgments.jobs.services import work_jobs
from judgments.models import Collection, Picture
from tests.builders import NOW, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.first_pass]


def test_the_annotator_sees_products_with_their_pictures() -> None:
    ada, dora, ben = (make_user(username=name) for name in ("ada", "dora", "ben"))
    campaign = build_shop(lead=ada, researcher=dora, annotator=ben, at=NOW)
    queries = list_queries()
    assert Run.objects.count() == 2
    assert len(queries) * 3 < campaign.pairs.count() <= len(queries) * 2 * DEPTH
    collection = Collection.objects.get(slug=SLUG)
    assert "not exist" in collection.description
    work_jobs()
    drawn = {one.fields["picture"] for one in list_products()}
    assert Picture.objects.filter(state=Picture.State.STORED).count() == len(drawn)
    context = get_annotator_context(viewer=ben, campaign_id=campaign.public_id)
    lease_next(context=context, count=5, at=NOW)
    shown = list_leased_pairs(context)
    assert len(shown) == 5
    assert all(len(pair.pictures) == 1 for pair in shown)
