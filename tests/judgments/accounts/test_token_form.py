"""The form for a token offers what the page that led to it needs."""

import pytest
from django.urls import reverse

from tests.builders import make_world
from tests.evaluation.browsing import links_of, signed_in
from tests.evaluation.builders import make_ranker

pytestmark = pytest.mark.django_db


def test_the_upload_leads_to_a_token_that_may_write():
    world = make_world()
    make_ranker(collection=world.collection)
    dora = signed_in(world.dora)
    link = f"{reverse('tokens')}?scope=write"
    assert link in links_of(dora.get(reverse("run-upload", args=["books"])))
    assert dora.get(link).context["form"]["scope"].value() == "write"


@pytest.mark.parametrize("query", ["", "?scope=all", "?scope="])
def test_else_a_token_may_read(query):
    page = signed_in(make_world().dora).get(reverse("tokens") + query)
    assert page.context["form"]["scope"].value() == "read"
